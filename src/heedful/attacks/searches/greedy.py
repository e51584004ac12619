"""Greedy search: words in the order of their importance, and for each the best substitute."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from heedful.attacks.draft import Draft
from heedful.attacks.ranking import LEAST, beats, ranked
from heedful.attacks.requests import Compare, Propose, Request, Score, Scored, Steps
from heedful.attacks.searches.search import Space

Importance = Literal["deletion", "unknown", "saliency"]


@dataclass(frozen=True)
class Greedy:
    """Goes down the words by importance and keeps the best substitute of each, if it is better than what there is.

    Importance is the score without the word (`deletion`), with `unknown` in its place (`unknown`), or that, normalised
    by softmax over the words, times the score of the word's best substitute (`saliency`).
    """

    importance: Importance = "deletion"
    unknown: str = "[UNK]"

    def steps(self, draft: Draft, first: Scored, space: Space) -> Steps:
        """Work on one text."""
        score = float(first.score[0])
        order = yield from self._order(draft, space)
        for position in order:
            proposed: list[list[Draft]] = yield Propose(draft, [position])
            (drafts,) = proposed
            if not drafts:
                continue
            scored: Scored = yield Score(drafts)
            place = yield from choose(drafts, scored, score, lazy=space.lazy)
            if place is None:
                continue
            draft, score = drafts[place], float(scored.score[place])
            if scored.reached[place]:
                break
        return draft

    def _order(self, draft: Draft, space: Space) -> Generator[Request, Any, list[int]]:
        positions = space.positions(draft)
        if not positions:
            return []
        instead = "" if self.importance == "deletion" else self.unknown
        without: Scored = yield Score([draft.replaced(position, instead) for position in positions])
        if self.importance != "saliency":
            return [positions[place] for place in ranked(without.score)]
        saliency = np.exp(without.score - without.score.max())
        importance = saliency / saliency.sum() * (yield from _best_scores(draft, positions, space))
        # Each word has but its share of one, and so has rounding.
        return [positions[place] for place in ranked(importance, least=LEAST / len(positions))]


def _best_scores(
    draft: Draft, positions: Sequence[int], space: Space
) -> Generator[Request, Any, np.ndarray[Any, np.dtype[np.float64]]]:
    """Give the score of the best substitute of every word; zero where there is none."""
    proposed: list[list[Draft]] = yield Propose(draft, positions)
    drafts = [one for some in proposed for one in some]
    best = np.zeros(len(positions))
    if not drafts:
        return best
    scored: Scored = yield Score(drafts)
    passes: list[float | None] = (yield Compare(drafts)) if space.lazy else [1.0] * len(drafts)
    first = 0
    for place, some in enumerate(proposed):
        own = range(first, first + len(some))
        best[place] = max((float(scored.score[at]) for at in own if passes[at] is not None), default=0.0)
        first += len(some)
    return best


def choose(
    drafts: Sequence[Draft], scored: Scored, current: float, *, lazy: bool
) -> Generator[Request, Any, int | None]:
    """Give the place of the draft that is taken, if any: the best, or of those that reach the goal the most similar.

    Only drafts at the head of the ranking are compared: until one passes, and as long as they reach the goal.
    """
    order = ranked(scored.score)
    passing: list[tuple[int, float]] = []
    at = 0
    while at < len(order):
        head = order[at]
        if not passing and not beats(float(scored.score[head]), current):
            return None
        group = [head]
        if scored.reached[head]:
            rest = order[at + 1 :]
            group += rest[: next((n for n, place in enumerate(rest) if not scored.reached[place]), len(rest))]
        at += len(group)
        similar = yield from _similarities([drafts[place] for place in group], lazy=lazy)
        found = [(place, s) for place, s in zip(group, similar, strict=True) if s is not None]
        if found and not scored.reached[found[0][0]]:
            if not passing:
                return found[0][0]
            break
        passing += found
        if passing and not any(scored.reached[place] for place in order[at:]):
            break
    if not passing:
        return None
    # What passes first has the best score, and another is taken only for being more similar.
    best, most = passing[0]
    for place, similarity in passing[1:]:
        if beats(similarity, most):
            best, most = place, similarity
    return best


def _similarities(drafts: Sequence[Draft], *, lazy: bool) -> Generator[Request, Any, list[float | None]]:
    if lazy:
        compared: list[float | None] = yield Compare(drafts)
        return compared
    return [1.0 if draft.similarity is None else draft.similarity for draft in drafts]
