"""What flips when one item is erased: tables and bars by ranking (Table 2, Figures 9, 12, 13)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from heedful.output.counted_bars import stacked_shares
from heedful.output.numbers import percentage
from heedful.output.tables import Table
from heedful.papers.paper_page import Picture
from heedful.papers.recipe import published
from heedful.papers.results import Results, column
from heedful.papers.serrano_smith.sizes_and_accuracy import COUNTERPART

_OUTCOMES = {"both": (1, 1), "only top": (1, 0), "only random": (0, 1), "neither": (0, 0)}


def table_2(results: Results) -> list[Table]:
    """What flips the decision when one item is erased, in percent of the texts."""
    return [
        _flips(results, "attention", "Top item by attention (the paper: Table 2)"),
        _flips(results, "product", "Top item by attention × gradient (the paper: Figure 13)"),
    ]


def figure_9(results: Results) -> list[Table]:
    """The same as Table 2 on all models."""
    return [_flips(results, "attention", "Top item by attention (the paper: Figure 9)")]


def figure_12(results: Results) -> list[Table]:
    """The top item by the gradient."""
    return [_flips(results, "gradient", "Top item by gradient (the paper: Figure 12)"), _single(results)]


def figure_13(results: Results) -> list[Table]:
    """The top item by attention × gradient."""
    return [
        _flips(results, "product", "Top item by attention × gradient (the paper: Figure 13)"),
        _single(results),
    ]


def _single(results: Results) -> Table:
    """How many decisions the top item of each ranking flips alone."""
    rankings = ("attention", "gradient", "product")
    rows = [
        [
            dataset,
            model,
            *(percentage(column(runs, "single_erasure", f"{name}_flips").mean(), 1) for name in rankings),
        ]
        for dataset, model, runs in results.pairs("single_erasure")
    ]
    return Table(["dataset", "model", *rankings], rows, "Decisions that the top item flips alone, by ranking")


def flips_drawn(number: int, ranking: str, spoken: str) -> Callable[[Results], list[Picture]]:
    """A bar for every model of each corpus, and for those of the paper that it prints."""

    def pictures(results: Results) -> list[Picture]:
        bars: dict[str, list[float]] = {}
        for dataset, model, runs in results.pairs("single_erasure"):
            top, other = (
                column(runs, "single_erasure", f"{ranking}_{end}") for end in ("flips", "other_flips")
            )
            bars[f"{dataset} {model}"] = [
                float(((top == a) & (other == b)).mean()) for a, b in _OUTCOMES.values()
            ]
        if not bars:
            return []
        for model, corpora in published("serrano_smith")["flips"].get(ranking, {}).items():
            for name, shares in corpora.items():
                bars[f"{name} {model} (paper)"] = [share / 100 for share in shares]
        title = f"What flips when one item is erased: the top by {spoken}, or a random other"
        spec = stacked_shares(bars, [f"flips: {name}" for name in _OUTCOMES], title=title)
        return [Picture(f"figure-{number}", f"{title}, shares of texts by model", spec)]

    return pictures


def _flips(results: Results, ranking: str, title: str) -> Table:
    rows = []
    for dataset, model, runs in results.pairs("single_erasure"):
        top, other = (column(runs, "single_erasure", f"{ranking}_{end}") for end in ("flips", "other_flips"))
        ours = [percentage(((top == a) & (other == b)).mean(), 1) for a, b in _OUTCOMES.values()]
        rows.append([f"{dataset} (ours)", model, *ours, str(len(top))])
        rows += _printed(ranking, model, (COUNTERPART[dataset],) if dataset in COUNTERPART else ())
    paper = [name for name in published("serrano_smith")["corpora"] if name not in COUNTERPART.values()]
    for model in dict.fromkeys(row[1] for row in rows):
        rows += _printed(ranking, model, paper)
    return Table(["corpus", "model", *_OUTCOMES, "texts"], rows, title)


def _printed(ranking: str, model: str, corpora: Sequence[str]) -> list[list[str]]:
    """Rows of the paper, in the same form."""
    printed = published("serrano_smith")["flips"].get(ranking, {}).get(model, {})
    sizes = published("serrano_smith")["corpora"]
    return [
        [
            f"{name} (paper)",
            model,
            *(percentage(share / 100, 1) for share in printed[name]),
            f"{sizes[name]['test']:,}",
        ]
        for name in corpora
        if name in printed
    ]
