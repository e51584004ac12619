"""How certain an average over many instances is: the percentile bootstrap. For a few models, see `resampling`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

DRAWS_AT_ONCE = 1 << 21  # indices and values of 8 bytes each: 32 MB


class Interval(NamedTuple):
    """A statistic of `count` values with its interval; `missing` values were NaN and left out."""

    estimate: float
    low: float
    high: float
    count: int  # type: ignore[assignment]  # hides tuple.count, which is not needed here
    missing: int


def bootstrap_interval(
    values: Float[Tensor, " n"] | NDArray[np.floating],
    *,
    statistic: Literal["mean", "median"] = "mean",
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Mean or median of the values, and the percentile bootstrap interval over instances.

    NaN values are left out and counted. The same values in any order give the same interval. Without values
    all three numbers are NaN; with equal ones they are that value.

    >>> import torch
    >>> bootstrap_interval(torch.tensor([0.0, 0.0, 1.0, 1.0, float("nan")]))
    Interval(estimate=0.5, low=0.0, high=1.0, count=4, missing=1)
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, not {level}")
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, not {resamples}")
    given = values.detach().cpu().double().numpy() if isinstance(values, Tensor) else values
    given = np.asarray(given, dtype=np.float64)
    if given.ndim != 1 or np.isinf(given).any():
        raise ValueError("a bootstrap interval needs one axis of finite (or missing, NaN) values")
    ordered = np.sort(given[~np.isnan(given)])
    count = len(ordered)
    missing = len(given) - count
    if count == 0:
        return Interval(np.nan, np.nan, np.nan, count, missing)
    if ordered[0] == ordered[-1]:
        same = float(ordered[0])
        return Interval(same, same, same, count, missing)

    if statistic == "mean":
        estimate, resampled = ordered.mean(), _resampled_means(ordered, resamples=resamples, seed=seed)
    elif statistic == "median":
        estimate, resampled = (
            np.median(ordered),
            _resampled_medians(ordered, resamples=resamples, rng=np.random.default_rng(seed)),
        )
    else:
        raise ValueError(f"statistic must be mean or median, not {statistic!r}")
    low, high = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(estimate), float(low), float(high), count, missing)


def _resampled_means(ordered: NDArray[np.float64], *, resamples: int, seed: int) -> NDArray[np.float64]:
    means = np.empty(resamples)
    first = 0
    for drawn in _draws(len(ordered), resamples, seed):
        means[first : first + len(drawn)] = ordered[drawn].mean(1)
        first += len(drawn)
    return means


def _draws(count: int, resamples: int, seed: int) -> Iterable[NDArray[np.int64]]:
    """Give which values each resample takes, a block of resamples at a time."""
    at_once = max(1, DRAWS_AT_ONCE // count)
    if at_once >= resamples:
        return (_drawn_before(count, resamples, seed),)
    rng = np.random.default_rng(seed)
    sizes = (min(at_once, resamples - first) for first in range(0, resamples, at_once))
    return (rng.integers(count, size=(size, count)) for size in sizes)


@lru_cache(maxsize=2)
def _drawn_before(count: int, resamples: int, seed: int) -> NDArray[np.int64]:
    """The numbers of an audit are averages over the same texts: to draw takes longer than to average."""
    return np.random.default_rng(seed).integers(count, size=(resamples, count))


def _resampled_medians(
    ordered: NDArray[np.float64], *, resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Medians of resamples, without drawing the rest of each.

    A resample takes the values at ⌊count · u⌋ for `count` uniform u, and sorting commutes with that; so only
    the middle order statistics of the u are needed, which are beta distributed.
    """
    count = len(ordered)
    middle = (count + 1) // 2  # the lower middle, counted from 1
    lower = rng.beta(middle, count - middle + 1, size=resamples)
    upper = lower
    if count % 2 == 0:  # the next of the count − middle larger ones is the least of that many uniforms
        upper = lower + (1 - lower) * rng.beta(1, count - middle, size=resamples)
    at = np.minimum((np.stack([lower, upper]) * count).astype(np.int64), count - 1)
    medians: NDArray[np.float64] = ordered[at].mean(0)
    return medians
