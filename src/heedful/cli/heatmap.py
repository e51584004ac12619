"""A text as a heatmap in the terminal: the more attention, the darker; the top items also in words."""

from __future__ import annotations

from collections.abc import Sequence

from rich.color import Color
from rich.console import Group
from rich.style import Style
from rich.text import Text

from heedful.models.prediction import Item, Prediction
from heedful.output import shades
from heedful.output.markup import printable
from heedful.output.numbers import fixed, written

_TOP = 5
_MOST_CHARACTERS = 4000


def shade_style(strength: float) -> Style:
    """Return the style for a strength between −1 and 1."""
    ground, text = shades.shade(
        shades.LIGHT if strength >= 0 else shades.AGAINST_LIGHT, min(abs(strength), 1.0)
    )
    return Style(color=Color.from_rgb(*text), bgcolor=Color.from_rgb(*ground))


def heatmap(text: str, items: Sequence[Item]) -> Text:
    """Shade every item by its weight relative to the largest; negative scores are brown."""
    largest = max((abs(item.weight) for item in items), default=0.0) or 1.0
    drawn, position = Text(), 0
    for item in items:
        if item.start > _MOST_CHARACTERS:
            drawn.append(" … (cut here; the rest is in --json)", style="dim")
            return drawn
        drawn.append(printable(text[position : item.start]))
        drawn.append(printable(text[item.start : item.end]), style=shade_style(item.weight / largest))
        position = item.end
    drawn.append(printable(text[position : position + _MOST_CHARACTERS]))
    return drawn


def render_prediction(prediction: Prediction) -> Group:
    """Render the label, the heatmap, and the items with most weight in words."""
    ranked = sorted(prediction.probabilities.items(), key=lambda pair: -pair[1])
    others = ", ".join(f"{printable(name)} {fixed(p, 2)}" for name, p in ranked[1:4])
    head = Text.assemble(
        (printable(prediction.label), "bold"), f" {fixed(ranked[0][1], 2)}", (f"   {others}", "dim")
    )
    lines: list[Text] = [head]
    if prediction.query is not None:
        lines.append(Text.assemble(("for: ", "dim"), printable(prediction.query)))
    lines.append(heatmap(prediction.text, prediction.words or prediction.items))
    if prediction.items:
        top = sorted(prediction.items, key=lambda item: -abs(item.weight))[:_TOP]
        words = "   ".join(f"{_shorten(prediction.text[i.start : i.end])} {written(i.weight)}" for i in top)
        lines.append(Text(words, style="dim"))
    else:
        lines.append(Text("This model has no attention: heedful explain scores its words.", style="dim"))
    return Group(*lines)


def _shorten(text: str) -> str:
    text = printable(text)
    return text if len(text) <= 40 else text[:39] + "…"
