"""Nearest neighbours of words in a space of vectors, such as counter-fitted ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from heedful.attacks.cut import one_word
from heedful.attacks.draft import Draft
from heedful.data.words.vector_files import read_vector_file
from heedful.errors import BadInput


class WordSpace:
    """Words and their vectors, by unit length."""

    def __init__(self, words: Sequence[str], vectors: NDArray[np.float32]) -> None:
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        self.words = list(words)
        self.vectors = vectors / np.maximum(lengths, 1e-12)
        self.place = {word: number for number, word in reversed(list(enumerate(self.words)))}

    @classmethod
    def read(cls, path: Path) -> WordSpace:
        """Read any file of vectors."""
        rows, matrix = read_vector_file(path, None)
        if len(rows) < 2:
            raise BadInput(f"{path} holds fewer than two vectors: give a file of word vectors.")
        # By name, so that the order of a file decides nothing.
        words = sorted(rows)
        return cls(words, matrix[[rows[word] for word in words]])

    def cosines(self, word: str, others: Sequence[str]) -> list[float | None]:
        """Compare a word with others; None where one of the two has no vector."""
        own = self.place.get(word)
        places = [self.place.get(other) for other in others]
        if own is None:
            return [None] * len(places)
        found = self.vectors[[place for place in places if place is not None]] @ self.vectors[own]
        values = iter(found.tolist())
        return [None if place is None else next(values) for place in places]


class Neighbours:
    """The nearest words of a space by cosine, written as the word is written: lower, upper or capitalised."""

    by_word = True

    def __init__(self, space: WordSpace, *, count: int = 50) -> None:
        self.space, self._count = space, count
        self._found: dict[str, list[str]] = {}

    def propose(self, places: Sequence[tuple[Draft, int]]) -> list[list[str]]:
        """Find the neighbours of words, those of all that are new at once."""
        words = [draft.word(position) for draft, position in places]
        self._find([word.lower() for word in words])
        return [
            [
                recased
                for other in self._found[word.lower()]
                if (recased := written_like(other, word)) != word and one_word(recased)
            ]
            for word in words
        ]

    def _find(self, words: Sequence[str]) -> None:
        new = [word for word in dict.fromkeys(words) if word not in self._found]
        known = [word for word in new if word in self.space.place]
        self._found |= {word: [] for word in new}
        if not known:
            return
        own = np.array([self.space.place[word] for word in known])
        cosines = self.space.vectors[own] @ self.space.vectors.T
        cosines[np.arange(len(own)), own] = -np.inf  # a word is no neighbour of its own
        count = min(self._count, len(self.space.words) - 1)
        nearest = torch.topk(torch.from_numpy(cosines), count, sorted=False).indices.numpy()
        for word, row, places in zip(known, cosines, nearest, strict=True):
            # Of equally near ones the first by name.
            ordered = places[np.lexsort((places, -row[places]))]
            self._found[word] = [self.space.words[place] for place in ordered]


def written_like(word: str, like: str) -> str:
    """Write a word as another is written, where that is lower case, capitals or one capital letter.

    >>> [written_like("good", like) for like in ("fine", "FINE", "Fine", "A", "iFine")]
    ['good', 'GOOD', 'Good', 'good', 'good']
    """
    if like.islower():
        return word.lower()
    if like.isupper() and len(like) > 1:
        return word.upper()
    return word.capitalize() if like[:1].isupper() and like[1:].islower() else word
