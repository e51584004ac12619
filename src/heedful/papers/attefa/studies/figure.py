"""AtteFa against the control, as an SVG that needs no browser."""

from __future__ import annotations

import math
from typing import Any

from heedful.output.charts import as_svg, chart_of, finish, series
from heedful.papers.attefa.studies.run_study import Studied

_WIDTH, _HEIGHT = 360, 220
_SCORES = {"attefa": "AtteFa", "corrected": "corrected"}


def draw(studied: Studied) -> str:
    """Draw both scores with their intervals, and a tick for each base; lines join the values of a quantity."""
    import altair as alt

    data, order = _points(studied), list(dict.fromkeys(row.value for row in studied.rows))
    width = max(_WIDTH, 60 * len(order))
    # Corpora and scores stand side by side at each value: intervals would hide one another.
    groups = [f"{corpus} {score}" for corpus in studied.corpora for score in _SCORES.values()]
    base = chart_of(data).encode(
        x=alt.X("value:N", sort=order, title=studied.study.control, axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("group:N", sort=groups, scale=alt.Scale(paddingOuter=0.6)),
        color=alt.Color("corpus:N", title=None, sort=studied.corpora, scale=series(studied.corpora)),
        opacity=alt.Opacity(
            "score:N", title=None, scale=alt.Scale(domain=list(_SCORES.values()), range=[1.0, 0.45])
        ),
    )
    points = base.mark_point(filled=True, size=55).encode(
        y=alt.Y("estimate:Q", title="score", scale=alt.Scale(domain=[0, 1])),
        shape=alt.Shape("score:N", title=None, scale=alt.Scale(domain=list(_SCORES.values()))),
    )
    intervals = base.mark_rule(strokeWidth=2).encode(y="low:Q", y2="high:Q")
    lines = base.transform_filter("datum.number !== null").mark_line(strokeWidth=1).encode(y="estimate:Q")
    each = (
        base.transform_flatten(["each"])
        .mark_tick(thickness=1.5, size=9, orient="horizontal")
        .encode(y="each:Q")
    )
    chart = (lines + intervals + each + points).properties(width=width, height=_HEIGHT)
    return as_svg(finish(chart, title=studied.study.question))


def _drawn(end: float) -> float | None:
    """An end of an interval as JSON knows it, which has no NaN."""
    return None if math.isnan(end) else end


def _points(studied: Studied) -> list[dict[str, Any]]:
    return [
        {
            "value": row.value,
            "number": row.number,
            "corpus": row.corpus,
            "score": score,
            "group": f"{row.corpus} {score}",
            "each": getattr(row, f"{name}_each") if row.bases > 1 else [],
            "estimate": getattr(row, name),
            "low": _drawn(getattr(row, f"{name}_low")),
            "high": _drawn(getattr(row, f"{name}_high")),
        }
        for row in studied.rows
        for name, score in _SCORES.items()
    ]
