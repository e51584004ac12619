"""Infidelity by hand, against a search for the best factor, and what must not change it."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import pearsonr

from heedful.measures.infidelity import deletion_correlation, infidelity, random_subsets, subset_sums

numbers = st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=2, max_size=25)


def one(sums, drops, measure=infidelity):
    return measure(*torch.tensor(np.array([[sums], [drops]]), dtype=torch.float64)).item()


def test_by_hand():
    """Scores 0.6, 0.3, 0.1; deleting the first, the second, the first and the third loses 0.5, 0.1, 0.4."""
    scores = torch.tensor([[0.6, 0.3, 0.1]], dtype=torch.float64)
    subsets = torch.tensor([[[1, 0, 0], [0, 1, 0], [1, 0, 1]]], dtype=torch.bool)
    sums = subset_sums(scores, subsets)
    assert sums[0].tolist() == pytest.approx([0.6, 0.3, 0.7])
    # β = (0.30 + 0.03 + 0.28) / (0.36 + 0.09 + 0.49) = 0.61 / 0.94; left: 0.42 − 0.61² / 0.94 of 0.42
    assert one([0.6, 0.3, 0.7], [0.5, 0.1, 0.4]) == pytest.approx(1 - 0.61**2 / 0.94 / 0.42)
    # Means 1.6 / 3 and 1 / 3: Σ xy = 0.61 − 3 · 1.6 / 9, Σ x² = 0.94 − 2.56 / 3, Σ y² = 0.42 − 1 / 3
    r = (0.61 - 1.6 / 3) / math.sqrt((0.94 - 2.56 / 3) * (0.42 - 1 / 3))
    assert one([0.6, 0.3, 0.7], [0.5, 0.1, 0.4], deletion_correlation) == pytest.approx(r)


@given(numbers)
def test_the_factor_is_the_best_there_is(pairs):
    sums, drops = np.array(pairs).T
    assume(np.abs(drops).max() > 1e-3 and np.abs(sums).max() > 1e-3)
    power = np.square(drops).mean()

    def left(factor):
        return np.square(factor * sums - drops).mean() / power

    highest = 2 * np.abs(drops).max() * len(sums) / np.abs(sums).max()
    found = minimize_scalar(left, bounds=(0, highest), method="bounded", options={"xatol": 1e-10 * highest})
    best = min(found.fun, left(0.0))
    assert one(sums, drops) == pytest.approx(best, abs=1e-6)


@given(numbers, st.floats(1e-6, 1e6), st.floats(1e-3, 1e3))
def test_units_do_not_matter_and_bounds_hold(pairs, factor, other):
    sums, drops = np.array(pairs).T
    assume(np.abs(drops).max() > 1e-3)
    value = one(sums, drops)
    assert 0 <= value <= 1
    assert one(factor * sums, other * drops) == pytest.approx(value, abs=1e-9)
    assert one(sums[::-1].copy(), drops[::-1].copy()) == pytest.approx(value, abs=1e-9)
    r = one(sums, drops, deletion_correlation)
    if np.ptp(sums) > 1e-3 and np.ptp(drops) > 1e-3:
        assert r == pytest.approx(pearsonr(sums, drops).statistic, abs=1e-6)
        assert one(factor * sums, other * drops, deletion_correlation) == pytest.approx(r, abs=1e-9)


def test_extremes():
    """Proportional, opposite, silent and blind scores; and texts where nothing happens, or always the same."""
    drops = [0.3, 0.1, -0.2]
    assert one(drops, drops) == pytest.approx(0, abs=1e-15)
    assert one([-d for d in drops], drops) == 1
    assert one([0.0, 0.0, 0.0], drops) == 1
    assert one([1e-200 * d for d in drops], drops) == pytest.approx(0, abs=1e-15)
    assert one([1.0, 1.0, 1.0], drops) == pytest.approx(1 - (0.2 / 3) ** 2 / (0.14 / 3))
    assert math.isnan(one(drops, [0.0, 0.0, 0.0]))
    for constant in ([0.4, 0.4, 0.4], [0.0, 0.0, 0.0], [0.1 + 0.2, 0.3, 0.3]):
        assert math.isnan(one(constant, drops, deletion_correlation))
        assert math.isnan(one(drops, constant, deletion_correlation))
    assert math.isnan(one([math.nan, 1.0, 1.0], drops))


def test_rows_and_padding_stand_alone():
    generator = torch.Generator().manual_seed(0)
    scores, drops = torch.rand(4, 6, generator=generator), torch.randn(4, 5, generator=generator)
    subsets = torch.rand(4, 5, 6, generator=generator) < 0.5
    mask = torch.arange(6) < torch.tensor([6, 3, 2, 5])[:, None]
    garbage = scores.masked_fill(~mask, torch.nan)
    together = infidelity(subset_sums(garbage, subsets, mask), drops)
    for row, length in enumerate(mask.sum(1).tolist()):
        alone = infidelity(
            subset_sums(scores[[row], :length], subsets[[row], :, :length]), drops[[row]]
        ).item()
        assert together[row].item() == pytest.approx(alone, abs=1e-12)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 7])
def test_every_subset_of_every_size_up_to_half_comes_up_as_often_as_it_should(length):
    count = 400
    rows = torch.arange(10, 10 + count)
    drawn = random_subsets(rows, torch.full((count,), length), subsets=20, seed=3, draw=5)
    assert drawn.shape == (count, 20, length)
    sizes = range(1, max(1, length // 2) + 1)
    expected = {
        chosen: 1 / len(sizes) / math.comb(length, size)
        for size in sizes
        for chosen in combinations(range(length), size)
    }
    seen = Counter(tuple(subset.nonzero()[:, 0].tolist()) for subset in drawn.flatten(0, 1))
    assert set(seen) == set(expected)
    for chosen, share in expected.items():
        spread = math.sqrt(share * (1 - share) / (20 * count))
        assert seen[chosen] / (20 * count) == pytest.approx(share, abs=5 * spread + 1e-12)


def test_subsets_belong_to_their_instance():
    rows, lengths = torch.tensor([3, 11, 4]), torch.tensor([5, 9, 2])
    together = random_subsets(rows, lengths, subsets=8, seed=1, draw=7)
    for place, length in enumerate(lengths.tolist()):
        alone = random_subsets(rows[[place]], lengths[[place]], subsets=8, seed=1, draw=7)
        assert torch.equal(together[place, :, :length], alone[0])
        assert not together[place, :, length:].any()
    fewer = random_subsets(rows, lengths, subsets=3, seed=1, draw=7)
    assert torch.equal(fewer, together[:, :3])
    assert not torch.equal(random_subsets(rows, lengths, subsets=8, seed=2, draw=7), together)
    assert not torch.equal(random_subsets(rows, lengths, subsets=8, seed=1, draw=70), together)
