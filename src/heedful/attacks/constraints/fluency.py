"""Substitutes must be probable where they stand, to a language model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from heedful.attacks.draft import Draft
from heedful.attacks.ranking import OTHER, ranked


class LanguageModel(Protocol):
    """Says how probable words are in a context."""

    def log_probabilities(
        self, contexts: Sequence[tuple[str, str]], words: Sequence[Sequence[str]]
    ) -> list[list[float]]:
        """Give a number for each word between what stands before and after."""


class MostProbable:
    """Of a word's substitutes only the most probable ones between the words that now stand around it."""

    def __init__(self, model: LanguageModel, *, count: int, window: int = 6) -> None:
        self._model, self._count, self._window = model, count, window

    def keep_each(
        self, places: Sequence[tuple[Draft, int]], words: Sequence[Sequence[str]]
    ) -> list[list[str]]:
        """Keep the order of those that remain; where few are proposed, the model is not asked."""
        many = [number for number, some in enumerate(words) if len(some) > self._count]
        found = self._model.log_probabilities(
            [context(*places[number], self._window) for number in many], [words[number] for number in many]
        )
        kept = [list(some) for some in words]
        for number, values in zip(many, found, strict=True):
            best = sorted(ranked(values, least=OTHER)[: self._count])
            kept[number] = [words[number][place] for place in best]
        return kept


class NotLessProbable:
    """A substitute may be less probable than the original word, between the words of the original text, but not much."""

    def __init__(self, model: LanguageModel, *, drop: float, window: int = 6) -> None:
        self._model, self._drop, self._window = model, drop, window

    def keep_each(
        self, places: Sequence[tuple[Draft, int]], words: Sequence[Sequence[str]]
    ) -> list[list[str]]:
        """Compare log probabilities with that of the original word."""
        asked = [number for number, some in enumerate(words) if some]
        found = self._model.log_probabilities(
            [context(Draft(places[n][0].source), places[n][1], self._window) for n in asked],
            [[places[n][0].source.words[places[n][1]], *words[n]] for n in asked],
        )
        kept: list[list[str]] = [[] for _ in words]
        for number, (own, *others) in zip(asked, found, strict=True):
            kept[number] = [
                word for word, value in zip(words[number], others, strict=True) if value >= own - self._drop
            ]
        return kept


def context(draft: Draft, position: int, window: int) -> tuple[str, str]:
    """Give the words before and after a word, signs counted; nothing stands before the first.

    >>> from heedful.attacks.draft import Source
    >>> draft = Draft(Source.cut("a fine film , and long"), {1: "good"})
    >>> context(draft, 0, 2), context(draft, 2, 2)
    (('', 'good film'), ('a good', ', and'))
    """
    text, stretches = draft.replaced(position, draft.word(position)).rebuilt()
    start, end = next(one.new_span for one in stretches if one.position == position)
    return " ".join(text[:start].split()[-window:]), " ".join(text[end:].split()[:window])
