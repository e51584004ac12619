"""The frontier: how far a heatmap moves under noise against how sharp it is, one point for every run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from heedful.audits.questions.stability_audit import LEAST
from heedful.comparison.comparison import Comparison, Entry
from heedful.comparison.marking import F1, SHARP_ENOUGH
from heedful.errors import BadInput
from heedful.measures.divergence import LN_2
from heedful.output.charts import GRID, MUTED, as_png, as_svg, chart_of, finish, series
from heedful.output.numbers import percentage
from heedful.storage import write_bytes

AUDIT = "embedding_stability"
_SUFFIXES = (".svg", ".png")
_WIDTH, _HEIGHT = 420, 300
_SIZES = (35, 170)
_STEPS = (1, 2, 5)


def check_figure(path: Path, audits: list[str]) -> None:
    """Refuse what could not be drawn, before anything is measured."""
    if path.suffix.lower() not in _SUFFIXES:
        raise BadInput(f"The figure {path} can be {' or '.join(_SUFFIXES)}: end its name so.")
    if AUDIT not in audits:
        raise BadInput(f"The figure shows {AUDIT}: name it in --only too, or leave out --figure.")


def save(comparison: Comparison, path: Path) -> Path:
    """Draw and write whole or not at all."""
    check_figure(path, [column.audit for column in comparison.columns])
    spec = draw(comparison)
    write_bytes(path, as_svg(spec).encode("utf-8") if path.suffix.lower() == ".svg" else as_png(spec))
    return path


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
    reach = max([point["sharp_high"] for point in data], default=LN_2)
    unit = f"times that of {reference}" if relative else "nats"
    x = alt.X(
        "sharp:Q",
        title=f"sharpness: JSD of attention to uniform ({unit}) →",
        scale=alt.Scale(domain=[0, 1.08 * reach if relative else min(LN_2, 1.08 * reach)], nice=False),
    )
    y = alt.Y(
        "jsd:Q",
        title=f"← steadier: JSD under noise ({unit})",
        scale=alt.Scale(type="log", domain=_decades(data), nice=False),
        axis=alt.Axis(format="~g" if relative else ".0e", values=_ticks(_decades(data))),
    )
    colour = alt.Color("method:N", title="method", scale=series(methods))
    shape = alt.Shape("method:N", title="method", scale=series(methods, shapes=True))
    base = chart_of(data).encode(color=colour)
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
    return finish(
        drawn.properties(width=_WIDTH, height=_HEIGHT),
        title="Steady and sharp: the lower right is best",
        caption=[*caption, *_grey(reference, sharp)],
    )


def _point(entry: Entry) -> dict[str, Any] | None:
    """Where a run stands; None where it has no such numbers."""
    sharp, jsd, f1 = (entry.values.get(key) for key in ((AUDIT, "sharpness"), (AUDIT, "jsd"), F1))
    if sharp is None or jsd is None or sharp.estimate is None or jsd.estimate is None:
        return None
    return {
        "method": entry.method,
        "sharp": sharp.estimate,
        "sharp_low": sharp.low,
        "sharp_high": sharp.high,
        "jsd": jsd.estimate,
        "jsd_low": jsd.low,
        "jsd_high": jsd.high,
        **({"f1": f1.estimate} if f1 is not None and f1.estimate is not None else {}),
    }


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
    return alt.Size(
        "f1:Q",
        title="F1",
        scale=alt.Scale(domain=[low, high], range=list(_SIZES)),
        legend=alt.Legend(
            values=ticks, format=".3f", symbolOpacity=1, symbolFillColor=MUTED, symbolStrokeColor=MUTED
        ),
    )


def _lost(sharp: float | None) -> list[Any]:
    """Shade where attention is so much less sharp than the reference's that its steadiness does not count."""
    import altair as alt

    if sharp is None:
        return []
    area = [{"from": 0, "to": SHARP_ENOUGH * sharp}]
    return [chart_of(area).mark_rect(color=GRID, opacity=0.45).encode(x=alt.X("from:Q"), x2="to:Q")]


def _grey(reference: str, sharp: float | None) -> list[str]:
    if sharp is None:
        return []
    return [
        f"Grey: more than {percentage(1 - SHARP_ENOUGH)} less sharp than {reference}. What is flat cannot move."
    ]
