"""What a source of candidates is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from heedful.attacks.draft import Draft


class Candidates(Protocol):
    """Gives the words that may stand in the place of others."""

    def propose(self, places: Sequence[tuple[Draft, int]]) -> list[list[str]]:
        """Give substitutes for each word, named by a draft and its position. Places of many texts come together."""
