"""Figures 3, 4, 7 and 8 of Serrano & Smith: the top item against a random other, by how far their weights are apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import polars as pl

from heedful.audits.chart_kinds import scatter
from heedful.output.counted_bars import bars, bin_counts, bin_names
from heedful.output.numbers import NOTHING, percentage, quartiles
from heedful.output.panels import Panel, together
from heedful.output.tables import Table
from heedful.papers.paper_page import Picture
from heedful.papers.results import MeasuredRun, Results, column, rows_of

AUDIT = "single_erasure"
DELTA_JS, DELTA_WEIGHT = "attention_delta_js", "attention_delta_weight"
HANRNN = "HANrnn"
_EDGES = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
_WIDE = [0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0]
_POINTS = 200
"""Points of a panel: more cannot be told apart in it. Numbers are of all."""
_NEGATIVE = pl.col(DELTA_JS) < -1e-8  # rounding moves two equal outputs by less

Drawn = Callable[[Results], list[Picture]]
Tables = Callable[[Results], list[Table]]


def delta_js(*models: str) -> Tables:
    """ΔJS by Δα: median and quartiles, and how many are below zero."""

    def tables(results: Results) -> list[Table]:
        rows = []
        for dataset, model, runs in _only(results, models):
            js, apart = (column(runs, AUDIT, name) for name in (DELTA_JS, DELTA_WEIGHT))
            cells = [
                f"{quartiles(js[inside])} {int(inside.sum())}" if inside.any() else NOTHING
                for inside in _inside(apart, _WIDE)
            ]
            rows.append([dataset, model, percentage(float((js < -1e-8).mean()), 1), *cells, f"{len(js):,}"])
        headings = ["dataset", "model", "ΔJS below 0", *(f"Δα {name}" for name in bin_names(_WIDE)), "texts"]
        return [Table(headings, rows, "ΔJS by Δα: median over texts [quartiles], number of texts")]

    return tables


def negatives(*models: str) -> Tables:
    """How many texts have a negative ΔJS, by Δα."""

    def tables(results: Results) -> list[Table]:
        rows = []
        for dataset, model, runs in _only(results, models):
            values = column(runs, AUDIT, DELTA_WEIGHT, _NEGATIVE)
            texts = sum(len(run.frames[AUDIT]) for run in runs)
            rows.append(
                [dataset, model, *map(str, bin_counts(values, _EDGES)), str(len(values)), f"{texts:,}"]
            )
        headings = ["dataset", "model", *(f"Δα {name}" for name in bin_names(_EDGES)), "all", "texts"]
        return [Table(headings, rows, "Texts whose random item moved the output more than the top item")]

    return tables


def delta_js_drawn(number: int, *models: str) -> Drawn:
    """ΔJS against Δα, a point for every text."""

    def draw(runs: list[MeasuredRun]) -> Panel:
        rows = rows_of(runs, AUDIT)
        shown = rows.sample(_POINTS, seed=0) if len(rows) > _POINTS else rows
        axes = ("Δα", "ΔJS")
        return Panel("", scatter(shown, DELTA_WEIGHT, DELTA_JS, title="", axes=axes).spec)

    title = "Top item against a random other: effect against weight"
    note = f"At most {_POINTS} texts are drawn in a panel; below 0 the random item mattered more."
    return _drawn(number, models, draw, title, note)


def negatives_drawn(number: int, *models: str) -> Drawn:
    """Bars of the texts with a negative ΔJS."""

    def draw(runs: list[MeasuredRun]) -> Panel:
        values = column(runs, AUDIT, DELTA_WEIGHT, _NEGATIVE)
        return Panel("", bars(bin_counts(values, _EDGES), _EDGES, axis="Δα", texts="texts"))

    title = "Texts whose random item mattered more, by how far the weights are apart"
    return _drawn(number, models, draw, title, "All seeds together.")


def _drawn(
    number: int, models: Sequence[str], draw: Callable[[list[MeasuredRun]], Panel], title: str, note: str
) -> Drawn:
    """Corpora beside each other for one model; for several a drawing of each corpus."""

    def pictures(results: Results) -> list[Picture]:
        found = [
            (dataset, model, draw(runs).spec)
            for dataset, model, runs in _only(results, models)
            if len(rows_of(runs, AUDIT))
        ]
        if not found:
            return []
        if len(models) == 1:
            panels = [Panel(dataset, spec) for dataset, _, spec in found]
            spec = together(panels, title=f"{title}, {models[0]}", caption=[note], columns=2)
            return [Picture(f"figure-{number}", f"{title}, by corpus", spec)]
        pictures = []
        for dataset in dict.fromkeys(name for name, *_ in found):
            panels = [Panel(model, spec) for name, model, spec in found if name == dataset]
            spec = together(panels, title=f"{title}, {dataset}", caption=[note], columns=3)
            pictures.append(Picture(f"figure-{number}-{dataset}", f"{title}, by model, {dataset}", spec))
        return pictures

    return pictures


def _inside(values: np.ndarray, edges: Sequence[float]) -> list[np.ndarray]:
    """Which values fall into each bin; the last holds its upper end."""
    last = len(edges) - 2
    return [
        (values >= low) & ((values < high) if place < last else (values <= high + 1e-6))
        for place, (low, high) in enumerate(pairwise(edges))
    ]


def _only(results: Results, models: Sequence[str]) -> list[tuple[str, str, list[MeasuredRun]]]:
    return [(dataset, model, runs) for dataset, model, runs in results.pairs(AUDIT) if model in models]
