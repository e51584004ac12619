"""What a source of candidates is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from heedful.attacks.draft import Draft


class Candidates(Protocol):
    """Gives the words that may stand in the place of others.

    A source has `by_word = True` where what it gives depends on the word that stands in a place and on the original text, and
    not on what else was replaced. Where it says nothing, nothing is proven of attacks that use it.
    """

    def propose(self, places: Sequence[tuple[Draft, int]]) -> list[list[str]]:
        """Give substitutes for each word, named by a draft and its position. Places of many texts come together."""
