"""One way to write a number: what is small stays visible, what is unknown is a dash."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.audits.audit import Number
from heedful.output import numbers

FINITE = st.floats(-1e6, 1e6, allow_nan=False)


def number(estimate: float | None, low: float | None = None, high: float | None = None) -> Number:
    return Number(name="x", estimate=estimate, low=low, high=high, std=None, count=9, missing=0)


@given(FINITE, st.integers(0, 4))
def test_no_number_but_zero_is_written_as_zero(x, digits):
    for text in (numbers.written(x, digits), numbers.significant(x), numbers.in_column(x, digits)):
        assert (float(text) == 0) == (x == 0)
        assert math.isclose(float(text), x, rel_tol=0.06, abs_tol=0.5 * 10.0**-digits)


@given(st.lists(FINITE | st.none()))
def test_a_column_has_decimals_enough_for_its_least_number(values):
    digits = numbers.decimals(values)
    for x in values:
        if x and digits is not None:
            assert "e" not in numbers.in_column(x, digits)


def test_what_is_unknown_is_a_dash():
    for text in (
        numbers.fixed(None),
        numbers.fixed(math.nan),
        numbers.significant(math.nan),
        numbers.mean(np.array([np.nan])),
    ):
        assert text == "–"
    assert numbers.apart(None) == numbers.apart(number(None)) == ("–", "–")
    assert numbers.apart(number(0.5)) == ("0.500", "–")
    assert numbers.interval(0.1, None) == numbers.interval(math.nan, 0.2) == "–"


@pytest.mark.parametrize(
    ("given", "value", "share"),
    [
        (number(None), "unknown", "an unknown share"),
        (number(0.834), "0.83 (no interval)", "83 % (no interval)"),
        (number(0.834, 0.81, 0.86), "0.83 (95 % interval 0.81 to 0.86)", "83 % (95 % interval 81–86 %)"),
        (number(0.0002, 0.0, 0.004), "2.0e-04 (95 % interval 0.00 to 0.004)", "0 % (95 % interval 0–0 %)"),
    ],
)
def test_sentences_say_when_there_is_no_interval(given, value, share):
    assert numbers.value(given) == value
    assert numbers.percent(given) == share


def test_a_sign_is_written_for_differences():
    assert numbers.fixed(0.25, 2, sign=True) == "+0.25"
    assert numbers.in_column(-0.00004, 3, sign=True) == "-4.0e-05"
    assert numbers.in_column(0.00004, 3, sign=True) == "+4.0e-05"
