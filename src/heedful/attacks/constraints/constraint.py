"""Kinds of constraint: on places, on how much is replaced, on words, and on whole texts; the last may be lazy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from heedful.attacks.draft import Draft


@runtime_checkable
class PlaceConstraint(Protocol):
    """Says which words of a text may be replaced at all."""

    def allows(self, draft: Draft, position: int) -> bool:
        """Whether the word at a position may be replaced now."""


@runtime_checkable
class WordConstraint(Protocol):
    """Says which substitutes may take the place of a word."""

    def keep(self, draft: Draft, position: int, words: Sequence[str]) -> list[str]:
        """Give those that may, in the same order."""


@runtime_checkable
class Bound(Protocol):
    """Says how much of a text may be replaced."""

    def admits(self, draft: Draft) -> bool:
        """Whether a draft is within the bound."""


@runtime_checkable
class ContextConstraint(Protocol):
    """Says which substitutes fit where they stand; words of many texts are judged together, because that takes long."""

    def keep_each(
        self, places: Sequence[tuple[Draft, int]], words: Sequence[Sequence[str]]
    ) -> list[list[str]]:
        """Give those that fit each place, in the same order."""


@runtime_checkable
class TextConstraint(Protocol):
    """Looks at whole texts, which takes long: it is asked as late as possible, and of many texts together."""

    def compare(self, drafts: Sequence[Draft]) -> list[float | None]:
        """Say how like the draft it was made of each draft is; None where it is not like enough."""


Constraint = PlaceConstraint | Bound | WordConstraint | ContextConstraint | TextConstraint
