"""Texts as heatmaps: every word on a ground as dark as its weight is large, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from heedful.output import shades
from heedful.output.charts import INK, MUTED, SMALL, WORDS, chart_of, finish, width_of

_LINE, _SPACE = 22, 5
_WIDTH = 640


class ShadedText(NamedTuple):
    """A line of words with their weights, what stands before it, and what it says."""

    name: str
    words: Sequence[tuple[str, float]]
    says: str = ""


def shaded_words(
    texts: Sequence[ShadedText], *, title: str, caption: Sequence[str] = (), width: int = _WIDTH
) -> dict[str, Any]:
    """Draw the words of every text, the darker the larger their share of the largest weight; long texts go on below."""
    import altair as alt

    left = max((width_of(text.name, SMALL) for text in texts), default=0.0) + 14
    boxes: list[dict[str, Any]] = []
    notes: list[dict[str, Any]] = []
    line = 0.0
    for text in texts:
        notes.append({"x": 0.0, "y": line + _LINE / 2, "text": text.name, "colour": _hex((99, 103, 109))})
        line = _set_words(text, boxes, left=left, top=line, width=width)
        if text.says:
            notes.append({"x": left, "y": line + _LINE / 2, "text": text.says, "colour": MUTED})
            line += _LINE
        line += 8
    size = {"width": width, "height": max(line, _LINE)}
    across = alt.Scale(domain=[0, width], nice=False)
    down = alt.Scale(domain=[size["height"], 0], nice=False)
    base = chart_of(boxes)
    ground = alt.Color("ground:N", scale=None, legend=None)
    ink = alt.Color("ink:N", scale=None, legend=None)
    drawn = alt.layer(
        base.mark_rect().encode(
            x=alt.X("from:Q", scale=across, axis=None),
            x2="to:Q",
            y=alt.Y("top:Q", scale=down, axis=None),
            y2="bottom:Q",
            color=ground,
        ),
        base.mark_text(fontSize=WORDS, baseline="middle").encode(
            x=alt.X("middle:Q", scale=across, axis=None),
            y=alt.Y("line:Q", scale=down, axis=None),
            text="word:N",
            color=ink,
        ),
        chart_of(notes)
        .mark_text(fontSize=SMALL, align="left", baseline="middle", color=INK)
        .encode(
            x=alt.X("x:Q", scale=across, axis=None),
            y=alt.Y("y:Q", scale=down, axis=None),
            text="text:N",
            color=alt.Color("colour:N", scale=None, legend=None),
        ),
    ).properties(**size)
    spec = finish(drawn, title=title, caption=caption)
    spec["config"]["aria"] = False
    return spec


def _set_words(
    text: ShadedText, boxes: list[dict[str, Any]], *, left: float, top: float, width: float
) -> float:
    """Set the words of a text in lines, and give where the next begins."""
    largest = max((weight for _, weight in text.words), default=0.0) or 1.0
    x = left
    for word, weight in text.words:
        broad = width_of(word, WORDS) + 4
        if x + broad > width and x > left:
            x, top = left, top + _LINE
        ground, ink = shades.shade(shades.LIGHT, min(1.0, max(0.0, weight / largest)))
        boxes.append(
            {
                "word": word,
                "from": x,
                "to": x + broad,
                "middle": x + broad / 2,
                "top": top + 2,
                "bottom": top + _LINE - 2,
                "line": top + _LINE / 2,
                "ground": _hex(ground),
                "ink": _hex(ink),
            }
        )
        x += broad + _SPACE
    return top + _LINE


def _hex(colour: shades.Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
