"""F1 of decisions that were made several times, with an interval over texts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_AT_ONCE = 1 << 21  # counts of drawn texts: 16 MB


def f1_interval(
    labels: NDArray[np.int64],
    said: NDArray[np.int64],
    *,
    classes: int,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[float, float, float]:
    """Mean over draws of the F1 of decisions [texts, draws], and its percentile bootstrap interval over texts.

    F1 is the positive class's (number 1) for two classes and the macro average for more, as in `performance`.

    >>> labels, said = np.array([0, 1, 1, 0]), np.array([[0], [1], [0], [0]])
    >>> round(f1_interval(labels, said, classes=2)[0], 4)
    0.6667
    """
    kinds = np.array([1]) if classes == 2 else np.arange(classes)
    true = (labels[:, None] == kinds)[:, None]  # [texts, 1, kinds]
    found = said[..., None] == kinds  # [texts, draws, kinds]
    # F1 = 2·hits / (said + true): sums over texts, so that a resample is a weighted sum.
    hits = (2.0 * (true & found)).reshape(len(labels), -1)
    both = (true.astype(float) + found).reshape(len(labels), -1)
    random = np.random.default_rng(seed)
    scores = np.empty(resamples)
    size = max(1, _AT_ONCE // len(labels))
    for first in range(0, resamples, size):
        part = scores[first : first + size]
        times = np.stack(
            [np.bincount(random.integers(len(labels), size=len(labels)), minlength=len(labels)) for _ in part]
        ).astype(float)
        part[:] = _mean_f1(times @ hits, times @ both)
    low, high = np.quantile(scores, [(1 - level) / 2, (1 + level) / 2])
    estimate = float(_mean_f1(hits.sum(0, keepdims=True), both.sum(0, keepdims=True))[0])
    # Of few texts the estimate may lie beyond what most resamples reach.
    return estimate, min(float(low), estimate), max(float(high), estimate)


def _mean_f1(hits: NDArray[np.float64], both: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average over draws and kinds; 0 where a kind was neither said nor true."""
    means: NDArray[np.float64] = np.divide(hits, both, out=np.zeros_like(hits), where=both > 0).mean(1)
    return means
