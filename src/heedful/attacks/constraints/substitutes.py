"""Which substitutes may take a word's place: near in a space of vectors, or known to the victim."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from heedful.attacks.candidates.neighbours import WordSpace
from heedful.attacks.draft import Draft


@dataclass(frozen=True)
class WordSimilarity:
    """The cosine of a substitute to the original word, or to that which it replaces, is at least this.

    Words without a vector pass.
    """

    space: WordSpace
    least: float
    to: Literal["original", "current"] = "original"

    @property
    def by_original(self) -> bool:
        """Whether what else was put there does not matter."""
        return self.to == "original"

    def keep(self, draft: Draft, position: int, words: Sequence[str]) -> list[str]:
        """Compare in lower case."""
        own = draft.source.words[position] if self.to == "original" else draft.word(position)
        cosines = self.space.cosines(own.lower(), [word.lower() for word in words])
        return [word for word, c in zip(words, cosines, strict=True) if c is None or c >= self.least]


@dataclass(frozen=True)
class KnownWords:
    """Substitutes that the victim can read where they stand."""

    knows: Callable[[Draft, int, Sequence[str]], list[bool] | None]

    def keep(self, draft: Draft, position: int, words: Sequence[str]) -> list[str]:
        """Ask the victim's vocabulary."""
        known = self.knows(draft, position, words)
        assert known is not None
        return [word for word, can in zip(words, known, strict=True) if can]
