"""Means with their intervals, row by row: differences, shares and scores that are to be compared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from heedful.output.charts import INK, MUTED, chart_of, finish, series

_ROW, _LANE = 18, 0.62
_WIDTH = 420


class IntervalDot(NamedTuple):
    """A number of one row and series, with its ends (NaN where it has none)."""

    row: str
    series: str
    estimate: float
    low: float = math.nan
    high: float = math.nan
    each: Sequence[float] = ()
    """Single values, drawn small behind it."""


def interval_dots(
    dots: Sequence[IntervalDot],
    *,
    title: str,
    axis: str,
    caption: Sequence[str] = (),
    mark: float | None = None,
    domain: tuple[float, float] | None = None,
) -> dict[str, Any]:
    """Draw a dot and a line for every number; `mark` is a value to compare them with."""
    import altair as alt

    rows = list(dict.fromkeys(dot.row for dot in dots))
    names = list(dict.fromkeys(dot.series for dot in dots))
    lanes = {name: (place - (len(names) - 1) / 2) / max(len(names), 1) for place, name in enumerate(names)}
    data, single = [], []
    for dot in dots:
        place = -rows.index(dot.row) - _LANE * lanes[dot.series]
        ends = (dot.estimate if math.isnan(end) else end for end in (dot.low, dot.high))
        low, high = ends
        data.append({"y": place, "x": dot.estimate, "low": low, "high": high, "series": dot.series})
        single += [{"y": place, "x": float(value), "series": dot.series} for value in dot.each]
    label = " : ".join(f"datum.value == {-i} ? {row!r}" for i, row in enumerate(rows)) + " : ''"
    y = alt.Y(
        "y:Q",
        title=None,
        scale=alt.Scale(domain=[-len(rows) + 0.4, 0.6], nice=False),
        axis=alt.Axis(
            values=[-i for i in range(len(rows))], labelExpr=label, grid=False, ticks=False, domain=False
        ),
    )
    scale = alt.Scale(domain=list(domain), nice=False) if domain else alt.Scale(zero=True, padding=8)
    x = alt.X("x:Q", title=axis, scale=scale)
    alone = len(names) == 1
    colour = alt.Color(
        "series:N", scale=series(names), title=None, legend=None if alone else alt.Legend(orient="top")
    )
    layers = [
        chart_of(data).mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2="high:Q", y=y, color=colour),
        chart_of(data).mark_circle(size=54, opacity=1).encode(x=x, y=y, color=colour),
    ]
    if single:
        layers.insert(0, chart_of(single).mark_circle(size=16, opacity=0.35).encode(x=x, y=y, color=colour))
    if mark is not None:
        rule = chart_of([{"x": mark}]).mark_rule(color=INK if mark else MUTED, strokeDash=[3, 3])
        layers.insert(0, rule.encode(x="x:Q"))
    height = max(60, _ROW * len(rows) * max(1, len(names)))
    drawn = alt.layer(*layers).properties(width=_WIDTH, height=height)
    spec = finish(drawn, labels=rows, title=title, caption=caption)
    spec["config"]["aria"] = False
    return spec
