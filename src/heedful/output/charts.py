"""One palette, one lettering, and the way from a Vega-Lite drawing to SVG or PNG without a browser.

Colours are few and fixed: a page that shows the figures can exchange them for those of its own theme.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from heedful.output.drawing import converted

INK, MUTED, GRID, ACCENT, SECOND = "#26282b", "#63676d", "#e3e1da", "#1f5f8b", "#b3aa98"
CLASSES = (ACCENT, SECOND, "#7fb0d1", "#6e675a")
"""Of areas, which are large: quiet."""
SERIES = (
    ACCENT,
    "#c8642b",
    "#3c8a63",
    "#8a5fa8",
    "#a8841c",
    "#5aa2c8",
    "#a33b5a",
    "#111418",
    MUTED,
    "#d98a9f",
)
"""Of points and lines, which are small: loud."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
SMALL, WORDS, TITLE = 11, 12, 14
"""Sizes of lettering: ticks, captions and words inside; axes and legends; the title."""

_EM = 0.62
"""How wide a letter is, in parts of its height: no common font without serifs is wider on average."""
_USUAL, _LEGEND = 520, 120
"""How wide a drawing of several is, and what stands beside one: a title breaks where both end."""
_WITH_LEGEND = ("color", "fill", "stroke", "shape", "size", "opacity", "strokeDash")
_PADDING = 5
_ROOMY = {"padding": {"left": _PADDING, "top": _PADDING, "right": 40, "bottom": _PADDING}}
"""Names in a legend at the right, and a title, may come out wider than measured too."""
_SYMBOL = 32
"""What a name in a legend needs besides its letters."""
_FONT = "Arial, Liberation Sans, Helvetica, sans-serif"  # what vl-convert measures with comes first
_NOT_DRAWN = re.compile(r'<path[^>]*(?:display="none"|d="M0,0h0v0h0Z")[^>]*/>')
_NOT_NEEDED = re.compile(
    r' (?:class|role|aria-[a-z]+|pointer-events|xmlns:xlink|version|font-family)="[^"]*"'
)
_FULL = re.compile(r' opacity="1"')
_PLACES = re.compile(r' (?:d|transform)="[^"]*"')
_LONG = re.compile(r"\d+\.\d{2,}")
_OPENING = re.compile(r"<svg[^>]*?width=\"([\d.]+)\" height=\"([\d.]+)\"[^>]*>")


def chart_of(data: Iterable[Any]) -> Any:
    """A chart of some rows, which the specification holds."""
    import altair as alt

    return alt.Chart(alt.InlineData(values=[dict(row) for row in data]))


def series(names: Sequence[str], *, shapes: bool = False) -> Any:
    """A scale that gives each name its colour, or its shape; they repeat where there are too many."""
    import altair as alt

    kinds = SHAPES if shapes else SERIES
    return alt.Scale(domain=list(names), range=[kinds[place % len(kinds)] for place in range(len(names))])


def width_of(text: str, size: int = SMALL) -> float:
    """How many pixels a text may need, in whatever font a reader has."""
    return _EM * size * len(text)


def finish(
    chart: Any,
    *,
    labels: Sequence[str] = (),
    title: str = "",
    caption: Sequence[str] = (),
    background: str = "white",
    legend: Mapping[str, Any] | None = None,
    ticks: int | None = None,
) -> dict[str, Any]:
    """Set the type, and give the specification.

    `labels` are the words at the left of the drawing: the font of a reader may be wider than the one that they are
    measured with, and what is measured too short is cut off, or runs into the axis' title.
    """
    import altair as alt

    left = max(map(width_of, labels), default=0.0)
    axis = {
        "labelColor": MUTED,
        "titleColor": INK,
        "domainColor": MUTED,
        "tickColor": MUTED,
        "gridColor": GRID,
        "labelFontSize": SMALL,
        "titleFontSize": WORDS,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "labelLimit": 320,
        **({"tickCount": ticks} if ticks else {}),
    }
    legends = {
        "labelColor": INK,
        "titleColor": MUTED,
        "labelFontSize": WORDS,
        "titleFontSize": SMALL,
        "titleFontWeight": "normal",
        "labelLimit": 320,
        "columnPadding": 20,
        "symbolOpacity": 1,
        **(legend or {}),
    }
    heading: dict[str, Any] = {
        "anchor": "start",
        "fontSize": TITLE,
        "color": INK,
        "subtitleFontSize": SMALL,
        "subtitleColor": MUTED,
        "subtitlePadding": 4,
        "offset": 10,
    }
    panel = {
        "anchor": "start",
        "frame": "group",
        "fontSize": WORDS,
        "color": INK,
        "offset": 6,
    }  # of one drawing among several
    if title:
        broad = chart.width if isinstance(getattr(chart, "width", None), int) else _USUAL
        beside = _LEGEND if _has_legend(chart.to_dict()) else 0
        lines = textwrap.wrap(title, int((broad + beside) / width_of("x", TITLE)))
        chart = chart.properties(title=alt.TitleParams(lines, subtitle=list(caption), **heading))
    finished = chart.configure(
        background=background,
        font=_FONT,
        axis=axis,
        axisYQuantitative={"minExtent": left},
        axisYDiscrete={"minExtent": left},
        legend=legends,
        title=panel,
        header={"labelFontSize": WORDS, "labelColor": INK},
        view={"stroke": None},
    )
    spec: dict[str, Any] = finished.to_dict()
    return spec


def _has_legend(spec: Any) -> bool:
    """Whether something stands beside a drawing, or beside one of its parts."""
    if isinstance(spec, list):
        return any(map(_has_legend, spec))
    if not isinstance(spec, dict):
        return False
    channels = [found for name, found in spec.get("encoding", {}).items() if name in _WITH_LEGEND]
    if any("field" in found and found.get("legend", "usual") is not None for found in channels):
        return True
    return any(_has_legend(spec.get(part)) for part in ("layer", "hconcat", "vconcat", "concat", "spec"))


def finish_small(
    chart: Any, *, width: int, labels: Sequence[str] = (), names: Sequence[str] = ()
) -> dict[str, Any]:
    """Set the type of a figure on a page, and give the specification.

    The drawing with its labels has the given width, so that figures beside each other keep the same lettering when
    the page fits them to their column. `names` are those of the legend, which stands above.
    """
    widest = max((width_of(name, WORDS) + _SYMBOL for name in names), default=1.0)
    columns = max(1, int((width - max(map(width_of, labels), default=0.0)) / widest))
    looks = {"orient": "top", "title": None, "symbolType": "square", "columns": columns}
    spec = finish(chart, labels=labels, background="transparent", legend=looks, ticks=5)
    padding = dict.fromkeys(("left", "top", "right", "bottom"), _PADDING)
    spec["config"]["aria"] = False  # the page says in words what is drawn
    return {**spec, "padding": padding, "width": width, "autosize": {"type": "fit-x", "contains": "padding"}}


def as_svg(spec: dict[str, Any]) -> str:
    """Turn a drawing into SVG."""
    return converted({**_ROOMY, **spec}, "svg").decode("utf-8")


def as_png(spec: dict[str, Any]) -> bytes:
    """Turn a drawing into PNG, twice as fine as a screen."""
    return converted({**_ROOMY, **spec}, "png")


def inside_page(spec: dict[str, Any], words: str) -> str:
    """Turn a drawing into SVG that lives inside a page, with words for those who cannot see it.

    What a drawing does not need is left out: half of its bytes, and roles that readers would stumble over.
    """
    svg = as_svg(spec)
    for noise in (_NOT_DRAWN, _NOT_NEEDED, _FULL):
        svg = noise.sub("", svg)
    svg = _PLACES.sub(lambda place: _LONG.sub(_round, place[0]), svg)
    opening = _OPENING.match(svg)
    assert opening is not None
    width, height = opening.groups()
    start = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="{_FONT}" role="img" aria-label="{escape(words, quote=True)}">'
    )
    return start + svg[opening.end() :]


def _round(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".removesuffix(".0")
