"""AtteFa: how hard it is to predict as a model does while attending elsewhere; and the score of who reads nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


def attefa(tvd: Values, scaled_jsd: Values) -> float:
    """Mean TVD over mean scaled JSD, at most 1 (Equation 7). Without any other attention it is 1 by definition.

    TVD is over all classes, so it lies in [0, 1] as AtteFa's TVD / 0.5 does for two; JSD is over ln 2.

    >>> attefa(np.array([0.1, 0.3]), np.array([1.0, 0.6]))
    0.25
    >>> attefa(np.array([0.0]), np.array([0.0]))
    1.0
    """
    apart = float(scaled_jsd.mean())
    return min(float(tvd.mean()) / apart, 1.0) if apart > 0 else 1.0


def attefa_interval(
    tvd: Values, scaled_jsd: Values, *, level: float = 0.95, resamples: int = 1000, seed: int = 0
) -> tuple[float, float]:
    """Bootstrap interval of the mean AtteFa over seeds; texts and seeds [texts, seeds] are both drawn anew."""
    draws = attefa_draws(tvd, scaled_jsd, resamples=resamples, seed=seed)
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def attefa_draws(tvd: Values, scaled_jsd: Values, *, resamples: int = 1000, seed: int = 0) -> Values:
    """Mean AtteFa over seeds, once for each time that texts and seeds [texts, seeds] are drawn anew."""
    random = np.random.default_rng(seed)
    texts, seeds = tvd.shape
    means = np.empty(resamples)
    for draw in range(resamples):
        counts = np.bincount(random.integers(texts, size=texts), minlength=texts) / texts
        chosen = random.integers(seeds, size=seeds)
        apart = counts @ scaled_jsd[:, chosen]
        ratios = np.where(apart > 0, (counts @ tvd[:, chosen]) / np.maximum(apart, 1e-300), 1.0)
        means[draw] = np.minimum(ratios, 1.0).mean()
    return means


def blind_tvd(chances: NDArray[np.float64]) -> float:
    """Mean TVD to a model's predictions [texts, classes] of the best prediction that is the same for every text.

    It is what a twin reaches without reading: near 0 for a model that says the same of all texts, and one half for
    one that is sure of two classes equally often. For two classes the best one is the median; for more, the best
    of the median, the mean and every single class is taken.

    >>> blind_tvd(np.array([[1.0, 0.0], [0.0, 1.0]])), blind_tvd(np.array([[0.5, 0.5], [0.5, 0.5]]))
    (0.5, 0.0)
    """
    median = np.median(chances, axis=0)
    candidates = [median / median.sum(), chances.mean(0)] if median.sum() > 0 else [chances.mean(0)]
    candidates += list(np.eye(chances.shape[1]))
    return min(float(np.abs(chances - c).sum(1).mean() / 2) for c in candidates)
