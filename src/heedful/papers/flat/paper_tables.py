"""Tables 1 to 3, 7 and 8 of FLAT and Figure 6: ours next to the published numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from heedful.audits.questions.consistency import TOP
from heedful.measures.consistency import KS
from heedful.measures.intervals import bootstrap_interval
from heedful.output.numbers import NOTHING, fixed, give_or_take, with_interval
from heedful.output.tables import Table
from heedful.papers.flat.examples import vocabulary_of
from heedful.papers.flat.methods import ATTACKS, ENCODERS, METHODS, by_lime, model_name, printed
from heedful.papers.recipe import published
from heedful.papers.results import MeasuredRun, Results

ROBUSTNESS, CONSISTENCY, SHARPNESS = "robustness", "consistency", "sharpness"
_HEAD = ["dataset", "model", "seeds"]


def mean_cell(
    results: Results, dataset: str, model: str, audit: str, column: str, *, percent: bool = False
) -> str:
    """A mean over texts, averaged over seeds, with its interval over texts; a dash where it was not measured."""
    runs = results.of(dataset, model, audit)
    if not runs or any(column not in run.frames[audit].columns for run in runs):
        return NOTHING
    values = results.by_text(audit, pl.col(column), dataset=dataset, model=model)["value"].to_numpy()
    found = bootstrap_interval(values * (100 if percent else 1))
    if not found.count:
        return NOTHING
    return with_interval(*found[:3], lambda x: fixed(x, 1 if percent else 2))


def as_printed(number: float | None, digits: int = 2) -> str:
    """A number of the paper."""
    return fixed(number, digits)


def accuracy_cell(runs: Sequence[MeasuredRun], split: str) -> str:
    """Accuracy on a whole split in percent; of several seeds with their standard deviation."""
    values = np.array([100 * run.metrics[split]["accuracy"] for run in runs])
    if len(values) == 1:
        return fixed(float(values[0]), 2)
    return give_or_take(float(values.mean()), float(values.std(ddof=1)), 2)


def measured(
    results: Results, audit: str, attack: str, suffix: str = ""
) -> Iterator[tuple[str, str, str, str, list[MeasuredRun]]]:
    """Every dataset, encoder and method that was asked an audit under an attack, in the order of the paper."""
    for dataset in results.datasets:
        for encoder in ENCODERS:
            for method in METHODS:
                name = model_name(encoder, method, attack) + suffix
                if runs := results.of(dataset, name, audit):
                    yield dataset, encoder, method, name, runs


def table_1(results: Results) -> list[Table]:
    """Sizes of the corpora."""
    rows = []
    for dataset, run in _first_runs(results):
        theirs = published("flat")["corpora"].get(dataset, {})
        sizes, items = run.metrics["sizes"], _items(run)
        ours = [str(len(run.labels)), items, *(f"{sizes[split]:,}" for split in ("train", "dev", "test"))]
        paper = [
            f"{theirs[name]:,}" if name in theirs else NOTHING
            for name in ("classes", "length", "train", "dev", "test")
        ]
        rows.append([dataset, *_pairs(ours, paper)])
    names = ("classes", "length", "train", "dev", "test")
    return [Table(["dataset", *_with_paper(names)], rows, "Length is that of the audited texts, in tokens")]


def table_2(results: Results) -> list[Table]:
    """Accuracy on the test set."""
    return [_accuracy(results, "test", "table_2")]


def table_7(results: Results) -> list[Table]:
    """Accuracy on the development set."""
    return [_accuracy(results, "dev", "table_7")]


def _accuracy(results: Results, split: str, table: str) -> Table:
    rows, bases = [], set()
    for attack in ATTACKS:
        for dataset, encoder, method, name, runs in measured(results, SHARPNESS, attack):
            shown = f"{encoder}-base" if method == "base" else name
            if (dataset, shown) in bases:
                continue
            bases.add((dataset, shown))
            theirs = printed(table, dataset, encoder, method, attack)[0]
            rows.append([dataset, shown, str(len(runs)), accuracy_cell(runs, split), as_printed(theirs)])
    order = {dataset: place for place, dataset in enumerate(results.datasets)}
    rows.sort(key=lambda row: (order[row[0]], row[1].split("-")[0] != "LSTM", row[1].split("-")[0]))
    return Table([*_HEAD, "ours", "paper"], rows, "Accuracy in percent")


def table_3(results: Results) -> list[Table]:
    """After-attack accuracy, Kendall's τ and top-5 intersection of integrated gradients."""
    tables = []
    for attack, spoken in ATTACKS.items():
        rows = []
        for dataset, encoder, method, name, runs in measured(results, ROBUSTNESS, attack):
            theirs = printed("table_3", dataset, encoder, method, attack)
            ours = [
                mean_cell(results, dataset, name, ROBUSTNESS, "after_attack", percent=True),
                *_alike(results, dataset, name),
            ]
            beside = [
                *_alike(results, dataset, name, "_successful"),
                mean_cell(results, dataset, name, ROBUSTNESS, "certified", percent=True),
                mean_cell(results, dataset, name, ROBUSTNESS, "words_changed", percent=True),
                mean_cell(results, dataset, name, ROBUSTNESS, "only_unknown", percent=True),
            ]
            paper = [as_printed(number) for number in theirs]
            rows.append([dataset, f"{encoder}-{method}", str(len(runs)), *_pairs(ours, paper), *beside])
        headings = [
            *_HEAD,
            *_with_paper(["AA", "KT", "TI"]),
            "KT, successful",
            "TI, successful",
            "certified",
            "words changed",
            "only by unknown words",
        ]
        if rows:
            tables.append(Table(headings, rows, spoken))
    return tables


def table_8(results: Results) -> list[Table]:
    """Kendall's τ and top-5 intersection of LIME."""
    rows = []
    for attack, spoken in ATTACKS.items():
        for dataset, encoder, method, name, runs in measured(results, CONSISTENCY, attack, by_lime("")):
            paper = map(as_printed, printed("table_8", dataset, encoder, method, attack))
            ours = _pairs(_alike(results, dataset, name), list(paper))
            texts = f"{runs[0].texts:,}"
            rows.append([spoken, dataset, f"{encoder}-{method}", str(len(runs)), texts, *ours])
    return [Table(["attack", *_HEAD, "texts", *_with_paper(["KT", "TI"])], rows)] if rows else []


def figure_6(results: Results) -> list[Table]:
    """Top-k intersection for k from 1 to 10."""
    tables = []
    for attack, spoken in ATTACKS.items():
        rows = []
        for dataset, encoder, method, name, runs in measured(results, CONSISTENCY, attack):
            shares = [mean_cell(results, dataset, name, CONSISTENCY, f"top_{k}").split(" ")[0] for k in KS]
            rows.append([dataset, f"{encoder}-{method}", str(len(runs)), *shares])
        if rows:
            title = f"{spoken}: top-k intersection of integrated gradients"
            tables.append(Table([*_HEAD, *(f"k = {k}" for k in KS)], rows, title))
    return tables


def table_6(results: Results) -> list[Table]:
    """How texts are read."""
    rows = []
    for dataset, run in _first_runs(results):
        theirs = published("flat")["corpora"].get(dataset, {})
        size = vocabulary_of(run)
        ours = NOTHING if size is None else f"{size:,}"
        paper = f"{theirs['vocabulary']:,}" if theirs else NOTHING
        cells = [str(theirs[name]) if theirs else NOTHING for name in ("threshold", "cut")]
        rows.append([dataset, ours, paper, *cells])
    headings = ["dataset", "vocabulary", "paper", "threshold (paper)", "length (paper)"]
    title = "Texts are cut as in the paper, and so are words; but words that training texts hold once are unknown (threshold 1 for 0)"
    return [Table(headings, rows, title)]


def _first_runs(results: Results) -> Iterator[tuple[str, MeasuredRun]]:
    """One run for each dataset, of an encoder that reads words where there is one."""
    for dataset in results.datasets:
        runs = [run for run in results.runs if run.dataset == dataset and SHARPNESS in run.frames]
        wordy = [run for run in runs if not run.model.startswith("MiniLM")]
        if runs:
            yield dataset, (wordy or runs)[0]


def _items(run: MeasuredRun) -> str:
    return fixed(float(np.mean(run.frames[SHARPNESS]["items"].to_numpy())), 1)


def _alike(results: Results, dataset: str, name: str, where: str = "") -> list[str]:
    return [
        mean_cell(results, dataset, name, CONSISTENCY, f"{column}{where}") for column in ("tau", f"top_{TOP}")
    ]


def _pairs(ours: Sequence[str], paper: Sequence[str]) -> list[str]:
    return [cell for pair in zip(ours, paper, strict=True) for cell in pair]


def _with_paper(names: Sequence[str]) -> list[str]:
    return [heading for name in names for heading in (name, "paper")]
