"""What is best, what is no worse, and what a model gave up for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from heedful.audits.questions.sharpness import FLAT
from heedful.audits.running.result import PREDICTIONS
from heedful.comparison.compared_numbers import BESIDE, ComparedNumber, praises_flatness
from heedful.comparison.comparison import Value
from heedful.measures.resampling import Seeded, Spread, difference
from heedful.output.tables import Mark

SHARP_ENOUGH = 0.9
"""Share of the reference's sharpness that a model must keep for its steadiness to count."""
F1_LOST = 0.005
"""Half a point of F1, which a model may lose and still be compared with the reference."""

Key = tuple[str, str]
SHARPNESS, F1 = ("sharpness", "sharpness"), (PREDICTIONS, "f1")


class MeasuredRow(NamedTuple):
    """The numbers of a row; draws for each seed where a number can be computed again from single texts."""

    values: Mapping[Key, Value]
    draws: Mapping[Key, Seeded]


def keeps_sharpness(one: MeasuredRow, reference: MeasuredRow, key: Key = SHARPNESS) -> bool | None:
    """Whether a heatmap is about as sharp as the reference's, and not flat: flat attention has nothing to lose."""
    mine, theirs = one.values[key].estimate, reference.values[key].estimate
    if mine is None or theirs is None:
        return None
    return mine >= SHARP_ENOUGH * theirs and mine >= FLAT


def keeps_f1(one: MeasuredRow, reference: MeasuredRow) -> bool | None:
    """Whether a model predicts about as well as the reference."""
    if F1 not in one.values:
        return None
    mine, theirs = one.values[F1].estimate, reference.values[F1].estimate
    if mine is None or theirs is None:
        return None
    # A loss of exactly half a point is kept, whatever the last digit says.
    return mine >= theirs - F1_LOST - 1e-12


def warned(one: MeasuredRow, reference: MeasuredRow, column: ComparedNumber) -> bool:
    """Whether a number praises steadiness where there is little left to move."""
    if not praises_flatness(column.audit) or column.number in BESIDE:
        return False
    own = (column.audit, "sharpness")  # that of the scores which were shaken
    return keeps_sharpness(one, reference, own if own in one.values else SHARPNESS) is False


def marks(rows: Sequence[MeasuredRow], column: ComparedNumber, warnings: Sequence[bool]) -> list[Mark]:
    """Mark the best, and what is not clearly worse: the interval of their paired difference holds 0.

    Rows with a warning are never marked, and nothing is where all are the same. Of two seeds no difference has an
    interval, and nothing is tied.
    """
    found: list[Mark] = [""] * len(rows)
    values = [row.values[column.key].estimate for row in rows]
    if column.measure.better is None or sum(value is not None for value in values) < 2:
        return found
    sign = 1 if column.measure.better == "higher" else -1
    able = {place: sign * v for place, v in enumerate(values) if v is not None and not warnings[place]}
    if not able:
        return found
    top = max(able, key=lambda place: able[place])
    for place, value in able.items():
        apart = _apart(rows[place], rows[top], column)
        if place == top or value == able[top] or apart == (0.0, 0.0, 0.0):
            found[place] = "best"
        elif apart is not None and apart[1] <= 0 <= apart[2]:
            found[place] = "tied"
    everywhere = all(mark == "best" for mark in found) and len(found) > 1
    return [""] * len(rows) if everywhere else found


def _apart(one: MeasuredRow, other: MeasuredRow, column: ComparedNumber) -> Spread | None:
    mine, theirs = (row.draws.get(column.key) for row in (one, other))
    return None if mine is None or theirs is None else difference(mine, theirs)
