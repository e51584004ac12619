"""How many texts fall into which bin, and how shares make a whole: bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from heedful.output.charts import ACCENT, CLASSES, chart_of, finish
from heedful.output.numbers import fixed

_BAR, _WIDTH = 20, 420


def bin_counts(values: np.ndarray, edges: Sequence[float]) -> list[int]:
    """Count values bin by bin; the last holds its upper end, and what lies outside goes to the bins at the ends."""
    present = values[~np.isnan(values)].clip(edges[0], edges[-1])
    return [int(count) for count in np.histogram(present, edges)[0]]


def bin_names(edges: Sequence[float]) -> list[str]:
    """Spell bins.

    >>> bin_names([0.0, 0.1, 0.5])
    ['0.0–0.1', '0.1–0.5']
    """
    return [f"{fixed(low, 1)}–{fixed(high, 1)}" for low, high in pairwise(edges)]


def bars(counts: Sequence[int], edges: Sequence[float], *, axis: str, texts: str) -> dict[str, Any]:
    """Draw counts over bins of the same width."""
    import altair as alt

    data = [
        {"from": low, "to": high, "texts": count, "least": 0}
        for (low, high), count in zip(pairwise(edges), counts, strict=True)
    ]
    drawn = (
        chart_of(data)
        .mark_rect(color=ACCENT, stroke="white", strokeWidth=1)
        .encode(
            x=alt.X("from:Q", title=axis, scale=alt.Scale(domain=[edges[0], edges[-1]], nice=False)),
            x2="to:Q",
            y=alt.Y("texts:Q", title=texts, axis=alt.Axis(tickMinStep=1)),
            y2="least:Q",
        )
        .properties(height=120)
    )
    return finish(drawn)


def stacked_shares(
    rows: Mapping[str, Sequence[float]], parts: Sequence[str], *, title: str, caption: Sequence[str] = ()
) -> dict[str, Any]:
    """Draw a bar for every row, of parts that add up to one."""
    import altair as alt

    data = []
    for row, shares in rows.items():
        begin = 0.0
        for part, share in zip(parts, shares, strict=True):
            data.append({"row": row, "part": part, "from": begin, "to": begin + share})
            begin += share
    colour = alt.Color(
        "part:N",
        title=None,
        scale=alt.Scale(domain=list(parts), range=list(CLASSES[: len(parts)])),
        legend=alt.Legend(orient="top", symbolType="square"),
    )
    drawn = (
        chart_of(data)
        .mark_bar(stroke="white", strokeWidth=1)
        .encode(
            x=alt.X(
                "from:Q",
                title="share of texts",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format="%", tickCount=5),
            ),
            x2="to:Q",
            y=alt.Y("row:N", title=None, sort=None, axis=alt.Axis(grid=False, ticks=False, domain=False)),
            color=colour,
        )
        .properties(width=_WIDTH, height=_BAR * len(rows))
    )
    spec = finish(drawn, labels=list(rows), title=title, caption=caption)
    spec["config"]["aria"] = False
    return spec
