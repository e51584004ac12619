"""The nearest synonym of a word: from a file of synonyms, or the nearest word by its vector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.data.fetch import assets
from heedful.data.words.inflection import inflected, replaceable
from heedful.data.words.synonym_files import is_synonym_file, read_synonym_file
from heedful.data.words.vectors import read_vectors
from heedful.errors import BadInput

Replacements = Mapping[str, str]
"""A word in lower case → its synonym, as the model knows it."""

_NEAREST = 32
"""Neighbours of a word that are looked at: the first that is not a form of the word is its synonym."""
_SIMILARITIES = 1 << 22
"""Similarities computed at a time: 16 MB."""


def find_synonyms(source: str, words: Iterable[str], known: Sequence[str]) -> dict[str, str]:
    """Give the synonyms that a source holds for `words`, none of them an inflection of the word itself.

    `source` names vectors that can be fetched, or a file: of vectors (see `read_vector_file`) or of synonyms (see
    `read_synonym_file`). Synonyms are among `known`, the words that a model can read.
    """
    wanted = sorted({word.lower() for word in words if replaceable(word)})
    path = Path(source).expanduser()
    if source not in assets.assets() and path.suffix and not path.exists():
        raise BadInput(f"There is no file {path} of synonyms or vectors: check the path.")
    if source in assets.assets() or not is_synonym_file(path):
        return from_vectors(source, wanted, known)
    listed = read_synonym_file(path)
    spelled = {word.lower(): word for word in reversed(known)}
    found: dict[str, str] = {}
    for word in wanted:
        others = [spelled[other.lower()] for other in listed.get(word, ()) if other.lower() in spelled]
        if (chosen := _first(word, others)) is not None:
            found[word] = chosen
    if not found:
        raise BadInput(
            f"{path} has no synonym for any of the {len(wanted)} words of these texts that the model can read: "
            f"give a file for their language and subject."
        )
    return found


def from_vectors(source: str, words: Sequence[str], candidates: Iterable[str]) -> dict[str, str]:
    """Give each word the candidate whose vector is nearest."""
    names = list(dict.fromkeys(word for word in candidates if replaceable(word)))
    matrix, covered = read_vectors(source, [*words, *names])
    return nearest(
        [word for word, there in zip(words, covered, strict=False) if there],
        matrix[: len(words)][covered[: len(words)]],
        [name for name, there in zip(names, covered[len(words) :], strict=True) if there],
        matrix[len(words) :][covered[len(words) :]],
    )


def nearest(
    words: Sequence[str],
    vectors: NDArray[np.float32],
    candidates: Sequence[str],
    candidate_vectors: NDArray[np.float32],
) -> dict[str, str]:
    """Give each word the candidate that is nearest by the cosine of their vectors, and no form of the word.

    A word all of whose nearest neighbours are forms of it has no synonym.

    >>> vectors = np.eye(3, dtype=np.float32) + 0.1
    >>> nearest(["film"], vectors[:1], ["films", "movie", "cold"], vectors[[0, 0, 1]])
    {'film': 'movie'}
    """
    own, others = (_unit(torch.from_numpy(np.ascontiguousarray(v))) for v in (vectors, candidate_vectors))
    found: dict[str, str] = {}
    if not len(others):
        return found
    size = max(1, _SIMILARITIES // len(others))
    for first in range(0, len(words), size):
        block = own[first : first + size]
        best = (block @ others.T).topk(min(_NEAREST, len(others)), dim=1).indices.sort(dim=1).values
        # Once more in double precision: which of two near neighbours is nearer must not depend on the block.
        exact = torch.einsum("wd,wnd->wn", block.double(), others[best].double())
        order = best.gather(1, exact.sort(dim=1, descending=True, stable=True).indices)
        for word, places in zip(words[first : first + size], order.tolist(), strict=True):
            if (chosen := _first(word, [candidates[place] for place in places])) is not None:
                found[word.lower()] = chosen
    return found


def _first(word: str, ranked: Iterable[str]) -> str | None:
    """Give the first that is another word."""
    return next((other for other in ranked if not inflected(word, other)), None)


def _unit(vectors: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.normalize(vectors, dim=1)
