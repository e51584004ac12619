"""The paired bootstrap: by hand, against plain loops, and what must hold for any numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.measures import resampling
from heedful.measures.performance import performance
from heedful.measures.resampling import difference, f1_of, mean_of, over_seeds, resample, spread


def drawn_rows(texts: int, seed: int, resamples: int) -> np.ndarray:
    """Which texts each resample holds; the first set is thrown away, for the texts as they are come first."""
    return np.random.default_rng(seed).integers(texts, size=(resamples + 1, texts))[1:]


def test_a_mean_by_hand_leaves_out_what_is_missing():
    found = resample([[mean_of(np.array([1.0, np.nan, 4.0]))]], seed=0, resamples=5)
    assert found[0, 0, 0] == 2.5
    assert set(np.round(found[0, 1:, 0], 6)) <= {1.0, 2.0, 2.5, 3.0, 4.0}


def test_a_resample_without_a_value_has_no_mean_and_is_not_counted():
    found = resample([[mean_of(np.array([7.0, np.nan]))]], seed=0, resamples=200)[0, :, 0]
    assert np.isnan(found).any()
    assert spread(found) == (7.0, 7.0, 7.0)
    nothing = resample([[mean_of(np.array([np.nan, np.nan]))]], seed=0, resamples=5)[0, :, 0]
    assert np.isnan(spread(nothing)).all()


def test_means_and_f1_are_those_of_the_drawn_texts():
    random = np.random.default_rng(1)
    texts, resamples = 23, 40
    values = np.where(random.random(texts) < 0.2, np.nan, random.random(texts))
    labels, said = random.integers(2, size=texts), random.integers(2, size=(texts, 3))
    found = resample([[mean_of(values), f1_of(labels, said, classes=2)]], seed=5, resamples=resamples)[0]
    for draw, rows in enumerate(drawn_rows(texts, 5, resamples), start=1):
        assert found[draw, 0] == pytest.approx(np.nanmean(values[rows]), abs=1e-12)
        scores = [performance(labels[rows], np.eye(2)[said[rows, k]])["f1"] for k in range(3)]
        assert found[draw, 1] == pytest.approx(np.mean(scores), abs=1e-12)


def test_f1_of_many_classes_is_the_macro_average():
    random = np.random.default_rng(2)
    labels, said = random.integers(4, size=30), random.integers(3, size=30)  # class 3 is never said
    found = resample([[f1_of(labels, said[:, None], classes=4)]], seed=0, resamples=1)
    assert found[0, 0, 0] == pytest.approx(performance(labels, np.eye(4)[said])["macro_f1"])


def test_f1_of_some_texts_alone():
    labels, said = np.array([1, 1, 0]), np.array([[1], [0], [1]])
    kept = f1_of(labels, said, classes=2, there=np.array([True, False, True]))
    assert resample([[kept]], seed=0, resamples=1)[0, 0, 0] == pytest.approx(2 / 3)


def test_little_memory_gives_the_same_numbers(monkeypatch):
    values = np.random.default_rng(0).random(50)
    whole = resample([[mean_of(values)]], seed=3, resamples=100)
    monkeypatch.setattr(resampling, "_AT_ONCE", 120)
    np.testing.assert_allclose(resample([[mean_of(values)]], seed=3, resamples=100), whole, rtol=1e-12)


@settings(max_examples=20)
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30), st.floats(0.01, 1))
def test_what_is_the_same_but_for_a_shift_differs_by_it_for_sure(values, shift):
    """Unpaired, two spread samples could not be told apart; paired, a constant difference has no spread."""
    one = np.array(values)
    found = resample([[mean_of(one + shift)], [mean_of(one)]], seed=0, resamples=50)
    np.testing.assert_allclose(difference(found[0, :, 0], found[1, :, 0]), shift, rtol=1e-9)
    assert difference(found[1, :, 0], found[1, :, 0]) == (0.0, 0.0, 0.0)


def test_another_model_changes_no_number():
    one, two, three = ([mean_of(np.random.default_rng(i).random(40))] for i in range(3))
    np.testing.assert_array_equal(
        resample([one, two], seed=1, resamples=20), resample([one, two, three], seed=1, resamples=20)[:2]
    )


def test_the_interval_is_about_as_wide_as_theory_says():
    values = np.random.default_rng(0).normal(size=2000)
    found = spread(resample([[mean_of(values)]], seed=0)[0, :, 0])
    assert found.high - found.low == pytest.approx(2 * 1.96 * values.std() / np.sqrt(2000), rel=0.08)
    assert found.low < found.estimate < found.high


def test_seeds_are_averaged_and_drawn_anew():
    flat = np.ones((3, 2001, 1)) * np.array([0.0, 1.0, 5.0])[:, None, None]  # texts do not matter, seeds do
    found = over_seeds(flat, [4, 7, 9], seed=0)[:, 0]
    assert found[0] == 2.0
    assert set(np.round(found * 3).astype(int)) == {
        0,
        1,
        2,
        3,
        5,
        6,
        7,
        10,
        11,
        15,
    }  # every mean of three of them
    low, high = spread(found)[1:]
    assert low < 0.5 and high > 3.6


def test_one_seed_has_the_spread_of_texts_alone():
    values = np.random.default_rng(0).random((1, 50, 2))
    np.testing.assert_array_equal(over_seeds(values, [3], seed=0), values[0])


def test_methods_with_the_same_seeds_stay_pairs_in_any_order():
    base = np.array([0.0, 10.0, 100.0])[:, None, None] * np.ones((3, 500, 1))
    one = over_seeds(base, [0, 1, 2], seed=0)
    other = over_seeds(base[[2, 0, 1]] + 1, [2, 0, 1], seed=0)
    np.testing.assert_allclose(difference(other[:, 0], one[:, 0]), 1.0)
    unlike = over_seeds(base + 1, [5, 6, 7], seed=0)
    assert difference(unlike[:, 0], one[:, 0]).low < 0
