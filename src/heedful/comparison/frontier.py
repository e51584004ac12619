"""The frontier: how far a heatmap moves under noise against how sharp it is, one point for every run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from heedful.audits.charts import GRID, INK, MUTED
from heedful.audits.questions.stable_audit import LEAST
from heedful.comparison.comparison import Comparison, Entry
from heedful.comparison.marking import F1, SHARP_ENOUGH
from heedful.errors import BadInput
from heedful.measures.divergence import LN_2
from heedful.storage import write_bytes

AUDIT = "embedding_stability"
_SUFFIXES = (".svg", ".png")
_WIDTH, _HEIGHT = 420, 300
_COLOURS = (
    "#1f5f8b",
    "#c8642b",
    "#3c8a63",
    "#8a5fa8",
    "#a8841c",
    "#5aa2c8",
    "#a33b5a",
    "#111418",
    "#63676d",
    "#d98a9f",
)
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
_SIZES = (35, 170)
_STEPS = (1, 2, 5)


def check_figure(path: Path, audits: list[str]) -> None:
    """Refuse before anything is measured what could not be drawn after."""
    if path.suffix.lower() not in _SUFFIXES:
        raise BadInput(f"The figure {path} can be {' or '.join(_SUFFIXES)}: end its name so.")
    if AUDIT not in audits:
        raise BadInput(f"The figure shows {AUDIT}: name it in --only too, or leave out --figure.")


def save(comparison: Comparison, path: Path) -> Path:
    """Draw and write whole or not at all."""
    import vl_convert

    check_figure(path, [column.audit for column in comparison.columns])
    spec = draw(comparison)
    if path.suffix.lower() == ".svg":
        write_bytes(path, as_svg(spec))
    else:
        write_bytes(path, vl_convert.vegalite_to_png(_roomy(spec), scale=2))
    return path


def as_svg(spec: dict[str, Any]) -> bytes:
    """Turn a drawing into the bytes of an SVG file."""
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(_roomy(spec))
    return svg.encode("utf-8")


def _roomy(spec: dict[str, Any]) -> dict[str, Any]:
    """Leave room at the right: a reader's font may be wider than the one that words were measured with."""
    return {**spec, "padding": {"left": 5, "top": 5, "right": 40, "bottom": 5}}


def draw(comparison: Comparison) -> dict[str, Any]:
    """Give the drawing of a comparison, with intervals as thin lines."""
    data = [point for entry in comparison.points if (point := _point(entry))]
    sharp = comparison.entry(comparison.reference).values[(AUDIT, "sharpness")].estimate
    texts = f"{comparison.texts:,} texts of {comparison.data}; lines are 95 % intervals over texts."
    return drawing(data, [texts], comparison.reference, sharp)


def drawing(
    points: Sequence[Mapping[str, Any]],
    caption: Sequence[str],
    reference: str,
    sharp: float | None,
    *,
    relative: bool = False,
) -> dict[str, Any]:
    """Give a drawing: sharper to the right, steadier below, F1 as size.

    A point has `method`, `sharp`, `jsd`, and maybe `f1` and the ends of intervals (`sharp_low`, …); it is grey where it
    is much less sharp than the reference, so that its steadiness does not count. Both numbers may be `relative` to the
    reference's.
    """
    import altair as alt

    data = [_whole(point) for point in points]
    methods = list(dict.fromkeys(point["method"] for point in data))
    many = range(len(methods))
    reach = max([point["sharp_high"] for point in data], default=LN_2)
    unit = f"times that of {reference}" if relative else "nats"
    x = alt.X(
        "sharp:Q", title=f"sharpness: JSD of attention to uniform ({unit}) →",
        scale=alt.Scale(domain=[0, 1.08 * reach if relative else min(LN_2, 1.08 * reach)], nice=False),
    )  # fmt: skip
    y = alt.Y(
        "jsd:Q", title=f"← steadier: JSD under noise ({unit})",
        scale=alt.Scale(type="log", domain=_decades(data), nice=False),
        axis=alt.Axis(format="~g" if relative else ".0e", values=_ticks(_decades(data))),
    )  # fmt: skip
    colour = alt.Color("method:N", title="method", scale=alt.Scale(domain=methods, range=[_COLOURS[i % len(_COLOURS)] for i in many]))  # fmt: skip
    shape = alt.Shape("method:N", title="method", scale=alt.Scale(domain=methods, range=[_SHAPES[i % len(_SHAPES)] for i in many]))  # fmt: skip
    base = alt.Chart(alt.InlineData(values=data)).encode(color=colour)
    marks = base.mark_point(filled=True, opacity=0.85, stroke="white", strokeWidth=0.8).encode(
        x=x, y=y, shape=shape
    )
    if all("f1" in point for point in data):
        marks = marks.encode(size=_size([point["f1"] for point in data]))
    drawn = alt.layer(
        *_lost(sharp),
        base.mark_rule(strokeWidth=1.2, opacity=0.6).encode(x=alt.X("sharp_low:Q"), x2="sharp_high:Q", y=y),
        base.mark_rule(strokeWidth=1.2, opacity=0.6).encode(x=x, y=alt.Y("jsd_low:Q"), y2="jsd_high:Q"),
        marks,
    )
    axis = {"labelColor": MUTED, "titleColor": INK, "domainColor": MUTED, "tickColor": MUTED, "gridColor": GRID, "labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal", "titlePadding": 8}  # fmt: skip
    legend = {"labelColor": INK, "titleColor": MUTED, "labelFontSize": 12, "titleFontSize": 11, "titleFontWeight": "normal", "labelLimit": 320, "symbolOpacity": 1}  # fmt: skip
    words = alt.TitleParams(
        "Steady and sharp: the lower right is best", anchor="start", fontSize=14, color=INK, subtitle=[*caption, *_grey(reference, sharp)], subtitleColor=MUTED,
        subtitleFontSize=11, subtitlePadding=4, offset=10,
    )  # fmt: skip
    finished = drawn.properties(width=_WIDTH, height=_HEIGHT, title=words).configure(
        background="white", font="sans-serif", axis=axis, legend=legend, view={"stroke": None}
    )
    spec: dict[str, Any] = finished.to_dict()
    return spec


def _point(entry: Entry) -> dict[str, Any] | None:
    """Where a run stands; None where it has no such numbers."""
    sharp, jsd, f1 = (entry.values.get(key) for key in ((AUDIT, "sharpness"), (AUDIT, "jsd"), F1))
    if sharp is None or jsd is None or sharp.estimate is None or jsd.estimate is None:
        return None
    return {
        "method": entry.method, "sharp": sharp.estimate, "sharp_low": sharp.low, "sharp_high": sharp.high,
        "jsd": jsd.estimate, "jsd_low": jsd.low, "jsd_high": jsd.high,
        **({"f1": f1.estimate} if f1 is not None and f1.estimate is not None else {}),
    }  # fmt: skip


def _whole(point: Mapping[str, Any]) -> dict[str, Any]:
    """Put ends where there are none, and what does not move at all at the end of the axis: a logarithmic one has no zero."""
    ends = {f"{name}_{end}": point[name] for name in ("sharp", "jsd") for end in ("low", "high")}
    whole = {**ends, **point}
    return {**whole, **{name: max(whole[name] or 0.0, LEAST) for name in ("jsd", "jsd_low", "jsd_high")}}


def _decades(data: list[dict[str, Any]]) -> list[float]:
    """Round outwards to half decades, and show one decade at least, so that small differences look small."""
    low = math.floor(2 * math.log10(min([point["jsd_low"] for point in data], default=LEAST))) / 2
    high = math.ceil(2 * math.log10(max([point["jsd_high"] for point in data], default=1.0))) / 2
    missing = max(0.0, 1 - (high - low)) / 2
    return [10 ** (low - missing), 10 ** (high + missing)]


def _ticks(ends: list[float]) -> list[float]:
    """Mark 1, 2 and 5 of every decade; of many decades only 1."""
    low, high = (math.log10(end) for end in ends)
    steps = _STEPS if high - low <= 3 else _STEPS[:1]
    found = [step * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for step in steps]
    return [tick for tick in found if ends[0] * 0.999 <= tick <= ends[1] * 1.001]


def _size(scores: list[float]) -> Any:
    import altair as alt

    low, high = min(scores), max(scores)
    if high - low < 0.02:  # a fraction of a point should not look like much
        low, high = (low + high) / 2 - 0.01, (low + high) / 2 + 0.01
    ticks = [round(low + (high - low) * part, 3) for part in (0, 0.5, 1)]
    return alt.Size("f1:Q", title="F1", scale=alt.Scale(domain=[low, high], range=list(_SIZES)), legend=alt.Legend(values=ticks, format=".3f", symbolOpacity=1, symbolFillColor=MUTED, symbolStrokeColor=MUTED))  # fmt: skip


def _lost(sharp: float | None) -> list[Any]:
    """Shade where attention is so much less sharp than the reference's that its steadiness does not count."""
    import altair as alt

    if sharp is None:
        return []
    area = [{"from": 0, "to": SHARP_ENOUGH * sharp}]
    return [
        alt.Chart(alt.InlineData(values=area))
        .mark_rect(color=GRID, opacity=0.45)
        .encode(x=alt.X("from:Q"), x2="to:Q")
    ]


def _grey(reference: str, sharp: float | None) -> list[str]:
    if sharp is None:
        return []
    lost = f"{1 - SHARP_ENOUGH:.0%}".replace("%", " %")
    return [f"Grey: more than {lost} less sharp than {reference}. What is flat cannot move."]
