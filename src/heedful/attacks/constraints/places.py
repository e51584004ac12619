"""Which words may be replaced: no stop words, no word twice, and not too many of a text."""

from __future__ import annotations

import math
from dataclasses import dataclass

from heedful.attacks.draft import Draft


@dataclass(frozen=True)
class NoStopWords:
    """Words of a list stay; capitals count, so that "The" is no stop word where "the" is one."""

    words: frozenset[str]

    def allows(self, draft: Draft, position: int) -> bool:
        """Whether the word is not in the list."""
        return draft.word(position) not in self.words


@dataclass(frozen=True)
class NoWordTwice:
    """A word that was replaced stays as it is."""

    def allows(self, draft: Draft, position: int) -> bool:
        """Whether the word is the original one."""
        return position not in draft.new


@dataclass(frozen=True)
class ShareOfWords:
    """At most a share of the words is replaced, rounded up."""

    share: float

    def allows(self, draft: Draft, position: int) -> bool:
        """Whether one more may be replaced, or this one was replaced already."""
        return position in draft.new or len(draft.new) < self._most(draft)

    def admits(self, draft: Draft) -> bool:
        """Whether no more than the share are replaced."""
        return len(draft.new) <= self._most(draft)

    def _most(self, draft: Draft) -> int:
        return max(1, math.ceil(len(draft.source) * self.share))
