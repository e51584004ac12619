"""Groups of similar words: those whose vectors lie near each other (k-means)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heedful.data.words.vectors import read_vectors
from heedful.errors import BadInput


def similar_words(
    words: Sequence[str], *, source: str, groups: int, seed: int
) -> tuple[NDArray[np.int64], int]:
    """Give every word the number of its group, from 1, and say how many have one; words without a vector have 0."""
    from sklearn.cluster import KMeans

    vectors, known = read_vectors(source, words)
    if known.sum() < groups:
        raise BadInput(
            f"{source} knows {known.sum()} of the words, which are fewer than {groups} groups: choose fewer --mask-groups, or other --mask-vectors."
        )
    numbers = np.zeros(len(words), dtype=np.int64)
    numbers[known] = 1 + KMeans(groups, n_init=1, random_state=seed).fit_predict(vectors[known])
    return numbers, int(known.sum())
