"""Figures of SEAT as tables: seeds, the top-k surrogate by epoch, and our frontier of steadiness and sharpness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from heedful.audits.audit import BINS, in_bin
from heedful.papers.page import NOTHING, Table
from heedful.papers.results import Measured, Results, by_class, column
from heedful.papers.seat_methods import COMPARED, measured
from heedful.papers.seat_numbers import Methods, spelled

SEEDED = ("vanilla", "seat", "steady")
_ALL_WORDS = "all_0.01"
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


class Point(NamedTuple):
    """One trained model: where it stands on the frontier, and what stands beside."""

    method: str
    seed: int
    jsd: float
    sharpness: float
    f1: float
    cells: Sequence[str]

    def dominates(self, other: Point) -> bool:
        """As steady, as sharp and as good at predicting, and better in one of the three."""
        mine = (-self.jsd, self.sharpness, self.f1)
        theirs = (-other.jsd, other.sharpness, other.f1)
        return all(a >= b for a, b in zip(mine, theirs, strict=True)) and mine != theirs


def frontier(results: Results) -> list[Table]:
    """Stability against sharpness, one row for every method and seed."""
    tables = []
    for dataset, encoder, able in measured(results, COMPARED, "embedding_stability"):
        points = [
            _point(results, run, encoder, method)
            for method in able
            for run in results.of(dataset, f"{encoder} {method}", "embedding_stability")
        ]
        rows = []
        for point in points:
            better = [p.method for p in points if p.seed == point.seed and p.dominates(point)]
            shown = [spelled(number) for number in (point.jsd, point.sharpness, point.f1)]
            rows.append([point.method, str(point.seed), *shown, *point.cells, ", ".join(better) or NOTHING])
        headings = [
            "method", "seed", "JSD", "sharpness", "F1", "relative JSD", "TVD", "largest weight", "top 7 as vanilla",
            "certified radius", "dominated by",
        ]  # fmt: skip
        tables.append(Table(headings, rows, f"{dataset}, {encoder}"))
    return tables


def _point(results: Results, run: Measured, encoder: str, method: str) -> Point:
    audit, model, vanilla = "embedding_stability", f"{encoder} {method}", f"{encoder} vanilla"
    alone = Results(tuple(r for r in results.runs if r.seed == run.seed))
    own = Methods(alone, run.dataset, [model], audit)
    pair = Methods(alone, run.dataset, [model, vanilla], audit)
    shared = pair.overlap(model, vanilla) if pair.seeds and method != "vanilla" else None
    jsd, relative, tvd, sharp, largest = (
        own.mean(model, column=name)[0].estimate
        for name in (
            f"jsd_{_ALL_WORDS}",
            f"relative_jsd_{_ALL_WORDS}",
            f"tvd_{_ALL_WORDS}",
            "sharpness",
            "largest_weight",
        )
    )
    radius = column([run], "certificate", "radius_linf") if "certificate" in run.frames else np.array([])
    cells = [
        spelled(relative), spelled(tvd), spelled(largest), spelled(shared.estimate if shared else None), _mean(radius),
    ]  # fmt: skip
    return Point(method, run.seed, jsd, sharp, own.f1(model)[0].estimate, cells)


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
