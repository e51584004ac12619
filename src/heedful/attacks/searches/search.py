"""What a search is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from heedful.attacks.draft import Draft
from heedful.attacks.requests import Scored, Steps


class Space(Protocol):
    """What a search may know of the attack it is part of, without asking."""

    @property
    def lazy(self) -> bool:
        """Whether proposals have yet to be compared (`Compare`) before one is taken."""

    def positions(self, draft: Draft) -> Sequence[int]:
        """Words of a draft that may be replaced, in order."""

    def admits(self, draft: Draft) -> bool:
        """Whether a draft that was put together of others keeps within the attack's bounds."""


class Search(Protocol):
    """Looks for a draft that reaches the goal."""

    def steps(self, draft: Draft, first: Scored, space: Space) -> Steps:
        """Work on one text, which the victim has read already: ask (`requests.py`), and end with the best draft."""
