"""Several drawings in one, as papers set them: panels beside and below each other, with one legend and one lettering."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

from heedful.output.charts import GRID, INK, MUTED, SMALL, TITLE, WORDS, width_of

_OWN = ("config", "datasets", "padding", "autosize", "$schema", "width", "background")
"""What a drawing says for itself, and several together say once."""


class Panel(NamedTuple):
    """One of several drawings, and what stands above it."""

    name: str
    spec: dict[str, Any]


def together(
    panels: Sequence[Panel],
    *,
    title: str,
    columns: int,
    caption: Sequence[str] = (),
    width: int = 240,
    height: int | None = None,
) -> dict[str, Any]:
    """Give the specification of all panels, which share their colours.

    Each is a finished drawing of an audit: its own type and padding are left out, and set once for all.
    """
    drawn = []
    for name, spec in panels:
        inner = {key: value for key, value in spec.items() if key not in _OWN}
        inner |= {"width": width, "title": {"text": name, "anchor": "start", "fontSize": WORDS, "color": INK}}
        drawn.append(inner | ({"height": height} if height else {}))
    config = _config(panels[0].spec["config"])
    across = min(columns, len(panels))
    letters = int(across * (width + 70) / width_of("x", TITLE))
    heading = {
        "text": textwrap.wrap(title, max(letters, 40)),
        "subtitle": [line for part in caption for line in textwrap.wrap(part, max(int(letters * 1.25), 50))],
        "anchor": "start",
        "fontSize": TITLE,
        "color": INK,
        "subtitleFontSize": SMALL,
        "subtitleColor": MUTED,
        "subtitlePadding": 4,
        "offset": 14,
    }
    return {
        "$schema": panels[0].spec.get("$schema", ""),
        "config": config,
        "background": "white",
        "title": heading,
        "datasets": {key: rows for _, spec in panels for key, rows in spec.get("datasets", {}).items()},
        "concat": drawn,
        "columns": columns,
        "resolve": {"scale": {"color": "shared"}},
    }


def _config(config: dict[str, Any]) -> dict[str, Any]:
    legend = {**config.get("legend", {}), "orient": "top", "symbolType": "square", "columns": 4}
    return {
        **config,
        "aria": False,  # the page says in words what is drawn
        "background": "white",
        "legend": legend,
        "concat": {"spacing": 26},
        "axis": {**config.get("axis", {}), "gridColor": GRID},
    }
