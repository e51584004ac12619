from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from heedful.cli.heatmap import heatmap, render_prediction, shade_style
from heedful.models.prediction import Item, Prediction


def styles(text, items):
    drawn = heatmap(text, items)
    return {drawn.plain[span.start : span.end]: span.style for span in drawn.spans}


def brightness(style):
    return sum(style.bgcolor.triplet)


def test_the_more_weight_the_darker():
    found = styles("a b c", [Item(0, 1, 0.1), Item(2, 3, 0.7), Item(4, 5, 0.2)])
    assert brightness(found["b"]) < brightness(found["c"]) < brightness(found["a"])


def test_the_largest_weight_is_darkest_whatever_its_size():
    assert styles("a b", [Item(0, 1, 0.01), Item(2, 3, 0.002)])["a"] == shade_style(1)


def test_letters_stand_out_from_every_shade():
    for step in range(101):
        style = shade_style(step / 100)
        assert abs(sum(style.color.triplet) - brightness(style)) > 255


def test_no_weight_at_all_is_no_crash():
    assert styles("a", [Item(0, 1, 0.0)])["a"] == shade_style(0)


def test_a_label_from_the_data_cannot_steer_the_terminal():
    prediction = Prediction(
        "a", None, "\x1b[2J[red]x", {"\x1b[2J[red]x": 0.9, "\x07": 0.1}, (Item(0, 1, 1.0),)
    )
    assert repr(prediction).endswith(", 1 item)") and repr(replace(prediction, items=())).endswith(
        ", 0 items)"
    )
    file = io.StringIO()
    Console(file=file, width=60).print(render_prediction(prediction))
    assert file.getvalue().splitlines()[0] == "�[2J[red]x 0.90   � 0.10"


def test_a_long_text_wraps_to_a_narrow_terminal():
    text = "word " * 40
    items = [Item(5 * i, 5 * i + 4, 1 / 40) for i in range(40)]
    file = io.StringIO()
    Console(file=file, width=40).print(heatmap(text, items))
    lines = file.getvalue().splitlines()
    assert max(map(len, lines)) <= 40
    assert " ".join(file.getvalue().split()) == text.strip()
