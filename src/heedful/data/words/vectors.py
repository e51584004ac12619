"""Pretrained word vectors as the first values of an embedding matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heedful.data.fetch import assets
from heedful.data.words.vector_files import read_vector_file
from heedful.errors import BadInput, did_you_mean
from heedful.progress import QUIET, Watcher

_LENGTH = 2.0
"""About how long drawn vectors are, of whatever size, where there are no pretrained ones to follow.

Measured: much longer ones (a normal distribution of deviation 1) cost five points of accuracy on Rotten
Tomatoes, much shorter ones keep bAbI from being learnt for many epochs.
"""


class InitialEmbeddings(NamedTuple):
    """The first values of an embedding matrix, float32 [words, size], and how many words a source covers."""

    matrix: NDArray[np.float32]
    covered: int


def read_vectors(
    source: str, words: Sequence[str], *, watcher: Watcher = QUIET
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Give the vectors of `words` [n, size], zeros where there is none, and which words were found [n].

    `source` is the name of vectors that can be fetched, or the path of a file (see `read_vector_file`). A
    word that the source does not hold as it is written is looked up in lower case.
    """
    path = locate_vectors(source, watcher=watcher)
    with watcher.status("Looking up word vectors"):
        rows, known = read_vector_file(path, {*words, *(word.lower() for word in words)})
    places = [rows.get(word, rows.get(word.lower(), -1)) for word in words]
    found = np.array(places, dtype=np.int64) >= 0
    if words and not found.any():
        raise BadInput(
            f"The vectors {source} cover none of the {len(words)} words: is it for another language?"
        )
    matrix = np.zeros((len(words), known.shape[1]), dtype=np.float32)
    matrix[found] = known[[place for place in places if place >= 0]]
    return matrix, found


def initial_embeddings(
    words: Sequence[str],
    *,
    source: str | None,
    size: int,
    seed: int,
    watcher: Watcher = QUIET,
) -> InitialEmbeddings:
    """Give one vector for each word: from the source where it has one, else drawn at random.

    Words that are not covered are drawn from a normal distribution with the mean and standard deviation, in
    each dimension, of those that are: at another scale, rare words would stand out. Without a source the mean
    is 0 and the deviation such that vectors are about 2 long. What a word is given depends on the seed and its position alone. The first
    word is the padding, and stays zero. `size` counts only without a source: a source has its own.
    """
    vectors, found = (
        np.zeros((len(words) - 1, size), dtype=np.float32),
        np.zeros(len(words) - 1, dtype=np.bool_),
    )
    if source is not None:
        vectors, found = read_vectors(source, words[1:], watcher=watcher)
    known = vectors[found]
    mean = known.mean(axis=0) if len(known) else 0.0
    spread = known.std(axis=0) if len(known) > 1 else _LENGTH / math.sqrt(vectors.shape[1])
    # Drawn for every position, also where it is not needed, so that no draw depends on what is covered.
    drawn = mean + spread * np.random.default_rng(seed).standard_normal(vectors.shape, dtype=np.float32)
    filled = np.where(found[:, None], vectors, drawn).astype(np.float32)
    padding = np.zeros((1, vectors.shape[1]), dtype=np.float32)
    return InitialEmbeddings(np.concatenate([padding, filled]), int(found.sum()))


def locate_vectors(source: str, *, watcher: Watcher = QUIET) -> Path:
    """Give the vector file that a name or a path stands for, fetching it if need be."""
    known = {name: asset for name, asset in assets.assets().items() if asset.kind == "vectors"}
    if source in known:
        return assets.get(source, watcher=watcher) / known[source].members[0]
    path = Path(source).expanduser()
    if not path.exists() and path.name == source and not path.suffix:
        raise BadInput(
            f"There are no vectors named {source!r}, and no such file: {did_you_mean(source, known)}"
        )
    return path
