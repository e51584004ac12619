"""From an audit's specification to a small drawing that lives inside the page."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from heedful.audits.exhibits import Chart
from heedful.output.charts import inside_page


class Figure(NamedTuple):
    """A drawing with its words."""

    title: str
    caption: str
    svg: Markup


def draw(chart: Chart) -> Figure:
    """Draw a chart. The drawing carries a description for those who cannot see it, and the colours of paper."""
    return Figure(chart.title, chart.caption, Markup(inside_page(chart.spec, chart.alt)))
