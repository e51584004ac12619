"""Texts drawn anew for all models together, and seeds for each method: the paired, hierarchical bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray

RESAMPLES = 2000
_LEVEL = 0.95
_AT_ONCE = 1 << 21  # counts of drawn texts: 16 MB
_ROUNDING = 1e-12
"""Differences below this share of either number are rounding: sums of the same texts in another order."""

Draws = Float[np.ndarray, " draws"]
"""A number of the texts as they are, and then of every resample."""


class Ratio(NamedTuple):
    """A number as sums over texts: the mean over parts of Σ top / Σ bottom. A mean and F1 are both of this kind."""

    top: Float[np.ndarray, "texts parts"]
    bottom: Float[np.ndarray, "texts parts"]
    empty: float
    """What a part is worth where its bottom is zero."""


class Spread(NamedTuple):
    """A number with its 95 % interval."""

    estimate: float
    low: float
    high: float


def mean_of(values: Float[np.ndarray, " texts"]) -> Ratio:
    """The mean over the texts that have a value."""
    there = ~np.isnan(values)
    return Ratio(np.where(there, values, 0.0)[:, None], there.astype(float)[:, None], np.nan)


def f1_of(
    labels: Int[np.ndarray, " texts"],
    said: Int[np.ndarray, "texts draws"],
    *,
    classes: int,
    there: Bool[np.ndarray, " texts"] | None = None,
) -> Ratio:
    """F1 of the positive class (number 1) of two, and the macro average of more, as in `performance`."""
    kinds = np.array([1]) if classes == 2 else np.arange(classes)
    true = (labels[:, None] == kinds)[:, None]
    found = said[..., None] == kinds
    hits = (2.0 * (true & found)).reshape(len(labels), -1)
    both = (true.astype(float) + found).reshape(len(labels), -1)
    kept = np.ones(len(labels)) if there is None else there.astype(float)
    return Ratio(hits * kept[:, None], both * kept[:, None], 0.0)


def resample(
    models: Sequence[Sequence[Ratio]], *, seed: int, resamples: int = RESAMPLES
) -> Float[np.ndarray, "models draws numbers"]:
    """Every number of every model, of the texts as they are and of resamples, which are the same for all models.

    >>> same = [mean_of(np.array([0.0, 1.0]))]
    >>> found = resample([same, same], seed=0)
    >>> found.shape, bool((found[0] == found[1]).all())
    ((2, 2001, 1), True)
    """
    texts = len(models[0][0].top)
    stacked = [_stack(numbers) for numbers in models]
    parts = [0, *np.cumsum([ratio.top.shape[1] for ratio in models[0]])]
    found = np.empty((len(models), resamples + 1, len(models[0])))
    random = np.random.default_rng(seed)
    size = max(1, _AT_ONCE // max(texts, 1))
    for first in range(0, resamples + 1, size):
        last = min(first + size, resamples + 1)
        times = _times(texts, last - first, random)
        if first == 0:
            times[0] = 1.0  # the texts as they are
        for place, (top, bottom, empty) in enumerate(stacked):
            sums = times @ bottom
            values = np.divide(
                times @ top, sums, out=np.broadcast_to(empty, sums.shape).copy(), where=sums > 0
            )
            for number, (start, stop) in enumerate(pairwise(parts)):
                found[place, first:last, number] = values[:, start:stop].mean(1)
    return found


def over_seeds(
    values: Float[np.ndarray, "models draws numbers"], seeds: Sequence[int], *, seed: int
) -> Float[np.ndarray, "draws numbers"]:
    """The mean over the models of a method, whose seeds are drawn anew with the texts.

    Methods with the same seeds draw the same ones: a model that started from another of its seed stays its pair.
    """
    order = np.argsort(seeds, kind="stable")
    draws = values.shape[1]
    chosen = np.random.default_rng([seed, *sorted(seeds)]).integers(len(values), size=(draws, len(values)))
    chosen[0] = np.arange(len(values))
    drawn: NDArray[np.float64] = values[order[chosen], np.arange(draws)[:, None]].mean(1)
    return drawn


def spread(draws: Draws) -> Spread:
    """A number and its percentile interval; NaN where no text defines it."""
    estimate = float(draws[0])
    if np.isnan(estimate):
        return Spread(np.nan, np.nan, np.nan)
    ends = np.nanquantile(draws[1:], [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    # Of few texts the estimate may lie beyond what most resamples reach.
    return Spread(estimate, min(float(ends[0]), estimate), max(float(ends[1]), estimate))


def difference(one: Draws, other: Draws) -> Spread:
    """How much larger a number is than another of the same texts, draw by draw."""
    apart = one - other
    apart[np.abs(apart) <= _ROUNDING * np.maximum(np.abs(one), np.abs(other))] = 0.0
    return spread(apart)


def _stack(
    numbers: Sequence[Ratio],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    empty = np.concatenate([np.full(ratio.top.shape[1], ratio.empty) for ratio in numbers])
    return (
        np.concatenate([ratio.top for ratio in numbers], axis=1),
        np.concatenate([ratio.bottom for ratio in numbers], axis=1),
        empty,
    )


def _times(texts: int, draws: int, random: np.random.Generator) -> NDArray[np.float64]:
    """How often each text is drawn, of as many draws as there are texts."""
    places = random.integers(texts, size=(draws, texts)) + texts * np.arange(draws)[:, None]
    return np.bincount(places.ravel(), minlength=draws * texts).reshape(draws, texts).astype(float)
