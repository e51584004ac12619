"""Every figure has the same lettering, and room for its words in whatever font a reader has."""

from __future__ import annotations

import re

import pytest

from heedful.output.charts import (
    SERIES,
    SHAPES,
    as_svg,
    chart_of,
    finish,
    finish_small,
    inside_page,
    series,
    width_of,
)

NAMES = ["weight × gradient", "ℓ∞ ≤ 0.001"]
WIDTH = 360


def bars(names: list[str]) -> object:
    import altair as alt

    rows = [{"name": name, "x": 0.5} for name in names]
    return chart_of(rows).mark_bar().encode(y=alt.Y("name:N", title="a title"), x="x:Q", color="name:N")


def left_of_plot(svg: str) -> float:
    found = re.search(r"translate\(([\d.]+),", svg)
    assert found is not None
    return float(found[1])


@pytest.mark.parametrize("title", ["a title", None])
def test_labels_at_the_left_have_room_for_a_wide_font(title):
    chart = bars(NAMES)
    chart.encoding.y.title = title  # type: ignore[attr-defined]
    svg = as_svg(finish_small(chart, width=WIDTH, labels=NAMES))
    # DejaVu Sans, one of the widest: 107 pixels at this size.
    assert left_of_plot(svg) >= width_of(NAMES[0]) >= 107


@pytest.mark.parametrize(
    "names", [["a", "b"], ["a name that is long", "another name as long", "a third one"]]
)
def test_small_figures_are_as_wide_as_told_whatever_they_hold(names):
    svg = inside_page(finish_small(bars(names), width=WIDTH, labels=names, names=names), "words")
    assert f'width="{WIDTH}"' in svg
    assert max(float(x) for x in re.findall(r'<text[^>]*transform="translate\((-?[\d.]+),', svg)) < WIDTH


def test_lettering_has_three_sizes_in_large_figures_and_two_in_small_ones():
    large = as_svg(finish(bars(NAMES), title="A title", caption=["a caption"]))
    assert set(re.findall(r'font-size="([^"]+)"', large)) == {"11px", "12px", "14px"}
    small = as_svg(finish_small(bars(NAMES), width=WIDTH, labels=NAMES, names=NAMES))
    assert set(re.findall(r'font-size="([^"]+)"', small)) == {"11px", "12px"}


def test_colours_and_shapes_begin_anew():
    names = [str(i) for i in range(12)]
    assert series(names).range[10:] == list(SERIES[:2])
    assert series(names, shapes=True).range[: len(SHAPES)] == list(SHAPES)


def test_a_drawing_inside_a_page_says_what_it_shows():
    svg = inside_page(finish_small(bars(NAMES), width=WIDTH), 'a "quoted" <b>')
    assert svg.startswith("<svg") and 'aria-label="a &quot;quoted&quot; &lt;b&gt;"' in svg
    assert svg.count("role=") == 1


def test_a_long_title_breaks_where_the_drawing_ends():
    chart = bars(NAMES).properties(width=200)  # type: ignore[attr-defined]
    title = finish(chart, title="Does the temperature of the softmax change how faithful attention is?")[
        "title"
    ]
    assert len(title["text"]) == 2
    assert all(width_of(line, title["fontSize"]) <= 330 for line in title["text"])


def test_without_a_legend_a_title_has_no_room_beside_the_drawing():
    import altair as alt

    words = "substitution frequency against word frequency, sst2, LSTM-FLAT (TextFooler)"
    chart = chart_of([{"x": 1, "y": 2}]).mark_point().encode(x="x:Q", y="y:Q").properties(width=300)
    lines = finish(chart, title=words)["title"]["text"]
    assert len(lines) == 3
    assert all(width_of(line, 14) <= 300 for line in lines)
    hidden = chart.encode(color=alt.Color("x:Q", legend=None))
    assert finish(hidden, title=words)["title"]["text"] == lines
    assert len(finish(chart.encode(color="x:Q"), title=words)["title"]["text"]) == 2
