"""Kendall's rank correlation for many short or long rows at once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import factorial
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float64, Shaped
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr
from torch import Tensor

EXACT_ITEMS = 33  # scipy's limit: longer tie-free rows take the normal approximation, except for extreme ones
CHUNK_ITEMS = 1 << 17  # padded items handled together: 1 MB per array, and the counting stays in the cache


class KendallTau(NamedTuple):
    """Correlation per row, and the probability of one as far from 0 between unrelated rankings."""

    tau: Float64[Tensor, " batch"]
    p_value: Float64[Tensor, " batch"]


def kendall_tau(
    x: Shaped[Tensor, "batch items"],
    y: Shaped[Tensor, "batch items"],
    mask: Bool[Tensor, "batch items"] | None = None,
) -> KendallTau:
    """Kendall's τ-b of x and y over the real items of each row, with two-sided p-values.

    Equal to `scipy.stats.kendalltau` called row by row: the p-value is exact for rows without ties of at most
    33 items (or with at most one pair out of order, or in order), otherwise a normal approximation. Both are
    NaN where x or y is constant, has fewer than two items, or holds a NaN: count such rows, and leave them
    out of averages.

    >>> x = torch.tensor([[1.0, 2.0, 3.0, 0.0], [1.0, 2.0, 3.0, 4.0], [5.0, 5.0, 5.0, 5.0]])
    >>> y = torch.tensor([[1.0, 3.0, 2.0, 9.0], [0.1, 0.2, 0.3, 0.4], [1.0, 2.0, 3.0, 4.0]])
    >>> mask = torch.tensor([[True, True, True, False], [True] * 4, [True] * 4])
    >>> tau, p_value = kendall_tau(x, y, mask=mask)
    >>> tau, p_value
    (tensor([0.3333, 1.0000,    nan], dtype=torch.float64), tensor([1.0000, 0.0833,    nan], dtype=torch.float64))
    """
    if x.shape != y.shape or x.ndim != 2 or (mask is not None and mask.shape != x.shape):
        shapes = [tuple(part.shape) for part in (x, y, mask) if part is not None]
        raise ValueError(f"x, y and mask must have one shape [batch, items], not {shapes}")
    real = torch.ones_like(x, dtype=torch.bool) if mask is None else mask
    real_x, real_y = (part.detach()[real].double().cpu().numpy() for part in (x, y))
    lengths = real.sum(1).cpu().numpy()
    starts = lengths.cumsum() - lengths

    tau, p_value = np.full((2, len(lengths)), np.nan)
    for rows in _rows_of_similar_length(lengths):
        steps = np.arange(lengths[rows].max())
        within = steps < lengths[rows, None]
        at = np.where(within, starts[rows, None] + steps, 0)
        tau[rows], p_value[rows] = _correlate(real_x[at], real_y[at], within)
    return KendallTau(torch.from_numpy(tau).to(x.device), torch.from_numpy(p_value).to(x.device))


def _rows_of_similar_length(lengths: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Rows of two or more items, in groups that padding neither inflates much nor lets outgrow the cache."""
    order = np.argsort(lengths, kind="stable")
    ascending = lengths[order]
    start = int(np.searchsorted(ascending, 2))
    while start < len(order):
        longest = max(8, ascending[start] * 3 // 2)
        end = np.searchsorted(ascending, longest, side="right")
        end = min(end, start + max(1, CHUNK_ITEMS // longest))
        yield order[start:end]
        start = int(end)


def _correlate(
    x: NDArray[np.float64], y: NDArray[np.float64], within: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """τ-b and p-values of padded rows [rows, items], by scipy's formulas."""
    items = within.sum(1)
    pairs = items * (items - 1) // 2
    undefined = ((np.isnan(x) | np.isnan(y)) & within).any(1)

    base = within.shape[1] + 1
    x_ranks, y_ranks = _dense_ranks(x, within), _dense_ranks(y, within)
    by_x_then_y = np.sort(x_ranks * base + y_ranks, axis=1)  # padding, of the largest rank in both, goes last
    steps = np.zeros_like(by_x_then_y)
    steps[:, 1:] = by_x_then_y[:, 1:] != by_x_then_y[:, :-1]
    both_ranks = np.where(np.arange(base - 1) < items[:, None], steps.cumsum(1), base - 1)

    x_ties, y_ties, both_ties = _tie_sizes(x_ranks), _tie_sizes(y_ranks), _tie_sizes(both_ranks)
    x_tied, y_tied, both_tied = (_total(t * (t - 1) // 2) for t in (x_ties, y_ties, both_ties))
    discordant = _descents(by_x_then_y % base)
    balance = pairs - x_tied - y_tied + both_tied - 2 * discordant  # concordant − discordant
    undefined |= (x_tied == pairs) | (y_tied == pairs)

    with np.errstate(divide="ignore", invalid="ignore"):  # only in rows that become NaN, or have exact values
        tau = balance / np.sqrt(pairs - x_tied) / np.sqrt(pairs - y_tied)
        m = items * (items - 1.0)
        x_0, y_0 = (_total(t * (t - 1) * (t - 2)) * 1.0 for t in (x_ties, y_ties))
        x_1, y_1 = (_total(t * (t - 1) * (2 * t + 5)) for t in (x_ties, y_ties))
        variance = (m * (2 * items + 5) - x_1 - y_1) / 18 + 2 * x_tied * y_tied / m
        variance += x_0 * y_0 / (9 * m * (items - 2))
        p_value = 2 * ndtr(-np.abs(balance / np.sqrt(variance)))

    fewer = np.minimum(discordant, pairs - discordant)
    exact = (x_tied == 0) & (y_tied == 0) & ((items <= EXACT_ITEMS) | (fewer <= 1)) & ~undefined
    p_value[exact] = _exact_p_values(items[exact], fewer[exact])
    return np.where(undefined, np.nan, tau.clip(-1, 1)), np.where(undefined, np.nan, p_value)


def _total(per_rank: NDArray[np.int64]) -> NDArray[np.int64]:
    summed: NDArray[np.int64] = per_rank.sum(1)
    return summed


def _dense_ranks(values: NDArray[np.float64], within: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Ranks from 0 per row, equal for equal values; padding gets the number of columns."""
    values = np.where(within, values, np.inf)
    order = values.argsort(1)
    ascending = np.take_along_axis(values, order, 1)
    steps = np.zeros(values.shape, np.int64)
    steps[:, 1:] = ascending[:, 1:] != ascending[:, :-1]
    ranks = np.empty_like(steps)
    np.put_along_axis(ranks, order, steps.cumsum(1), 1)
    return np.where(within, ranks, values.shape[1])


def _tie_sizes(ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many real items of each row hold each rank: [rows, columns]."""
    rows, columns = ranks.shape
    cells = ranks + np.arange(rows)[:, None] * (columns + 1)
    return np.bincount(cells.ravel(), minlength=rows * (columns + 1)).reshape(rows, -1)[:, :columns]


def _descents(ranks: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number of pairs i < j with ranks[i] > ranks[j], per row.

    Quadratic in time, but n items cost n passes over small contiguous integers, without n × n memory: faster
    than counting by sorting up to about a thousand items.

    >>> _descents(np.array([[0, 1, 2], [2, 0, 1], [2, 1, 0]]))
    array([0, 2, 3])
    """
    narrow = np.dtype(np.int16 if ranks.shape[1] < 1 << 15 else np.int32)
    columns: NDArray[Any] = ranks.T.astype(narrow, order="C")  # items first: a shift is one contiguous block
    negated = np.zeros_like(columns)
    for shift in range(1, len(columns)):
        difference = columns[shift:] - columns[:-shift]
        difference >>= 8 * narrow.itemsize - 1  # −1 where negative, else 0
        negated[:-shift] += difference
    descents: NDArray[np.int64] = -negated.sum(0, dtype=np.int64)
    return descents


def _exact_p_values(items: NDArray[np.int64], fewer: NDArray[np.int64]) -> NDArray[np.float64]:
    """Two-sided p-values of tie-free rows; `fewer` counts discordant or concordant pairs, the rarer kind."""
    # At most one pair out of order: 2 · 1 / n! and 2 · n / n! (a single swap of neighbours, or none).
    p_value: NDArray[np.float64] = 2 * np.exp(-gammaln(items + 1 - fewer))
    for n in np.unique(items[items <= EXACT_ITEMS]):
        of_n = items == n
        p_value[of_n] = _two_sided(int(n))[fewer[of_n]]
    return p_value


@cache
def _two_sided(n: int) -> NDArray[np.float64]:
    """Probability that a random order of n items has at most c pairs of the rarer kind, for every c."""
    at_most, p_values = 0, []
    for count in _orders_by_discordant_pairs(n)[: n * (n - 1) // 4 + 1]:
        at_most += count
        p_values.append(min(1.0, 2 * at_most / factorial(n)))
    return np.array(p_values)


@cache
def _orders_by_discordant_pairs(n: int) -> tuple[int, ...]:
    """How many of the n! orders have 0, 1, 2, … discordant pairs, in exact integers.

    >>> _orders_by_discordant_pairs(4)
    (1, 3, 5, 6, 5, 3, 1)
    """
    if n == 1:
        return (1,)
    fewer = _orders_by_discordant_pairs(n - 1)
    # The n-th item comes before any 0 to n − 1 of the others.
    return tuple(sum(fewer[max(0, c - n + 1) : c + 1]) for c in range(n * (n - 1) // 2 + 1))
