"""Colours of heatmaps: from paper to deep blue, and in the dark from night to light blue.

One hue that only grows darker (or lighter) is read in the same order by everybody, colour-blind or not. What speaks
against a prediction is brown, which everybody can distinguish from blue.
"""

from __future__ import annotations

from collections.abc import Sequence

Colour = tuple[int, int, int]
LEVELS = 21
LIGHT: Sequence[Colour] = ((255, 255, 255), (205, 225, 238), (118, 171, 209), (38, 112, 166), (8, 48, 97))
DARK: Sequence[Colour] = ((27, 30, 35), (24, 54, 82), (28, 98, 149), (98, 166, 214), (222, 240, 252))
AGAINST_LIGHT: Sequence[Colour] = (
    (255, 255, 255),
    (246, 224, 204),
    (224, 160, 106),
    (168, 88, 32),
    (92, 40, 8),
)
AGAINST_DARK: Sequence[Colour] = ((27, 30, 35), (70, 47, 30), (130, 78, 32), (214, 150, 90), (253, 234, 216))
BLACK, WHITE = (0, 0, 0), (255, 255, 255)


def shades(palette: Sequence[Colour]) -> list[tuple[Colour, Colour]]:
    """Give ground and text for every level; the text is whichever of black and white is easier to read."""
    return [shade(palette, level / (LEVELS - 1)) for level in range(LEVELS)]


def shade(palette: Sequence[Colour], strength: float) -> tuple[Colour, Colour]:
    """Give ground and text for a strength between 0 and 1."""
    place = strength * (len(palette) - 1)
    low = min(int(place), len(palette) - 2)
    part = place - low
    red, green, blue = (
        round(a + (b - a) * part) for a, b in zip(palette[low], palette[low + 1], strict=True)
    )
    ground = (red, green, blue)
    return ground, max((BLACK, WHITE), key=lambda text: contrast(ground, text))


def contrast(one: Colour, other: Colour) -> float:
    """How well two colours can be distinguished (WCAG 2: 1 to 21; texts need 4.5).

    >>> round(contrast(BLACK, WHITE), 1)
    21.0
    """
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def stylesheet() -> str:
    """One class for every level, w0 to w20 and against a prediction n0 to n20, in light and dark."""
    light, dark = (
        "".join(_rules(weights, "w") + _rules(against, "n"))
        for weights, against in ((LIGHT, AGAINST_LIGHT), (DARK, AGAINST_DARK))
    )
    return light + f"@media screen and (prefers-color-scheme:dark){{{dark}}}"


def _rules(palette: Sequence[Colour], name: str) -> list[str]:
    return [
        f".{name}{level}{{background:{_hex(ground)};color:{_hex(text)}}}"
        for level, (ground, text) in enumerate(shades(palette))
    ]


def _hex(colour: Colour) -> str:
    return "#" + "".join(f"{part:02x}" for part in colour)


def _luminance(colour: Colour) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (p / 255 for p in colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
