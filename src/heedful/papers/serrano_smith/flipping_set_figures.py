"""How much must be erased before the decision flips, by ranking (Figures 5, 6, 10, 11)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from heedful.audits.chart_kinds import boxes
from heedful.output.numbers import NOTHING, percentage, quartiles
from heedful.output.panels import Panel, together
from heedful.output.tables import Table
from heedful.papers.paper_page import Picture
from heedful.papers.recipe import published
from heedful.papers.results import MeasuredRun, Results, column, rows_of
from heedful.papers.serrano_smith.serrano_smith_claims import ENCODERS, FLIPPED, RANKINGS, models_with

FIGURE_5_MODELS = ("HANrnn", "FLANrnn", "FLANconv")


def figure_5(results: Results) -> list[Table]:
    """Fractions of items on the three architectures of the figure, and which ranking is sooner."""
    rows = []
    for dataset, model, runs in _only(results, *FIGURE_5_MODELS):
        attention, gradient = (
            column(runs, "flip_set", f"{name}_fraction", FLIPPED) for name in ("attention", "gradient")
        )
        shares = [
            float(np.mean(first < second - 1e-9)) if len(first) else np.nan
            for first, second in ((gradient, attention), (attention, gradient))
        ]
        rows.append([dataset, model, *map(percentage, shares)])
    return [
        _removed(results, "fraction", *FIGURE_5_MODELS),
        Table(
            ["dataset", "model", "gradient sooner", "attention sooner"],
            rows,
            "Whose order flips the decision with fewer items (the paper: gradient for over half of the texts in 10 of 16 "
            "models with encoders, and at least 1.6 times as often as attention in all)",
        ),
    ]


def figure_6(results: Results) -> list[Table]:
    """Fractions of items without an encoder, and the tail that the caption mentions."""
    rows = []
    for dataset, model, runs in _only(results, *models_with("noenc")):
        shares = [column(runs, "flip_set", f"{name}_fraction", FLIPPED) > 0.5 for name in RANKINGS]
        rows.append([dataset, model, *(percentage(s.mean(), 1) if len(s) else NOTHING for s in shares)])
    printed = published("serrano_smith")["figure_6"]
    tail = ", ".join(f"{share} %" for share in printed["above_half"])
    return [
        _removed(results, "fraction", *models_with("noenc")),
        Table(
            ["dataset", "model", *RANKINGS],
            rows,
            "Share of texts that need more than half of their items erased "
            f"(the paper: {tail} in the order of its legend, for {printed['model']} on {printed['corpus']})",
        ),
    ]


def figure_10(results: Results) -> list[Table]:
    """Fractions of items on all models."""
    return [_removed(results, "fraction", *models_with(*ENCODERS))]


def figure_11(results: Results) -> list[Table]:
    """Attention mass on all models."""
    return [_removed(results, "mass", *models_with(*ENCODERS))]


def _removed(results: Results, what: str, *models: str) -> Table:
    rows = []
    for dataset, model, runs in _only(results, *models):
        boxes = [
            quartiles(column(runs, "flip_set", f"{name}_{what}", FLIPPED)) for name in (*RANKINGS, "minimum")
        ]
        all_texts = sum(len(run.frames["flip_set"]) for run in runs)
        kept = len(column(runs, "flip_set", "row", FLIPPED))
        rows.append([dataset, model, *boxes, f"{kept:,}", f"{all_texts - kept:,}"])
    erased = "items" if what == "fraction" else "attention"
    return Table(
        ["dataset", "model", *RANKINGS, "true minimum", "texts", "never flip"],
        rows,
        f"Share of {erased} erased before the decision flips: median over texts [quartiles]",
    )


def removed_drawn(number: int, what: str, *models: str) -> Callable[[Results], list[Picture]]:
    """Boxes of every ranking; a drawing for every corpus with a panel for each model."""
    erased = "items" if what == "fraction" else "attention"

    def draw(runs: list[MeasuredRun]) -> Panel:
        rows = rows_of(runs, "flip_set").filter(FLIPPED)
        groups = {name: rows[f"{name}_{what}"] for name in (*RANKINGS, "minimum")}
        axis = f"share of {erased} erased"
        return Panel(runs[0].model, boxes(groups, title="", axis=axis, accent="minimum").spec)

    def pictures(results: Results) -> list[Picture]:
        found = []
        for dataset in results.datasets:
            panels = [
                draw(runs)
                for name, _, runs in _only(results, *models)
                if name == dataset and len(column(runs, "flip_set", "row", FLIPPED))
            ]
            if panels:
                title = f"Share of {erased} erased before the decision flips, {dataset}"
                caption = ["Box: half of the texts; line: nine in ten. The minimum is exact."]
                spec = together(panels, title=title, caption=caption, columns=3)
                found.append(Picture(f"figure-{number}-{dataset}", f"{title}, by model and ranking", spec))
        return found

    return pictures


def _only(results: Results, *models: str) -> list[tuple[str, str, list[MeasuredRun]]]:
    return [(dataset, model, runs) for dataset, model, runs in results.pairs("flip_set") if model in models]
