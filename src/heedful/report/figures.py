"""From an audit's specification to a small drawing that lives inside the page."""

from __future__ import annotations

import re
from typing import NamedTuple

from markupsafe import Markup, escape

from heedful.audits.exhibits import Chart

_NOT_DRAWN = re.compile(r'<path[^>]*(?:display="none"|d="M0,0h0v0h0Z")[^>]*/>')
_NOT_NEEDED = re.compile(r' (?:class|role|aria-[a-z]+|pointer-events|xmlns:xlink|version)="[^"]*"')
_FULL = re.compile(r' opacity="1"')
_PLACES = re.compile(r' (?:d|transform)="[^"]*"')
_LONG = re.compile(r"\d+\.\d{2,}")
_OPENING = re.compile(r"<svg[^>]*?width=\"([\d.]+)\" height=\"([\d.]+)\"[^>]*>")


class Figure(NamedTuple):
    """A drawing with its words."""

    title: str
    caption: str
    svg: Markup


def draw(chart: Chart) -> Figure:
    """Draw a chart. The words for who cannot see it are on the drawing, the colours those of paper."""
    import vl_convert

    svg = vl_convert.vegalite_to_svg(chart.spec)
    return Figure(chart.title, chart.caption, _tidy(svg, chart))


def _tidy(svg: str, chart: Chart) -> Markup:
    """Leave out what a drawing does not need: half of its bytes, and roles that readers would stumble over."""
    for noise in (_NOT_DRAWN, _NOT_NEEDED, _FULL):
        svg = noise.sub("", svg)
    svg = _PLACES.sub(lambda place: _LONG.sub(_round, place[0]), svg)
    opening = _OPENING.match(svg)
    assert opening is not None
    width, height = opening.groups()
    start = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{escape(chart.alt)}">'
    return Markup(start + svg[opening.end() :])


def _round(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".removesuffix(".0")
