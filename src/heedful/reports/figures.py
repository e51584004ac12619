"""From an audit's specification to a small drawing that lives inside the page, with the thresholds that it is judged by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl
from markupsafe import Markup

from heedful.audits.audit import Audit
from heedful.audits.chart_kinds import histogram
from heedful.audits.exhibits import Chart
from heedful.audits.verdict import Judgement
from heedful.output.charts import INK, inside_page

_DASHES = [5, 3]
_ONLY_A_FEW = 2
"""Values that are only yes or no make no histogram: their share is the number itself."""


class Figure(NamedTuple):
    """A drawing with its words."""

    title: str
    caption: str
    svg: Markup


def _draw(chart: Chart) -> Figure:
    """Draw a chart. The drawing carries a description for those who cannot see it, and the colours of paper."""
    return Figure(chart.title, chart.caption, Markup(inside_page(chart.spec, chart.alt)))


def figures(audit: Audit, rows: pl.DataFrame, judgements: Sequence[Judgement]) -> list[Figure]:
    """Draw an audit's own figures, and before them one of every judged number that they do not show."""
    charts = audit.charts(rows)
    drawn = {chart.measure for chart in charts}
    missing = [j for j in judgements if j.rule.number not in drawn and _can_be_drawn(j, rows)]
    by_measure = {judgement.rule.number: judgement for judgement in judgements}
    every = [*(_of_texts(judgement, rows) for judgement in missing), *charts]
    return [
        _draw(_with_thresholds(c, by_measure[c.measure]) if c.measure in by_measure else c) for c in every
    ]


def _can_be_drawn(judgement: Judgement, rows: pl.DataFrame) -> bool:
    """Whether a number is the mean of something that every text has much or little of."""
    name = judgement.rule.number
    if name not in rows.columns or not rows[name].dtype.is_numeric():
        return False
    return rows[name].drop_nulls().drop_nans().n_unique() > _ONLY_A_FEW


def _of_texts(judgement: Judgement, rows: pl.DataFrame) -> Chart:
    """How many texts have which value of a judged number, as far as texts and thresholds reach."""
    rule, about = judgement.rule, judgement.rule.about
    values = rows[rule.number].cast(pl.Float64).drop_nulls().drop_nans()
    marks = [rule.show, *([] if rule.forbid is None else [rule.forbid])]
    low = max(about.low, min([*marks, float(values.min() or 0)]))  # type: ignore[arg-type]
    high = min(about.high, max([*marks, float(values.max() or 0)]) + 0.02 * (max(marks) - low))  # type: ignore[arg-type]
    return histogram(
        rows,
        rule.number,
        title=f"Judged: {_short(about.description)}",
        axis=_short(about.description),
        low=low,
        high=high,
    )


def _short(description: str) -> str:
    """What fits below a small figure."""
    return description.partition(",")[0].partition(" (")[0]


def _with_thresholds(chart: Chart, judgement: Judgement) -> Chart:
    """Draw what a policy asks for into a figure, and say below what is drawn."""
    rule, number = judgement.rule, judgement.number
    more = rule.about.better == "higher"
    at = {"field": "at", "type": "quantitative", "title": _title_below(chart.spec)}
    layers = [_line(rule.show, at, strokeDash=_DASHES, strokeWidth=1.5)]
    said = [f"Dashed line: showing asks for {'at least' if more else 'at most'} {rule.show:g}."]
    if rule.forbid is not None:
        layers.append(_line(rule.forbid, at, strokeWidth=2))
        said.append(f"Solid line: {'less' if more else 'more'} than {rule.forbid:g} forbids.")
    if number is not None and number.estimate is not None and math.isfinite(number.estimate):
        layers.append(_diamond(number.estimate, at))
        said.append("Diamond: the mean of all texts, which alone is judged.")
    words = " ".join(said)
    caption = f"{chart.caption} {words}".strip()
    return chart._replace(spec=_layered(chart.spec, layers), caption=caption, alt=f"{chart.alt} {words}")


def _layered(spec: dict[str, Any], layers: list[dict[str, Any]]) -> dict[str, Any]:
    """Put marks over a drawing; one that has layers gets more of them."""
    inside = {key: spec[key] for key in ("mark", "encoding", "data") if key in spec}
    outside = {key: value for key, value in spec.items() if key not in inside}
    if "layer" in spec:
        return {**spec, "layer": [*spec["layer"], *layers]}
    return {**outside, "layer": [inside, *layers]}


def _line(x: float, at: dict[str, Any], **looks: Any) -> dict[str, Any]:
    return {
        "data": {"values": [{"at": x}]},
        "mark": {"type": "rule", "color": INK, **looks},
        "encoding": {"x": at},
    }


def _diamond(x: float, at: dict[str, Any]) -> dict[str, Any]:
    looks = {"type": "point", "shape": "diamond", "filled": True, "size": 90, "color": INK, "opacity": 1}
    return {"data": {"values": [{"at": x}]}, "mark": looks, "encoding": {"x": at, "y": {"value": 0}}}


def _title_below(spec: dict[str, Any]) -> Any:
    """The title of the horizontal axis: layers that name it alike share it, and one without would take it away."""
    parts = spec.get("layer") or [spec]
    return next(
        (part["encoding"]["x"]["title"] for part in parts if "title" in part["encoding"].get("x", {})), None
    )
