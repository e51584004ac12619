"""How well the nearness of word vectors follows meaning: people's judgements (SimLex), and antonyms among neighbours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from heedful.data.words.counterfitting import Pairs, Vectors, cosines
from heedful.data.words.word_pairs import ScoredPairs

NEAREST = 10
_SIMILARITIES = 1 << 22
"""Cosines computed at a time: 16 MB."""


class SpaceQuality(NamedTuple):
    """Higher is better for the first, lower for the second; None where there is nothing to measure by."""

    simlex: float | None
    """Spearman's ρ of cosines and people's scores."""
    antonyms: float | None
    """Share of antonyms among the ten nearest neighbours of words that have an antonym."""


def space_quality(vectors: Vectors, *, antonyms: Pairs, simlex: ScoredPairs | None) -> SpaceQuality:
    """Measure vectors [words, size] of unit length."""
    rho = None
    if simlex is not None and len(simlex.pairs) > 2:
        rho = float(spearmanr(cosines(vectors, simlex.pairs), simlex.scores).statistic)
    return SpaceQuality(rho, antonym_share(vectors, antonyms) if len(antonyms) else None)


def antonym_share(vectors: Vectors, antonyms: Pairs, *, nearest: int = NEAREST) -> float:
    """Give the share of antonyms among the nearest neighbours of words that have any; a pair counts both ways.

    >>> vectors = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> antonym_share(vectors, np.array([[0, 1]]), nearest=1)  # 0 is nearest to 1, and 1 to 0
    1.0
    >>> antonym_share(vectors, np.array([[0, 2]]), nearest=1)
    0.0
    """
    words = len(vectors)
    opposed = np.unique(np.concatenate([antonyms, antonyms[:, ::-1]]) @ (words, 1))
    own = np.unique(antonyms)
    count = min(nearest, words - 1)
    single = vectors.astype(np.float32)
    size = max(1, _SIMILARITIES // words)
    found = 0
    for first in range(0, len(own), size):
        block = own[first : first + size]
        near = _nearest(single, block, count)
        found += int(np.isin(block[:, None] * words + near, opposed).sum())
    return found / (len(own) * count)


def _nearest(vectors: NDArray[np.float32], block: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    cosine = vectors[block] @ vectors.T
    cosine[np.arange(len(block)), block] = -np.inf  # a word is no neighbour of its own
    return np.argpartition(-cosine, count - 1, axis=1)[:, :count]
