"""Counter-fitting (Mrkšić et al. 2016): vectors moved until synonyms are near, antonyms far, and neighbours still neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from heedful.progress import QUIET, Watcher

Vectors = NDArray[np.float64]
"""[words, size]"""
Pairs = NDArray[np.int64]
"""Rows of a matrix of vectors, two and two: [pairs, 2]."""

_PAIRS = 1 << 13
"""Pairs compared at a time: 20 MB of vectors of size 300."""
_SIMILARITIES = 1 << 24
"""Cosines of all words with a block of them at a time: 64 MB."""
_ROUNDING = 1e-4
"""What single precision may be wrong by, with room to spare: cosines so near the margin are computed again."""


@dataclass(frozen=True)
class CounterfittingOptions:
    """The published settings. Distances are 1 − cosine."""

    antonym_margin: float = 1.0
    """δ: antonyms are pushed apart until they are this far."""
    synonym_margin: float = 0.0
    """γ: synonyms are pulled together until they are this near."""
    neighbour_distance: float = 0.2
    """ρ: words that are nearer than this at first must not go farther apart than they were."""
    antonym_rate: float = 0.1
    synonym_rate: float = 0.1
    neighbour_rate: float = 0.1
    steps: int = 20


PUBLISHED = CounterfittingOptions()


class _Terms(NamedTuple):
    """All pairs of all three terms: the first word of a pair moves, the second pulls or pushes it."""

    pairs: Pairs
    rate: NDArray[np.float64]
    """[pairs], negative where words attract each other."""
    margin: NDArray[np.float64]
    """[pairs], the distance below which words repel each other, or beyond which they attract each other."""


def counterfit(
    vectors: NDArray[np.floating],
    *,
    synonyms: Pairs,
    antonyms: Pairs,
    options: CounterfittingOptions = PUBLISHED,
    watcher: Watcher = QUIET,
) -> Vectors:
    """Give the vectors [words, size] after counter-fitting, by unit length.

    As in the authors' code, a step moves each word by the mean of what its own pairs ask for, not by the sum, all words at
    once, and brings them back to unit length; antonyms are neither synonyms nor neighbours, whatever else says so. Unlike
    there, both words of a pair of neighbours move: a slip in that code (j, j for j, i) held one of them fast.

    >>> east_and_north = np.array([[1.0, 0.2], [0.2, 1.0], [-1.0, 0.1]])
    >>> moved = counterfit(east_and_north, synonyms=np.zeros((0, 2), int), antonyms=np.array([[0, 1]]))
    >>> float(moved[0] @ moved[1]) < 0.01, float(moved[2] @ (-1.0, 0.1)) > 1
    (True, True)
    """
    current = unit(vectors)
    with watcher.bar("Looking for neighbours", len(current), unit="words") as advance:
        found = [_both_ways(pairs) for pairs in (_empty(), synonyms, antonyms)]
        if options.neighbour_rate > 0:
            blocks = []
            for size, block in _neighbours(current, 1 - options.neighbour_distance):
                blocks.append(block)
                advance(size)
            found[0] = _both_ways(np.concatenate([_empty(), *blocks]))
    terms = _terms(current, *found, options=options)
    with watcher.bar("Counter-fitting", options.steps, unit="steps") as advance:
        for _ in range(options.steps):
            current = _step(current, terms)
            advance()
    return current


def unit(vectors: NDArray[np.floating]) -> Vectors:
    """Bring vectors to unit length; those of length 0 stay."""
    exact = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    return exact / np.where(lengths > 0, lengths, 1.0)


def cosines(vectors: Vectors, pairs: Pairs) -> NDArray[np.float64]:
    """Compare words two and two [pairs], by vectors of unit length."""
    blocks = [pairs[first : first + _PAIRS] for first in range(0, len(pairs), _PAIRS)]
    found = [np.einsum("pd,pd->p", vectors[block[:, 0]], vectors[block[:, 1]]) for block in blocks]
    return np.concatenate([np.zeros(0), *found])


def _step(vectors: Vectors, terms: _Terms) -> Vectors:
    """Move every word against the gradient of its active terms."""
    cosine = cosines(vectors, terms.pairs)
    repels = terms.rate > 0
    active = np.where(repels, 1 - cosine < terms.margin, 1 - cosine > terms.margin)
    rate = terms.rate * active
    first, second = terms.pairs.T
    words = len(vectors)
    # The gradient of a pair's cosine by its first word, along the sphere, is v − (u·v) u.
    along = np.bincount(first, weights=rate * cosine, minlength=words)
    others = csr_array((rate, (first, second)), shape=(words, words)) @ vectors
    count = np.bincount(first, weights=active, minlength=words)
    moved = vectors + (vectors * along[:, None] - others) / np.maximum(count, 1)[:, None]
    # Words that nothing moves keep every bit.
    return np.where(count[:, None] > 0, unit(moved), vectors)


def _terms(
    vectors: Vectors, neighbours: Pairs, synonyms: Pairs, antonyms: Pairs, *, options: CounterfittingOptions
) -> _Terms:
    synonyms, neighbours = (_without(pairs, antonyms, len(vectors)) for pairs in (synonyms, neighbours))
    sizes = [len(antonyms), len(synonyms), len(neighbours)]
    margin = [options.antonym_margin, options.synonym_margin, 0.0]
    terms = _Terms(
        np.concatenate([antonyms, synonyms, neighbours]),
        np.repeat([options.antonym_rate, -options.synonym_rate, -options.neighbour_rate], sizes),
        np.repeat(margin, sizes),
    )
    terms.margin[sizes[0] + sizes[1] :] = 1 - cosines(vectors, neighbours)
    return terms


def _neighbours(vectors: Vectors, least: float) -> Iterator[tuple[int, Pairs]]:
    """Give pairs of words with at least that cosine, block by block, each pair once, and how many words a block has."""
    single = vectors.astype(np.float32)
    size = max(1, _SIMILARITIES // max(1, len(single)))
    for first in range(0, len(single), size):
        block = single[first : first + size]
        near = np.argwhere(block @ single[first:].T > least - _ROUNDING) + first
        near = near[near[:, 0] < near[:, 1]]
        # Once more in double precision: what is near must not depend on the block.
        yield len(block), near[cosines(vectors, near) > least]


def _both_ways(pairs: Pairs) -> Pairs:
    """Give every pair in both directions, sorted, each once, and none of a word with itself."""
    pairs = pairs.reshape(-1, 2)
    return np.unique(np.concatenate([pairs, pairs[:, ::-1]])[np.tile(pairs[:, 0] != pairs[:, 1], 2)], axis=0)


def _without(pairs: Pairs, others: Pairs, words: int) -> Pairs:
    return pairs[~np.isin(pairs @ (words, 1), others @ (words, 1))]


def _empty() -> Pairs:
    return np.zeros((0, 2), dtype=np.int64)
