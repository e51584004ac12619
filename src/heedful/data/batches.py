"""Which instances go together: texts of like length, so that little is padded; the same for the same seed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Batches are cut from pools of this many batches, sorted by length: random enough, and almost unpadded.
_POOL = 50


def training_batches(
    lengths: NDArray[np.int64], batch_size: int, *, seed: int, epoch: int
) -> list[NDArray[np.int64]]:
    """Shuffle, sort within pools by length, cut, and shuffle the batches. Every row appears once."""
    random = np.random.default_rng([seed, epoch])
    order = random.permutation(len(lengths))
    pool = _POOL * batch_size
    batches = []
    for first in range(0, len(order), pool):
        part = order[first : first + pool]
        part = part[np.argsort(lengths[part], kind="stable")]
        batches += [part[i : i + batch_size] for i in range(0, len(part), batch_size)]
    return [batches[i] for i in random.permutation(len(batches))]


def inference_batches(
    lengths: NDArray[np.int64], batch_size: int, *, max_tokens: int = 65_536
) -> list[NDArray[np.int64]]:
    """Cut the rows, sorted by length, into batches that hold at most `max_tokens` with their padding.

    A text longer than that is a batch of its own, so memory is bounded by the longest text.

    >>> [batch.tolist() for batch in inference_batches(np.array([5, 1, 9, 2]), 2, max_tokens=12)]
    [[1, 3], [0], [2]]
    """
    order = np.argsort(lengths, kind="stable")
    batches, first = [], 0
    while first < len(order):
        last = first + 1
        while (
            last < min(first + batch_size, len(order))
            and lengths[order[last]] * (last + 1 - first) <= max_tokens
        ):
            last += 1
        batches.append(order[first:last])
        first = last
    return batches
