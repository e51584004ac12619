"""Which numbers are compared, and how each follows from the measurements of single texts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from jaxtyping import Int
from numpy.typing import NDArray

from heedful.audits.audit import ALL, AUDITS, Measure, Number
from heedful.audits.running.result import PREDICTIONS, AuditResult
from heedful.checking import build
from heedful.config import AuditOptions
from heedful.measures.resampling import Ratio, f1_of, mean_of

DEFAULT = ("sharpness", "embedding_stability", "rationale", "certificate")
BESIDE = ("sharpness", "largest_weight")
"""Numbers beside which steadiness is read."""
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
    for name in audits:
        audit = AUDITS.get(name)
        there = {number.name for number in result.summaries[name].numbers if number.group == ALL}
        wanted: Sequence[str] = audit.compared
        if every or not wanted:
            wanted = [number for number, measure in audit.measures.items() if measure.better]
        if name == "sharpness":
            wanted = [*BESIDE, *wanted]
        if audit.flat_passes and "sharpness" in audit.measures:
            wanted = ["sharpness", *wanted]
        found += [
            Column(name, number, audit.measures[number])
            for number in dict.fromkeys(wanted)
            if number in there
        ]
    return found


def praises_flatness(audit: str) -> bool:
    """Whether flat attention does well in an audit without saying anything; predictions are no audit."""
    return audit != PREDICTIONS and AUDITS.get(audit).flat_passes


def number_of(result: AuditResult, column: Column) -> Number | None:
    """What the audit itself reported."""
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
    found = _predicted(result, column.number) if column.audit == PREDICTIONS else _audited(result, column)
    if found is None:
        return None
    at, there = _places(frame, texts, kept)
    top, bottom = (np.where(there[:, None], sums[at], 0.0) for sums in (found.top, found.bottom))
    return Ratio(top, bottom, found.empty)


def _predicted(result: AuditResult, number: str) -> Ratio:
    """F1 or accuracy of the predictions themselves."""
    frame, classes = result.frames[PREDICTIONS], {name: i for i, name in enumerate(result.about.labels)}
    labels, decided = (
        frame[name].replace_strict(classes, return_dtype=pl.Int64).to_numpy()
        for name in ("label", "predicted")
    )
    if number == "f1":
        return f1_of(labels, decided[:, None], classes=len(classes))
    return mean_of((labels == decided).astype(np.float64))


def _audited(result: AuditResult, column: Column) -> Ratio | None:
    """What the audit makes of its measurements, if that is the number it reported."""
    about = result.about
    audit = AUDITS.get(column.audit)(build(AuditOptions, about.options), source=about.source)
    found = audit.by_text(column.number, result.frames[column.audit], classes=len(about.labels))
    return found if found is not None and _is(result, column, _value(found)) else None


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
    reported = number_of(result, column)
    if reported is None or reported.estimate is None:
        return math.isnan(found)
    return math.isclose(reported.estimate, found, rel_tol=_SAME, abs_tol=_SAME * 1e-9)
