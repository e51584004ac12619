"""Tables 4, 5 and 10 of FLAT: other attacks, what the regularisers do, and groups of words that share a mask."""

from __future__ import annotations

from heedful.output.numbers import NOTHING
from heedful.output.tables import Table
from heedful.papers.flat.methods import (
    ABLATED,
    ABLATED_ON,
    ABLATIONS,
    ENCODERS,
    GROUPED_ON,
    GROUPS,
    METHODS,
    OTHER_ATTACKS,
    TRANSFERRED_ON,
    WHOLE,
    grouped,
    model_name,
    transferred,
)
from heedful.papers.flat.paper_tables import ROBUSTNESS, accuracy_cell, as_printed, mean_cell
from heedful.papers.recipe import published
from heedful.papers.results import Results


def table_4(results: Results) -> list[Table]:
    """After-attack accuracy under attacks that a model was not trained against."""
    rows = []
    for dataset in results.datasets:
        for encoder, shape in ENCODERS.items():
            for method in METHODS:
                names = [transferred(encoder, method, other) for other in OTHER_ATTACKS]
                runs = [run for name in names for run in results.of(dataset, name, ROBUSTNESS)]
                if not runs:
                    continue
                ours = [
                    mean_cell(results, dataset, name, ROBUSTNESS, "after_attack", percent=True)
                    for name in names
                ]
                row = published("flat")["table_4"][f"{shape.printed}-{method}"]
                paper = [as_printed(x) if dataset in TRANSFERRED_ON else NOTHING for x in row]
                cells = [cell for pair in zip(ours, paper, strict=True) for cell in pair]
                seeds, texts = len({run.seed for run in runs}), max(run.texts for run in runs)
                rows.append([dataset, f"{encoder}-{method}", str(seeds), f"{texts:,}", *cells])
    headings = [heading for attack in OTHER_ATTACKS for heading in (attack, "paper")]
    title = "After-attack accuracy in percent; adv and FLAT are trained against TextFooler"
    return [Table(["dataset", "model", "seeds", "texts", *headings], rows, title)] if rows else []


def table_5(results: Results) -> list[Table]:
    """Accuracy and after-attack accuracy without β, without γ, without both."""
    rows = []
    for dataset in results.datasets:
        for weights, name in zip((WHOLE, *ABLATIONS), ABLATED, strict=True):
            if not (runs := results.of(dataset, name, ROBUSTNESS)):
                continue
            ours = mean_cell(results, dataset, name, ROBUSTNESS, "after_attack", percent=True)
            row = published("flat")["table_5"][weights] if dataset in ABLATED_ON else (None, None)
            clean, after = map(as_printed, row)
            rows.append([dataset, weights, str(len(runs)), accuracy_cell(runs, "test"), clean, ours, after])
    headings = ["dataset", "weights", "seeds", "SA", "paper", "AA", "paper"]
    return [Table(headings, rows, "LSTM-FLAT (TextFooler), in percent")] if rows else []


def table_10(results: Results) -> list[Table]:
    """Accuracy and after-attack accuracy with one mask for each group of words."""
    rows = []
    for dataset in results.datasets:
        base = model_name("CNN", "base", "textfooler")
        for groups, name in ((None, base), *((number, grouped(number)) for number in GROUPS)):
            if not (runs := results.of(dataset, name, ROBUSTNESS)):
                continue
            ours = mean_cell(results, dataset, name, ROBUSTNESS, "after_attack", percent=True)
            row = published("flat")["table_10"].get(groups, (None, None))
            clean, after = map(as_printed, row if dataset in GROUPED_ON else (None, None))
            shown = "no masks" if groups is None else str(groups)
            rows.append([dataset, shown, str(len(runs)), accuracy_cell(runs, "test"), clean, ours, after])
    if not any(row[1] != "no masks" for row in rows):
        return []
    headings = ["dataset", "groups", "seeds", "SA", "paper", "AA", "paper"]
    return [Table(headings, rows, "CNN under TextFooler, in percent")]
