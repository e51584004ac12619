"""AtteFa: how hard it is to predict as a model does while attending elsewhere; and the score of a predictor that reads nothing."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from heedful.measures.resampling import Spread, over_seeds

Values = NDArray[np.float64]
LEAST_BLIND = 1e-12
"""A model that says the same of every text is imitated without reading, and divides nothing."""


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


def attefa_draws(
    tvd: Float[np.ndarray, "texts seeds"],
    scaled_jsd: Float[np.ndarray, "texts seeds"],
    probabilities: Float[np.ndarray, "texts classes"] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Float[np.ndarray, "seeds draws"]:
    """AtteFa of every seed, of the texts as they are and then of texts drawn anew.

    With the model's own `probabilities` it is the corrected score: TVD over that of a predictor that reads nothing,
    on the same texts in every draw, since that reference is no more certain than what it is compared with.

    >>> attefa_draws(np.array([[0.2], [0.4]]), np.ones((2, 1)), np.eye(2), resamples=0)
    array([[0.6]])
    """
    random = np.random.default_rng(seed)
    texts, seeds = tvd.shape
    drawn = np.empty((seeds, resamples + 1))
    for draw in range(resamples + 1):
        rows = random.integers(texts, size=texts) if draw else np.arange(texts)
        counts = np.bincount(rows, minlength=texts) / texts
        scale = 1.0 if probabilities is None else max(blind_tvd(probabilities[rows]), LEAST_BLIND)
        apart = counts @ scaled_jsd
        ratios = np.where(apart > 0, (counts @ tvd) / scale / np.maximum(apart, 1e-300), 1.0)
        drawn[:, draw] = np.minimum(ratios, 1.0)
    return drawn


def attefa_spread(*groups: Float[np.ndarray, "seeds draws"]) -> Spread:
    """Mean AtteFa over seeds, or over bases of the mean of their seeds, with an interval that ends where the score does."""
    estimate, low, high = over_seeds(*groups)
    return Spread(estimate, float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1)))


def blind_tvd(probabilities: NDArray[np.float64]) -> float:
    """Mean TVD to a model's predictions [texts, classes] of the best prediction that is the same for every text.

    It is what a twin reaches without reading: near 0 for a model that says the same of all texts, and one half for
    one that is sure of two classes equally often. For two classes the best one is the median; for more, the best
    of the median, the mean and every single class is taken.

    >>> blind_tvd(np.array([[1.0, 0.0], [0.0, 1.0]])), blind_tvd(np.array([[0.5, 0.5], [0.5, 0.5]]))
    (0.5, 0.0)
    """
    median = np.median(probabilities, axis=0)
    candidates = (
        [median / median.sum(), probabilities.mean(0)] if median.sum() > 0 else [probabilities.mean(0)]
    )
    candidates += list(np.eye(probabilities.shape[1]))
    return min(float(np.abs(probabilities - c).sum(1).mean() / 2) for c in candidates)
