"""Figures 2 to 5 of Jain & Wallace: how τ is spread, and how far one τ lies above another, text by text."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl

from heedful.audits.chart_kinds import histogram
from heedful.measures.intervals import Interval, bootstrap_interval
from heedful.output.interval_dots import IntervalDot, interval_dots
from heedful.output.numbers import NOTHING, percentage, quartiles, with_interval
from heedful.output.panels import Panel, together
from heedful.output.tables import Table
from heedful.papers.paper_page import Picture
from heedful.papers.results import Results, by_class, column, rows_of

AUDIT = "agreement"
_EDGES = [-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0]
_BILSTM, _AVERAGE = "bilstm", "average"
_BETWEEN = "τ of gradient and leave-one-out"
_LOO, _GRADIENT = pl.col("tau_g_loo") - pl.col("tau_loo"), pl.col("tau_g_loo") - pl.col("tau_g")


def figure_2(results: Results) -> list[Table]:
    """How texts are spread over τ of attention and gradient."""
    rows = []
    for dataset, model, runs in results.pairs(AUDIT):
        for label, where in by_class(runs):
            values = column(runs, AUDIT, "tau_g", where)
            values = values[~np.isnan(values)]
            counts, _ = np.histogram(values, _EDGES)
            shares = counts / len(values) if len(values) else np.full(len(counts), np.nan)
            rows.append(
                [dataset, label, model, quartiles(values), *map(percentage, shares), str(len(values))]
            )
    bins = [f"{low:g} to {high:g}" for low, high in pairwise(_EDGES)]
    headings = ["dataset", "predicted class", "encoder", "τ_g", *bins, "texts"]
    return [Table(headings, rows, "Median over texts [quartiles], and share of texts by τ_g")]


def figure_2_drawn(results: Results) -> list[Picture]:
    """A histogram for every encoder, a drawing for every corpus."""
    drawn = []
    for dataset in results.datasets:
        panels = [
            Panel(
                model,
                histogram(
                    rows_of(runs, AUDIT),
                    "tau_g",
                    title="",
                    axis="τ of attention and gradient",
                    low=-1,
                    high=1,
                ).spec,
            )
            for name, model, runs in results.pairs(AUDIT)
            if name == dataset
        ]
        if panels:
            title = f"Attention against gradients, {dataset}"
            caption = [
                "Texts by Kendall's τ. 1: the same order of words; 0: no relation. Colours: predicted class."
            ]
            spec = together(panels, title=title, caption=caption, columns=3)
            drawn.append(Picture(f"figure-2-{dataset}", f"Histograms of τ_g by encoder, {dataset}", spec))
    return drawn


class _Difference:
    """One of Figures 3 to 5: two τ of the same text, one minus the other."""

    def __init__(self, number: int, value: pl.Expr, model: str, against: str | None, words: str) -> None:
        self.number, self.value, self.model, self.against, self.words = number, value, model, against, words

    def tables(self, results: Results) -> list[Table]:
        """A row for every corpus and predicted class."""
        rows = []
        for dataset, label, values, found in self._found(results):
            over = percentage(float((values > 0).mean())) if len(values) else NOTHING
            rows.append([dataset, label, _spelled(found), quartiles(values), over, f"{len(values):,}"])
        headings = ["dataset", "predicted class", "mean (95 % interval)", "texts", "above 0", "number"]
        return [Table(headings, rows, f"{self.words}, text by text: mean, median [quartiles]")]

    def pictures(self, results: Results) -> list[Picture]:
        """One drawing of all corpora."""
        dots = [
            IntervalDot(dataset if label == "all" else f"{dataset}, {label}", "mean", *found[:3])
            for dataset, label, values, found in self._found(results)
            if len(values)
        ]
        if not dots:
            return []
        caption = ["Means over texts with 95 % intervals; texts that several seeds read count once."]
        spec = interval_dots(dots, title=self.words, axis="difference of τ", caption=caption, mark=0.0)
        return [Picture(f"figure-{self.number}", f"{self.words}: means by corpus with intervals", spec)]

    def _found(self, results: Results) -> list[tuple[str, str, np.ndarray, Interval]]:
        found = []
        for dataset in results.datasets:
            runs = results.of(dataset, self.model, AUDIT)
            for label, where in by_class(runs) if runs else ():
                values = self._values(results, dataset, where)
                found.append((dataset, label, values, bootstrap_interval(values)))
        return found

    def _values(self, results: Results, dataset: str, where: pl.Expr | None) -> np.ndarray:
        mine = results.by_text(AUDIT, self.value, dataset=dataset, model=self.model, where=where)
        if self.against is None:
            return mine["value"].to_numpy()
        theirs = results.by_text(AUDIT, self.value, dataset=dataset, model=self.against)
        both = mine.join(theirs, on="row", suffix="_against").sort("row")
        return (both["value"] - both["value_against"]).to_numpy()


FIGURE_3 = _Difference(3, _LOO, _BILSTM, None, f"{_BETWEEN} − τ of attention and leave-one-out, BiLSTM")
FIGURE_4 = _Difference(4, _GRADIENT, _BILSTM, None, f"{_BETWEEN} − τ of attention and gradient, BiLSTM")
FIGURE_5 = _Difference(
    5, pl.col("tau_loo"), _AVERAGE, _BILSTM, "τ of attention and leave-one-out, average − BiLSTM"
)


def _spelled(found: Interval) -> str:
    if not found.count:
        return NOTHING
    return with_interval(*found[:3])
