"""Drawings of papers: every number that is given is drawn, where it belongs, and nothing else."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.output.charts import as_svg, chart_of, finish_small
from heedful.output.counted_bars import bars, bin_counts, stacked_shares
from heedful.output.interval_dots import IntervalDot, interval_dots
from heedful.output.lines import lines
from heedful.output.panels import Panel, together
from heedful.output.shaded_words import ShadedText, shaded_words


def rows_of(spec: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Every set of rows that a drawing holds."""
    found = list(spec.get("datasets", {}).values())

    def walk(part: Any) -> None:
        if isinstance(part, dict):
            if isinstance(values := part.get("values"), list) and values and isinstance(values[0], dict):
                found.append(values)
            for inner in part.values():
                walk(inner)
        elif isinstance(part, list):
            for inner in part:
                walk(inner)

    walk({key: value for key, value in spec.items() if key != "datasets"})
    return found


def drawn_texts(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]+)</text>", svg)


def small(values: list[float]) -> dict[str, Any]:
    import altair as alt

    chart = chart_of([{"x": value} for value in values]).mark_circle().encode(x=alt.X("x:Q", title="size"))
    return finish_small(chart, width=300)


def test_panels_keep_the_rows_of_each_and_are_all_drawn():
    spec = together([Panel("one", small([1, 2, 3])), Panel("two", small([4, 5]))], title="Both", columns=2)
    assert sorted(map(len, rows_of(spec))) == [2, 3]
    svg = as_svg(spec)
    assert {"one", "two", "Both"} <= set(drawn_texts(svg))
    circles = re.findall(r'<path[^>]*d="M[^"]*A[^"]*"', svg)
    assert len(circles) == 5


def test_a_dot_stands_at_its_number_with_its_interval():
    dots = [IntervalDot("sst2", "ours", 0.5, 0.25, 1.0, (0.4, 0.6)), IntervalDot("mr", "ours", 0.125)]
    spec = interval_dots(dots, title="t", axis="x", mark=0.0)
    (data,) = [rows for rows in rows_of(spec) if "low" in rows[0]]
    assert [(row["x"], row["low"], row["high"]) for row in data] == [(0.5, 0.25, 1.0), (0.125, 0.125, 0.125)]
    assert data[0]["y"] > data[1]["y"]  # the first row is above
    (single,) = [rows for rows in rows_of(spec) if set(rows[0]) == {"x", "y", "series"} and len(rows) == 2]
    assert [row["x"] for row in single] == [0.4, 0.6]
    assert {"sst2", "mr"} <= set(drawn_texts(as_svg(spec)))


def test_series_of_a_row_do_not_cover_each_other():
    dots = [IntervalDot("sst2", name, 0.5) for name in ("a", "b", "c")]
    (data,) = [rows for rows in rows_of(interval_dots(dots, title="t", axis="x")) if "low" in rows[0]]
    heights = [row["y"] for row in data]
    assert len(set(heights)) == 3 and max(heights) - min(heights) < 1


@given(st.lists(st.floats(-0.5, 1.5) | st.just(float("nan")), max_size=30))
def test_every_value_is_counted_once(values):
    edges = [0.0, 0.25, 0.5, 1.0]
    counts = bin_counts(np.array(values, dtype=float), edges)
    assert sum(counts) == sum(not math.isnan(value) for value in values)
    assert counts[0] == sum(value < 0.25 for value in values)


def test_bars_are_as_high_as_their_counts():
    spec = bars([3, 0, 2], [0.0, 0.1, 0.2, 0.3], axis="x", texts="texts")
    ((first, second, third),) = rows_of(spec)
    assert (first["from"], first["to"], first["texts"]) == (0.0, 0.1, 3)
    assert (second["texts"], third["texts"]) == (0, 2)
    assert spec["encoding"]["y2"]["field"] == "least" and {
        row["least"] for row in (first, second, third)
    } == {0}


def test_shares_of_a_bar_follow_each_other_up_to_the_whole():
    spec = stacked_shares({"a": [0.25, 0.75], "b": [0.5, 0.5]}, ["one", "two"], title="t")
    (data,) = rows_of(spec)
    ends = [(row["row"], row["from"], row["to"]) for row in data]
    assert ends == [("a", 0.0, 0.25), ("a", 0.25, 1.0), ("b", 0.0, 0.5), ("b", 0.5, 1.0)]


def test_lines_leave_out_what_is_not_known():
    (data,) = rows_of(lines({"train": [1.0, float("nan"), 3.0]}, axes=("epoch", "")))
    assert [(row["step"], row["value"]) for row in data] == [(1, 1.0), (3, 3.0)]


def test_words_are_as_dark_as_their_weights_and_long_texts_go_on_below():
    words = [(f"word{i}", weight) for i, weight in enumerate([0.0, 1.0, *[0.1] * 30])]
    spec = shaded_words([ShadedText("attention", words, "→ positive")], title="t", width=300)
    (boxes,) = [rows for rows in rows_of(spec) if "ground" in rows[0]]
    assert [box["word"] for box in boxes] == [word for word, _ in words]
    assert boxes[0]["ground"] == "#ffffff" and boxes[1]["ground"] == "#083061"
    assert len({box["top"] for box in boxes}) > 2
    assert all(box["to"] <= 300 for box in boxes)
    for one, other in pairwise(boxes):  # no word covers the next
        assert other["from"] >= one["to"] or other["top"] > one["top"]
    shown = drawn_texts(as_svg(spec))
    assert {"word0", "word31", "attention", "→ positive"} <= set(shown)


@pytest.mark.parametrize("weights", [[0.0, 0.0], [-0.5, 0.25]])
def test_a_text_without_positive_weights_is_drawn_too(weights):
    spec = shaded_words([ShadedText("a", list(zip("xy", weights, strict=True)))], title="t")
    assert len(next(rows for rows in rows_of(spec) if "ground" in rows[0])) == 2
