"""Substitutes that are listed in a file: synonyms, or neighbours found by somebody else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from heedful.attacks.candidates.neighbours import written_like
from heedful.attacks.cut import one_word
from heedful.attacks.draft import Draft
from heedful.data.words.synonym_files import read_synonym_file


class Listed:
    """The first words of each word's list, whatever their letters; what a text would hold as several words is left out."""

    by_word = True

    def __init__(self, path: Path, *, count: int | None = None) -> None:
        self._listed, self._count = read_synonym_file(path, plain=False), count

    def propose(self, places: Sequence[tuple[Draft, int]]) -> list[list[str]]:
        """Look each word up in lower case."""
        return [self._substitutes(draft.word(position)) for draft, position in places]

    def _substitutes(self, word: str) -> list[str]:
        others = dict.fromkeys(written_like(other, word) for other in self._listed.get(word.lower(), ()))
        return [other for other in others if other != word and one_word(other)][: self._count]
