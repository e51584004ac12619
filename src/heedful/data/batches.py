"""Which instances go together: texts of similar length, so that little is padded; the same for the same seed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

# Batches are cut from pools of this many batches, sorted by length: random enough, and almost unpadded.
_POOL = 50

# Tokens in a batch with its padding. A batch of very long texts, or of one among short ones, holds fewer texts,
# so that memory is bounded by the longest text and not by its companions.
MAX_TOKENS = 65_536


def training_batches(
    lengths: NDArray[np.int64], batch_size: int, *, seed: int, epoch: int, max_tokens: int = MAX_TOKENS
) -> list[NDArray[np.int64]]:
    """Shuffle, sort within pools by length, cut, and shuffle the batches. Every row appears once."""
    random = np.random.default_rng([seed, epoch])
    order = random.permutation(len(lengths))
    pool = _POOL * batch_size
    batches: list[NDArray[np.int64]] = []
    for first in range(0, len(order), pool):
        part = order[first : first + pool]
        batches += _cut(part[np.argsort(lengths[part], kind="stable")], lengths, batch_size, max_tokens)
    return [batches[i] for i in random.permutation(len(batches))]


def inference_batches(
    lengths: NDArray[np.int64], batch_size: int, *, max_tokens: int = MAX_TOKENS
) -> list[NDArray[np.int64]]:
    """Cut the rows, sorted by length, into batches.

    >>> [batch.tolist() for batch in inference_batches(np.array([5, 1, 9, 2]), 2, max_tokens=12)]
    [[1, 3], [0], [2]]
    """
    return list(_cut(np.argsort(lengths, kind="stable"), lengths, batch_size, max_tokens))


def _cut(
    order: NDArray[np.int64], lengths: NDArray[np.int64], batch_size: int, max_tokens: int
) -> Iterator[NDArray[np.int64]]:
    """Cut rows that are sorted by length into batches within both bounds; a text alone is always a batch."""
    first = 0
    while first < len(order):
        sizes = lengths[order[first : first + batch_size]] * np.arange(
            1, min(batch_size, len(order) - first) + 1
        )
        last = first + max(1, int(np.searchsorted(sizes, max_tokens, side="right")))
        yield order[first:last]
        first = last
