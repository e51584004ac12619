"""Kendall's τ by hand, against scipy row by row, and on the outputs of Jain & Wallace's code."""

from __future__ import annotations

import math
import tracemalloc
from itertools import combinations, permutations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from heedful.measures import correlation
from heedful.measures.correlation import KendallTau, kendall_tau

pytestmark = pytest.mark.filterwarnings(
    "ignore:One or more sample arguments is too small"
)  # scipy's, for one item


def _ragged(rows: list[np.ndarray]) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows padded with NaN, and their mask: nothing may depend on what padding holds."""
    longest = max(len(row) for row in rows)
    values = torch.full((len(rows), longest), math.nan, dtype=torch.float64)
    mask = torch.zeros_like(values, dtype=torch.bool)
    for i, row in enumerate(rows):
        values[i, : len(row)] = torch.from_numpy(np.asarray(row, dtype=np.float64))
        mask[i, : len(row)] = True
    return values, mask


def _agrees_with_scipy(xs: list[np.ndarray], ys: list[np.ndarray]) -> KendallTau:
    (x, mask), (y, _) = _ragged(xs), _ragged(ys)
    found = kendall_tau(x, y, mask=mask)
    reference = [stats.kendalltau(a, b) for a, b in zip(xs, ys, strict=True)]
    np.testing.assert_allclose(found.tau, [r.statistic for r in reference], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.p_value, [r.pvalue for r in reference], rtol=1e-12, atol=1e-300)
    return found


def test_by_hand_without_ties():
    """Of the six pairs of four items, one is discordant; 1 + 3 of 24 orders are as near to perfect."""
    found = kendall_tau(torch.tensor([[1, 2, 3, 4]]), torch.tensor([[1.0, 2.0, 4.0, 3.0]]))
    assert found.tau.item() == pytest.approx(4 / 6)
    assert found.p_value.item() == pytest.approx(2 * 4 / 24)


def test_by_hand_with_ties():
    """x = 1 1 2, y = 1 2 3: two concordant pairs, one tied in x only, so 2 / √(2 · 3)."""
    found = kendall_tau(torch.tensor([[1.0, 1.0, 2.0]]), torch.tensor([[1.0, 2.0, 3.0]]))
    assert found.tau.item() == pytest.approx(2 / math.sqrt(6))


def test_rows_without_a_correlation_are_nan():
    x = torch.tensor([[1.0, 1, 1], [1, 2, 3], [1, 2, 3], [1, 2, 3], [math.nan, 1, 2], [1, 2, 3]])
    y = torch.tensor([[1.0, 2, 3], [5, 5, 5], [1, 2, 3], [1, 2, 3], [1, 2, 3], [1, 3, 2]])
    mask = torch.tensor([[True] * 3, [True] * 3, [True, False, False], [False] * 3, [True] * 3, [True] * 3])
    tau, p_value = kendall_tau(x, y, mask=mask)
    assert tau.isnan().tolist() == p_value.isnan().tolist() == [True, True, True, True, True, False]
    assert tau.dtype == p_value.dtype == torch.float64


def test_no_rows_or_no_items():
    assert kendall_tau(torch.zeros(0, 5), torch.zeros(0, 5)).tau.shape == (0,)
    assert kendall_tau(torch.zeros(2, 0), torch.zeros(2, 0)).tau.isnan().all()


def test_other_shapes_are_refused():
    with pytest.raises(ValueError, match=r"one shape \[batch, items\]"):
        kendall_tau(torch.zeros(2, 3), torch.zeros(2, 4))


@given(st.integers(0, 10**6), st.sampled_from([None, 2, 5, 30]))
def test_equal_to_scipy_on_ragged_rows(seed, levels):
    """Without ties, with few and with many, jointly and apart, at lengths on both sides of the exact limit."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 45, 12)
    xs = [rng.random(n) if levels is None else rng.integers(0, levels, n) for n in lengths]
    ys = [
        x * rng.integers(0, 2) + (rng.random(len(x)) if levels is None else rng.integers(0, 3, len(x)))
        for x in xs
    ]
    _agrees_with_scipy(xs, ys)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 10, 32, 33, 34, 35, 60, 170, 171, 172, 173, 400])
def test_equal_to_scipy_at_and_near_perfect_order(n):
    """One or no pair out of order has an exact p-value at any length; two and more only up to 33 items."""
    x = np.arange(n)
    swaps = [x.copy() for _ in range(3)]
    for y, times in zip(swaps, range(3), strict=True):
        for t in range(min(times, n // 2)):
            y[[2 * t, 2 * t + 1]] = y[[2 * t + 1, 2 * t]]
    ys = [*swaps, *(y[::-1] for y in swaps)]
    _agrees_with_scipy([x] * 6, ys)


@pytest.mark.parametrize("n", [8, 9, 20, 33])
def test_every_exact_p_value_is_scipys(n):
    """One ranking for every number of discordant pairs."""
    ys, y = [], list(range(n))
    for _ in range(n):  # bubble up from sorted to reversed, keeping each stage
        for i in range(n - 1):
            if y[i] < y[i + 1]:
                ys.append(np.array(y))
                y[i], y[i + 1] = y[i + 1], y[i]
    assert len(ys) == n * (n - 1) // 2
    _agrees_with_scipy([np.arange(n)] * len(ys), ys)


def test_infinite_values_are_ranked():
    xs = [np.array([-np.inf, 0, np.inf, np.inf, 3]), np.array([np.inf, 1.0])]
    _agrees_with_scipy(xs, [np.array([2.0, 1, 5, 4, 4]), np.array([1.0, np.inf])])


def test_long_rows_beside_short_ones():
    rng = np.random.default_rng(1)
    lengths = [2000, 3, 700, 2000, 20, 1, 2000]
    xs = [rng.random(n) for n in lengths]
    _agrees_with_scipy(xs, [np.round(x + rng.random(len(x)), 2) for x in xs])


def test_rows_too_long_for_narrow_integers():
    rng = np.random.default_rng(2)
    n = (1 << 15) + 1
    descending = np.zeros((1, n), dtype=np.int64)
    descending[0, :200] = rng.permutation(200) + n
    descending[0, 200:] = np.arange(n - 200) + 2 * n  # only the first 200 are out of order
    first = descending[0, :200]
    expected = sum(a > b for a, b in combinations(first.tolist(), 2))
    # Narrow integers would wrap: these ranks do not fit in 16 bits.
    assert correlation._descents(descending).tolist() == [expected]


def test_exact_distribution_is_that_of_all_orders():
    counted = np.bincount([sum(a > b for a, b in combinations(p, 2)) for p in permutations(range(6))])
    assert correlation._orders_by_discordant_pairs(6) == tuple(counted)


@given(st.integers(0, 10**6))
def test_independent_of_padding_batch_and_order(seed):
    rng = np.random.default_rng(seed)
    x, y = torch.from_numpy(rng.integers(0, 9, (2, 7, 12)) / 8)
    mask = torch.from_numpy(rng.random((7, 12)) < 0.8)
    tau, p_value = kendall_tau(x, y, mask=mask)
    assert ((tau.abs() <= 1) | tau.isnan()).all()
    assert (((p_value >= 0) & (p_value <= 1)) | p_value.isnan()).all()

    def same(other: KendallTau) -> None:
        torch.testing.assert_close(other.tau, tau, rtol=0, atol=0, equal_nan=True)
        torch.testing.assert_close(other.p_value, p_value, rtol=0, atol=0, equal_nan=True)

    items, rows = torch.from_numpy(rng.permutation(12)), torch.from_numpy(rng.permutation(7))
    same(kendall_tau(x[:, items], y[:, items], mask=mask[:, items]))
    same(KendallTau(*(part[rows.argsort()] for part in kendall_tau(x[rows], y[rows], mask=mask[rows]))))
    alone = [kendall_tau(x[i : i + 1], y[i : i + 1], mask=mask[i : i + 1]) for i in range(7)]
    same(KendallTau(*(torch.cat(parts) for parts in zip(*alone, strict=True))))
    same(kendall_tau(x.masked_fill(~mask, math.nan), y.masked_fill(~mask, math.inf), mask=mask))
    same(kendall_tau(x.exp(), 3 * y - 1, mask=mask))  # only the order counts
    for part, swapped in zip((tau, p_value), kendall_tau(y, x, mask=mask), strict=True):
        torch.testing.assert_close(swapped, part, rtol=0, atol=1e-15, equal_nan=True)
    opposite = kendall_tau(-x, y, mask=mask)
    torch.testing.assert_close(-opposite.tau, tau, rtol=0, atol=0, equal_nan=True)


def test_chunks_do_not_show(monkeypatch):
    rng = np.random.default_rng(4)
    (x, mask), (y, _) = (
        _ragged([rng.random(n) for n in range(1, 60)]),
        _ragged([rng.random(n) for n in range(1, 60)]),
    )
    whole = kendall_tau(x, y, mask=mask)
    monkeypatch.setattr(correlation, "CHUNK_ITEMS", 64)
    for part, all_at_once in zip(kendall_tau(x, y, mask=mask), whole, strict=True):
        torch.testing.assert_close(part, all_at_once, rtol=0, atol=0, equal_nan=True)


def test_many_rows_of_very_different_length_need_little_memory():
    """A few rows of 2,000 items among thousands of short ones: [batch, items, items] would take 32 GB."""
    rng = np.random.default_rng(5)
    lengths = rng.integers(2, 30, 4000)
    lengths[:3] = 2000
    mask = torch.arange(2000) < torch.from_numpy(lengths)[:, None]
    x = torch.rand(4000, 2000)
    tracemalloc.start()
    tau = kendall_tau(x, x.flip(0), mask=mask).tau
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert not tau.isnan().any()
    assert peak < 64e6


@pytest.mark.parametrize(("other", "expected"), [("leave one out", 0.2744), ("gradient", 0.1884)])
def test_agreement_of_the_published_model(published, other, expected):
    lengths = torch.from_numpy(published["lengths"]).long()
    mask = torch.arange(int(lengths.max())) < lengths[:, None]
    attention = torch.zeros(mask.shape).masked_scatter(mask, torch.from_numpy(published["attention"]))
    if other == "gradient":
        flat = published["gradient"]
    else:
        flat = np.abs(np.repeat(published["prob"], published["lengths"]) - published["loo_prob"])
    scores = torch.zeros(mask.shape).masked_scatter(mask, torch.from_numpy(flat))
    tau, p_value = kendall_tau(attention, scores, mask=mask)
    assert tau.nanmean().item() == pytest.approx(expected, abs=0.0005)

    ends = lengths.cumsum(0).tolist()
    for i in range(0, len(ends), 25):
        at = slice(ends[i] - int(lengths[i]), ends[i])
        by_scipy = stats.kendalltau(published["attention"][at], flat[at])
        assert tau[i].item() == pytest.approx(by_scipy.statistic, abs=1e-12)
        assert p_value[i].item() == pytest.approx(by_scipy.pvalue, abs=1e-12)
