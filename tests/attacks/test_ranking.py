from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from heedful.attacks.ranking import TIE, beats, ranked


@given(st.lists(st.integers(0, 5), max_size=12), st.randoms())
def test_rounding_changes_no_rank(values, random):
    rounded = [value / 10 + random.uniform(-1, 1) * TIE / 4 for value in values]
    expected = sorted(range(len(values)), key=lambda place: (-values[place], place))
    assert ranked(rounded) == ranked([value / 10 for value in values]) == expected


def test_what_rounding_adds_beats_nothing():
    assert beats(0.6, 0.5) and not beats(0.5 + TIE / 2, 0.5) and not beats(0.4, 0.5)
