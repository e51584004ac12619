"""Figures 2 and 5 of SEAT as tables: other seeds, and the top-k surrogate by epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from heedful.audits.audit import BINS, in_bin
from heedful.papers.page import NOTHING, Table
from heedful.papers.results import Results, by_class, column
from heedful.papers.seat.methods import measured
from heedful.papers.seat.numbers import spelled

SEEDED = ("vanilla", "seat", "steady")
_TERMS = ("top_k_loss", "top_k_overlap")


def figure_2(results: Results) -> list[Table]:
    """Largest JSD to the models of other seeds, by the largest weight and the predicted class."""
    rows = []
    for dataset, encoder, able in measured(results, SEEDED, "seed_stability"):
        for method in able:
            runs = results.of(dataset, f"{encoder} {method}", "seed_stability")
            for label, where in by_class(runs):
                cells = [_quartiles(column(runs, "seed_stability", "jsd_max", _both(where, in_bin(low, high)))) for low, high in BINS]  # fmt: skip
                sharp, relative = (
                    column(runs, "seed_stability", name, where) for name in ("sharpness", "relative_jsd")
                )
                rows.append([dataset, encoder, method, label, *cells, _mean(relative), _mean(sharp)])
    bins = [f"largest weight {low:.2f}–{high:.2f}" for low, high in BINS]
    title = (
        "Largest JSD of the heatmap to those of other seeds: median over texts [quartiles], number of texts"
    )
    headings = ["dataset", "encoder", "method", "predicted class", *bins, "relative JSD", "sharpness"]
    return [Table(headings, rows, title)] if rows else []


def figure_5(results: Results) -> list[Table]:
    """Surrogate and true overlap, epoch by epoch."""
    rows = []
    for dataset, encoder, _ in measured(results, ("seat",), "sharpness"):
        histories = [run.metrics.get("history", []) for run in results.of(dataset, f"{encoder} seat")]
        for place in range(max(map(len, histories))):
            epochs = [history[place] for history in histories if len(history) > place]
            cells = [_term(epochs, split, name) for split in ("train", "dev") for name in _TERMS]
            rows.append([dataset, encoder, str(place + 1), str(len(epochs)), *cells])
    headings = ["dataset", "encoder", "epoch", "seeds", "L_topk, train", "top 7 as vanilla, train", "L_topk, dev", "top 7 as vanilla, dev"]  # fmt: skip
    return [Table(headings, rows, "SEAT while it is trained: means over texts and seeds")] if rows else []


def _term(epochs: Sequence[Mapping[str, Any]], split: str, name: str) -> str:
    values = [epoch[split][name] for epoch in epochs if name in epoch.get(split, {})]
    return spelled(float(np.mean(values))) if values else NOTHING


def _both(where: pl.Expr | None, other: pl.Expr) -> pl.Expr:
    return other if where is None else where & other


def _quartiles(values: np.ndarray) -> str:
    """A box with three digits, since heatmaps of two seeds may be near each other."""
    present = values[~np.isnan(values)]
    if not len(present):
        return NOTHING
    low, middle, high = (spelled(float(value)) for value in np.quantile(present, [0.25, 0.5, 0.75]))
    return f"{middle} [{low}–{high}] {len(present)}"


def _mean(values: np.ndarray) -> str:
    return spelled(float(np.nanmean(values))) if np.isfinite(values).any() else NOTHING
