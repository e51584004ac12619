from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.attacks.ranking import LEAST, TIE, beats, ranked


@given(st.lists(st.integers(0, 5), max_size=12), st.sampled_from([1, 1e-2, 1e-4]), st.randoms())
def test_rounding_changes_no_rank(values, size, random):
    exact = [value / 10 * size for value in values]
    rounded = [value * (1 + random.uniform(-1, 1) * TIE / 4) for value in exact]
    expected = sorted(range(len(values)), key=lambda place: (-values[place], place))
    assert ranked(rounded) == ranked(exact) == expected


def test_what_rounding_adds_beats_nothing():
    assert beats(0.6, 0.5) and not beats(0.5 + TIE / 4, 0.5) and not beats(0.4, 0.5)


@pytest.mark.parametrize("size", [1e-3, 1e-5, 3e-6])
def test_small_differences_count_where_a_model_is_sure(size):
    assert beats(1.2 * size, size)
    assert ranked([size, 1.2 * size]) == [1, 0]


def test_less_than_single_precision_holds_is_a_tie():
    assert not beats(1.5 * LEAST, LEAST) and ranked([0.0, LEAST / 2]) == [0, 1]


def test_words_are_ranked_by_their_share_of_a_long_text():
    share = np.array([1.0, 1.1]) * 1e-6 / 20  # best scores 1e-6 and 1.1e-6 among twenty words
    assert ranked(share) == [0, 1] and ranked(share, least=LEAST / 20) == [1, 0]
