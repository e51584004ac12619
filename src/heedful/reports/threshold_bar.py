"""A number on the line of all that it can be: where it passes, where it fails, and which end is the good one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from heedful.audits.audit import Measure, Number
from heedful.audits.policy import Rule
from heedful.output.numbers import percentage


class Zone(NamedTuple):
    """A part of the line, between 0 and 100, in which a number has one outcome."""

    outcome: Literal["good", "unclear", "bad"]
    start: float
    width: float


class ThresholdBar(NamedTuple):
    """All places lie between 0 and 100; thresholds are where zones meet."""

    at: float
    low: float
    high: float
    """Ends of the interval; both are `at` where there is none."""
    zones: Sequence[Zone]
    """From left to right; none where no rule looks at the number."""
    ends: tuple[str, str]
    good: Literal["left", "right", ""]
    """Which end speaks for showing; empty where neither does."""


def threshold_bar(
    number: Number, about: Measure, *, share: bool, rule: Rule | None = None
) -> ThresholdBar | None:
    """Lay a number out; None where it is unknown or may be of any size.

    >>> number = Number(name="x", estimate=0.5, low=0.4, high=0.6, std=None, count=9, missing=0)
    >>> bar = threshold_bar(number, Measure("x", better="higher"), share=True)
    >>> bar.at, bar.low, bar.ends, bar.good
    (50.0, 40.0, ('0 %', '100 %'), 'right')
    """
    if number.estimate is None or not math.isfinite(about.high - about.low):
        return None

    def place(x: float) -> float:
        return min(max((x - about.low) / (about.high - about.low) * 100, 0.0), 100.0)

    at = place(number.estimate)
    low, high = (at if end is None else place(end) for end in (number.low, number.high))
    good: dict[str | None, Literal["left", "right", ""]] = {"higher": "right", "lower": "left", None: ""}
    return ThresholdBar(
        at=at,
        low=low,
        high=high,
        zones=_zones(place(rule.show), None if rule.forbid is None else place(rule.forbid), about)
        if rule
        else (),
        ends=(end_of_line(about.low, share=share), end_of_line(about.high, share=share)),
        good=good[about.better],
    )


def _zones(show: float, forbid: float | None, about: Measure) -> list[Zone]:
    """From left to right: what fails, what asks for a caveat, and what passes; or the other way round."""
    if about.better == "higher":
        edges = [0.0, forbid or 0.0, show, 100.0]
    else:
        edges = [0.0, show, 100.0 if forbid is None else forbid, 100.0]
    names: tuple[Literal["good", "unclear", "bad"], ...] = ("bad", "unclear", "good")
    order = names if about.better == "higher" else names[::-1]
    pairs = zip(order, edges, edges[1:], strict=False)
    return [Zone(name, start, end - start) for name, start, end in pairs if end > start]


def end_of_line(x: float, *, share: bool) -> str:
    """An end of a line, short.

    >>> end_of_line(0.6931, share=False), end_of_line(-1, share=False), end_of_line(1, share=True)
    ('0.69', '−1', '100 %')
    """
    return percentage(x) if share else f"{x:.2g}".replace("-", "−")
