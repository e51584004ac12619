"""Shades grow evenly from paper to the last colour, and letters are readable on each."""

from __future__ import annotations

import pytest

from heedful.cli.heatmap import shade_style as in_terminal
from heedful.output.shades import AGAINST_DARK, AGAINST_LIGHT, DARK, LIGHT, contrast, shade


@pytest.mark.parametrize("palette", [LIGHT, DARK, AGAINST_LIGHT, AGAINST_DARK])
def test_ends_are_those_of_the_palette_and_letters_stand_out(palette):
    assert shade(palette, 0.0)[0] == palette[0]
    assert shade(palette, 1.0)[0] == palette[-1]
    assert min(contrast(*shade(palette, step / 100)) for step in range(101)) >= 4.5


@pytest.mark.parametrize(("strength", "palette"), [(0.37, LIGHT), (-0.8, AGAINST_LIGHT)])
def test_a_terminal_has_the_colours_of_the_page(strength, palette):
    style = in_terminal(strength)
    ground, text = shade(palette, abs(strength))
    assert (tuple(style.bgcolor.triplet), tuple(style.color.triplet)) == (ground, text)
