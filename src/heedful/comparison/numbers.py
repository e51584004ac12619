"""Which numbers are compared, and how each is had again from the measurements of single texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from jaxtyping import Int
from numpy.typing import NDArray

from heedful.audits.audit import ALL, AUDITS, Measure, Number
from heedful.audits.questions.embedding_stability import EmbeddingStability
from heedful.audits.running.result import PREDICTIONS, AuditResult
from heedful.config import AuditOptions
from heedful.measures.resampling import Ratio, f1_of, mean_of

DEFAULT = ("sharpness", "embedding_stability", "rationale", "certificate")
STEADY = ("embedding_stability", "word_stability", "seed_stability", "certificate")
"""Audits of steadiness, which flat attention passes without saying anything."""
BESIDE = ("sharpness", "largest_weight")
_HEADLINES = {
    "sharpness": BESIDE,
    **dict.fromkeys(STEADY[:3], ("jsd", "relative_jsd", "top_k_overlap", "tvd", "f1")),
    "rationale": ("comprehensiveness", "sufficiency", "sensitivity", "beats_random"),
    "certificate": ("radius_linf", "radius_l2", "certified"),
}
_SAME = 1e-9
"""A number is the mean of a column of its name only if they agree as well as this."""


class Column(NamedTuple):
    """A number of an audit, or of the predictions themselves."""

    audit: str
    number: str
    measure: Measure

    @property
    def key(self) -> tuple[str, str]:
        """What it is found by."""
        return self.audit, self.number


def columns(result: AuditResult, audits: Sequence[str], *, every: bool) -> list[Column]:
    """Choose the numbers that stand for each audit; with `every`, all that are better high or low.

    Stability audits repeat sharpness: it is that of what they compare, such as words with their pieces added up.
    """
    found = []
    if result.about.performance:
        found = [
            Column(PREDICTIONS, "f1", Measure("F1 on the texts as they are", better="higher")),
            Column(PREDICTIONS, "accuracy", Measure("accuracy on the texts as they are", better="higher")),
        ]
    for audit in audits:
        measures, chosen = AUDITS.get(audit).measures, _HEADLINES.get(audit)
        there = {number.name for number in result.summaries[audit].numbers if number.group == ALL}
        wanted = [name for name, measure in measures.items() if measure.better] if every or chosen is None else chosen  # fmt: skip
        if audit == "sharpness":
            wanted = list(dict.fromkeys((*BESIDE, *wanted)))
        if audit in STEADY and "sharpness" in measures:
            wanted = list(dict.fromkeys(("sharpness", *wanted)))
        found += [Column(audit, name, measures[name]) for name in wanted if name in there]
    return found


def number_of(result: AuditResult, column: Column) -> Number | None:
    """What the audit itself said."""
    summary = result.summaries.get(column.audit)
    return next(
        (n for n in summary.numbers if (n.name, n.group) == (column.number, ALL)) if summary else iter(()),
        None,
    )


def common_rows(frames: Sequence[pl.DataFrame]) -> Int[np.ndarray, " texts"]:
    """The texts that all models were measured on, in order."""
    rows = frames[0]["row"].to_numpy()
    for frame in frames[1:]:
        rows = np.intersect1d(rows, frame["row"].to_numpy())
    return np.sort(rows)


def ratio_of(
    result: AuditResult, column: Column, texts: Int[np.ndarray, " texts"], kept: Int[np.ndarray, " kept"]
) -> Ratio | None:
    """A number as sums over `texts`, of which only those `kept` are measured; None if no column gives it."""
    frame = result.frames[column.audit]
    classes = len(result.about.labels)
    if column.number == "f1":
        found = _decisions(result, column)
        if found is None:
            return None
        labels, said = found
        whole = f1_of(labels, said, classes=classes)
        if column.audit != PREDICTIONS and not _is(result, column, _value(whole)):
            return None
        at, there = _places(frame, texts, kept)
        return f1_of(labels[at], said[at], classes=classes, there=there)
    if column.audit == PREDICTIONS:
        values = (frame["label"] == frame["predicted"]).cast(pl.Float64).to_numpy()
    elif column.number in frame.columns and frame[column.number].dtype.is_numeric():
        values = frame[column.number].cast(pl.Float64).to_numpy()
        if not _is(result, column, _value(mean_of(values))):
            return None
    else:
        return None
    at, there = _places(frame, texts, kept)
    return mean_of(np.where(there, values[at], np.nan))


def _decisions(result: AuditResult, column: Column) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Labels, and what was decided in every draw, as numbers of classes."""
    frame, names = result.frames[column.audit], {name: i for i, name in enumerate(result.about.labels)}
    if column.audit == PREDICTIONS:
        labels, said = (
            frame[name].replace_strict(names, return_dtype=pl.Int64).to_numpy()
            for name in ("label", "predicted")
        )
        return labels, said[:, None]
    options = AuditOptions(**result.about.options)
    asked = AUDITS.get(column.audit)(options, source=result.about.source)
    headline = (
        f"all_{asked.usual:g}" if isinstance(asked, EmbeddingStability) else getattr(asked, "headline", "")
    )
    if "label" not in frame.columns or f"said_{headline}" not in frame.columns:
        return None
    return frame["label"].to_numpy(), np.array(frame[f"said_{headline}"].to_list(), dtype=np.int64)


def _places(
    frame: pl.DataFrame, texts: Int[np.ndarray, " texts"], kept: Int[np.ndarray, " kept"]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Where each text stands in a frame, and whether it is measured there."""
    rows = frame["row"].to_numpy()
    order = np.argsort(rows)
    at = order[np.minimum(np.searchsorted(rows, texts, sorter=order), len(rows) - 1)]
    return at, np.isin(texts, kept)


def _value(ratio: Ratio) -> float:
    sums = ratio.bottom.sum(0)
    whole = np.full(sums.shape, ratio.empty)
    return float(np.divide(ratio.top.sum(0), sums, out=whole, where=sums > 0).mean())


def _is(result: AuditResult, column: Column, found: float) -> bool:
    said = number_of(result, column)
    if said is None or said.estimate is None:
        return math.isnan(found)
    return math.isclose(said.estimate, found, rel_tol=_SAME, abs_tol=_SAME * 1e-9)
