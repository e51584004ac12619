"""TVD against JSD, one line for each corpus and encoder, as an SVG that needs no browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from heedful.output.charts import MUTED, SMALL, as_svg, chart_of, finish, series
from heedful.papers.attefa.studies.curve import CurvePoint, trace
from heedful.papers.attefa.studies.run_study import Studied

_WIDTH, _HEIGHT = 480, 300
_LEAST_TOP = 0.5  # curves of different figures can be compared by eye, and a flat one looks flat
_RIGHT = 1.04  # room for marks at the bound
_NEAR_X, _NEAR_Y = 55, 14
"""Labels that would stand closer than this, in pixels, hide one another."""
_EDGE = 0.11
"""λ stands to the left of its point: at less JSD it would cross the axis."""
_KINDS = {True: "twins by TVD − λ · KL", False: "twins by AtteFa's TVD − JSD"}

Place = Mapping[str, Any]
P = TypeVar("P", bound=Place)


def draw_curves(studied: Studied) -> str:
    """Draw every curve from its base on, with λ at its points and, dashed, what reading nothing would give."""
    import altair as alt

    lines = studied.lines
    top = max([_LEAST_TOP, *(1.08 * max(p.tvd_most, p.blind_tvd) for p in studied.points)])
    x = alt.X(
        "jsd:Q",
        scale=alt.Scale(domain=[0, _RIGHT], nice=False),
        axis=alt.Axis(values=[i / 5 for i in range(6)], format=".1f"),
        title="JSD of attention, over its bound ln 2 (papers: × 0.693)",
    )
    y = alt.Y(
        "tvd:Q",
        scale=alt.Scale(domain=[0, top], nice=False),
        axis=alt.Axis(tickCount=5),
        title="TVD of predictions, over all classes (papers: half)",
    )
    colour = alt.Color(
        "line:N",
        title=None,
        sort=list(lines),
        scale=series(list(lines)),
        legend=alt.Legend(symbolType="stroke", symbolStrokeWidth=3),
    )
    shape = alt.Shape(
        "kind:N",
        title=None,
        scale=alt.Scale(domain=list(_KINDS.values()), range=["circle", "diamond"]),
        legend=alt.Legend(symbolFillColor=MUTED, symbolStrokeColor=MUTED),
    )
    marks = chart_of([_mark(point) for point in studied.points])
    blind = [{"line": name, "jsd": 0.0, "tvd": points[0].blind_tvd} for name, points in lines.items()]
    labels = _apart([_label(p) for p in studied.points if p.on_curve and p.jsd >= _EDGE], top)
    chart = alt.layer(
        chart_of(blind).mark_rule(strokeDash=[4, 4]).encode(y=y, color=colour),
        chart_of(_ways(lines)).mark_line(strokeWidth=1.5).encode(x, y, colour, order="step:Q"),
        marks.mark_rule(strokeWidth=1).encode(x, alt.Y("least:Q"), alt.Y2("most:Q"), color=colour),
        marks.mark_point(filled=True, size=70, opacity=1, stroke="white", strokeWidth=1).encode(
            x, y, colour, shape
        ),
        *_text(_apart(blind, top), "reading nothing", x, y, colour, align="left", dx=6, dy=-7),
        *_text(labels, None, x, y, colour, align="right", dx=-3, dy=-10),
    ).properties(width=_WIDTH, height=_HEIGHT)
    return as_svg(finish(chart, title=studied.study.question))


def _text(
    places: Sequence[Place], label: str | None, x: Any, y: Any, colour: Any, **marked: Any
) -> list[Any]:
    """Words with a white rim, so that a line behind them does not cross them out."""
    import altair as alt

    text = "label:N" if label is None else alt.value(label)
    base = chart_of(places)
    rim = base.mark_text(fontSize=SMALL, stroke="white", strokeWidth=3, **marked).encode(x, y, text=text)
    return [rim, base.mark_text(fontSize=SMALL, **marked).encode(x, y, colour, text=text)]


def _ways(lines: Mapping[str, Sequence[CurvePoint]]) -> list[Place]:
    return [
        {"line": name, "step": step, "jsd": float(jsd), "tvd": float(tvd)}
        for name, points in lines.items()
        for step, (jsd, tvd) in enumerate(zip(*trace(points), strict=True))
    ]


def _mark(point: CurvePoint) -> Place:
    return {
        "line": point.line,
        "kind": _KINDS[point.on_curve],
        "jsd": point.jsd,
        "tvd": point.tvd,
        "least": point.tvd_least,
        "most": point.tvd_most,
    }


def _label(point: CurvePoint) -> Place:
    return {"line": point.line, "jsd": point.jsd, "tvd": point.tvd, "label": f"λ {point.value}"}


def _apart(places: Sequence[P], top: float) -> list[P]:
    """Leave out places whose words would hide those of an earlier one; the table has them all."""
    kept: list[P] = []
    for place in places:
        if all(
            abs(place["jsd"] - other["jsd"]) / _RIGHT * _WIDTH >= _NEAR_X
            or abs(place["tvd"] - other["tvd"]) / top * _HEIGHT >= _NEAR_Y
            for other in kept
        ):
            kept.append(place)
    return kept
