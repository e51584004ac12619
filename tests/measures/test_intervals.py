"""Bootstrap intervals by hand, against scipy's bootstrap, and what must hold for any values."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from heedful.measures.intervals import Interval, _resampled_medians, bootstrap_interval

FINITE = st.floats(-1e6, 1e6).map(lambda v: round(v, 3))


def test_mean_of_a_coin_by_hand():
    """Of four fair draws none or all succeed with probability 1/16 each, more than the 2.5 % cut off."""
    assert bootstrap_interval(np.array([0.0, 1.0, 1.0, 0.0])) == Interval(0.5, 0.0, 1.0, 4, 0)
    assert bootstrap_interval(np.array([0.0, 1.0, 1.0, 0.0]), level=0.8) == Interval(0.5, 0.25, 0.75, 4, 0)


def test_median_of_three_by_hand():
    """The median of a resample is the least value with probability 7/27: at least two of three draws."""
    values = torch.tensor([1.0, 5.0, 2.0])
    assert bootstrap_interval(values, statistic="median", level=0.6) == Interval(2.0, 1.0, 5.0, 3, 0)
    assert bootstrap_interval(values, statistic="median", level=0.4) == Interval(2.0, 2.0, 2.0, 3, 0)


def test_median_of_two_by_hand():
    """A quarter of the resamples is 0 0, a quarter 1 1, and half is mixed."""
    values = np.array([0.0, 1.0])
    assert bootstrap_interval(values, statistic="median", level=0.4) == Interval(0.5, 0.5, 0.5, 2, 0)
    assert bootstrap_interval(values, statistic="median", level=0.6) == Interval(0.5, 0.0, 1.0, 2, 0)


@pytest.mark.parametrize("statistic", ["mean", "median"])
@pytest.mark.parametrize("n", [30, 31])
def test_agrees_with_scipy(statistic, n):
    values = np.random.default_rng(n).gamma(2.0, size=n)
    found = bootstrap_interval(values, statistic=statistic, resamples=20000)
    function = {"mean": np.mean, "median": np.median}[statistic]
    reference = stats.bootstrap(
        (values,), function, n_resamples=20000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    assert found.estimate == pytest.approx(function(values))
    # Two bootstraps differ by chance: about 1 % of the interval's width at this number of resamples.
    near = 0.05 * (reference.high - reference.low)
    assert found.low == pytest.approx(reference.low, abs=near)
    assert found.high == pytest.approx(reference.high, abs=near)


def test_the_distribution_of_resampled_medians_is_the_drawn_one():
    for n in (4, 5):
        ordered = np.arange(float(n)) ** 2
        rng = np.random.default_rng(0)
        quick = _resampled_medians(ordered, resamples=100_000, rng=rng)
        every = np.array(np.meshgrid(*[ordered] * n)).reshape(n, -1)  # all nⁿ resamples
        values, counts = np.unique(np.median(every, axis=0), return_counts=True)
        shares = (quick[:, None] == values).mean(0)
        assert shares.sum() == pytest.approx(1)
        np.testing.assert_allclose(shares, counts / counts.sum(), atol=0.008)  # five standard errors


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    found = [bootstrap_interval(rng.normal(size=60), resamples=300, seed=i) for i in range(400)]
    covered = np.mean([interval.low <= 0 <= interval.high for interval in found])
    assert 0.90 < covered < 0.98


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_equal_values_and_no_values(statistic):
    found = bootstrap_interval(np.full(7, 0.1), statistic=statistic)
    assert found == Interval(0.1, 0.1, 0.1, 7, 0)
    nothing = bootstrap_interval(torch.tensor([math.nan, math.nan]), statistic=statistic)
    assert all(math.isnan(number) for number in nothing[:3])
    assert (nothing.count, nothing.missing) == (0, 2)
    assert bootstrap_interval(np.array([])).count == 0


@pytest.mark.parametrize(
    ("values", "options", "sentence"),
    [
        ([1.0, 2.0], {"level": 95}, "level must lie between 0 and 1"),
        ([1.0, 2.0], {"resamples": 0}, "resamples must be at least 1"),
        ([1.0, 2.0], {"statistic": "mode"}, "statistic must be mean or median"),
        ([1.0, math.inf], {}, "finite"),
        ([[1.0, 2.0]], {}, "one axis"),
    ],
)
def test_what_has_no_answer_is_refused(values, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        bootstrap_interval(np.array(values), **options)


@given(
    st.lists(FINITE, min_size=1, max_size=30),
    st.integers(0, 4),
    st.sampled_from(["mean", "median"]),
    st.randoms(use_true_random=False),
)
def test_bounds_order_seed_and_missing_values(values, missing, statistic, random):
    def interval(of: list[float], **options: int) -> Interval:
        return bootstrap_interval(np.array(of), statistic=statistic, resamples=50, **options)

    found = interval(values)
    slack = 1e-9
    assert min(values) - slack <= found.low <= found.high <= max(values) + slack
    assert min(values) - slack <= found.estimate <= max(values) + slack
    assert (
        found
        == interval(values)
        == bootstrap_interval(torch.tensor(values, dtype=torch.float64), statistic=statistic, resamples=50)
    )
    mixed = values + [math.nan] * missing
    random.shuffle(mixed)
    assert interval(mixed) == found._replace(missing=missing)


def test_a_higher_level_is_wider_and_another_seed_differs():
    values = np.random.default_rng(3).random(50)
    narrow, wide = bootstrap_interval(values, level=0.5), bootstrap_interval(values, level=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high
    assert bootstrap_interval(values, seed=1) != bootstrap_interval(values, seed=2)


def test_many_values_need_little_memory():
    values = np.random.default_rng(0).random(25_000)
    tracemalloc.start()
    found = bootstrap_interval(values)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6
    half_width = 1.96 * values.std() / math.sqrt(len(values))
    assert (found.high - found.low) / 2 == pytest.approx(half_width, rel=0.1)
