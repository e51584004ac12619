"""A text as a heatmap in the terminal: the more attention, the darker; and in words for where there is no colour."""

from __future__ import annotations

from collections.abc import Sequence

from rich.color import Color
from rich.console import Group
from rich.style import Style
from rich.text import Text

from heedful.models.prediction import Item, Prediction
from heedful.output.markup import printable

# From paper to deep blue, perceptually even and readable for the colour-blind; text flips to white half way.
_PALETTE = ((247, 251, 255), (198, 219, 239), (107, 174, 214), (33, 113, 181), (8, 48, 107))
# And to deep purple through pink, which the colour-blind tell from blue, for scores that count against the decision.
_AGAINST = ((255, 247, 243), (252, 197, 192), (247, 104, 161), (174, 1, 126), (73, 0, 106))
_WHITE_TEXT_FROM = 0.6
_TOP = 5
_MOST_CHARACTERS = 4000


def shade(strength: float) -> Style:
    """Give the style for a strength between −1 and 1."""
    palette, strength = (_PALETTE if strength >= 0 else _AGAINST), min(abs(strength), 1.0)
    place = strength * (len(palette) - 1)
    low = min(int(place), len(palette) - 2)
    part = place - low
    red, green, blue = (
        round(a + (b - a) * part) for a, b in zip(palette[low], palette[low + 1], strict=True)
    )
    text = Color.from_rgb(255, 255, 255) if strength >= _WHITE_TEXT_FROM else Color.from_rgb(0, 0, 0)
    return Style(color=text, bgcolor=Color.from_rgb(red, green, blue))


def heatmap(text: str, items: Sequence[Item]) -> Text:
    """Shade every item by its weight relative to the largest; of signed scores, what counts against in pink."""
    largest = max((abs(item.weight) for item in items), default=0.0) or 1.0
    drawn, position = Text(), 0
    for item in items:
        if item.start > _MOST_CHARACTERS:
            drawn.append(" … (cut here; the rest is in --json)", style="dim")
            return drawn
        drawn.append(printable(text[position : item.start]))
        drawn.append(printable(text[item.start : item.end]), style=shade(item.weight / largest))
        position = item.end
    drawn.append(printable(text[position : position + _MOST_CHARACTERS]))
    return drawn


def show(prediction: Prediction) -> Group:
    """Label, heatmap, and the items with most weight in plain words."""
    ranked = sorted(prediction.probabilities.items(), key=lambda pair: -pair[1])
    others = ", ".join(f"{printable(name)} {p:.2f}" for name, p in ranked[1:4])
    head = Text.assemble(
        (printable(prediction.label), "bold"), f" {ranked[0][1]:.2f}", (f"   {others}", "dim")
    )
    lines: list[Text] = [head]
    if prediction.query is not None:
        lines.append(Text.assemble(("for: ", "dim"), printable(prediction.query)))
    lines.append(heatmap(prediction.text, prediction.words or prediction.items))
    if prediction.items:
        top = sorted(prediction.items, key=lambda item: -abs(item.weight))[:_TOP]
        words = "   ".join(f"{_shorten(prediction.text[i.start : i.end])} {_spell(i.weight)}" for i in top)
        lines.append(Text(words, style="dim"))
    else:
        lines.append(Text("This model pools without attention: there are no weights to show.", style="dim"))
    return Group(*lines)


def _shorten(text: str) -> str:
    text = printable(text)
    return text if len(text) <= 40 else text[:39] + "…"


def _spell(weight: float) -> str:
    """Two digits, or one that is not zero: in a long text every weight is small."""
    return f"{weight:.2f}" if abs(weight) >= 0.01 else f"{weight:.1g}"
