"""Greedy search over edits: of all edits at all words the best, again and again."""

from __future__ import annotations

from dataclasses import dataclass

from heedful.attacks.draft import Draft
from heedful.attacks.requests import Propose, Score, Scored, Steps
from heedful.attacks.searches.greedy import choose
from heedful.attacks.searches.search import Space


@dataclass(frozen=True)
class GreedyEdits:
    """Makes the edit with the highest score, of what reaches the goal the most similar, until none raises it."""

    def steps(self, draft: Draft, first: Scored, space: Space) -> Steps:
        """Work on one text; every edit is scored anew in each step, because its neighbours may have changed."""
        score, reached = float(first.score[0]), bool(first.reached[0])
        while not reached:
            positions = space.positions(draft)
            proposed: list[list[Draft]] = (yield Propose(draft, positions)) if positions else []
            drafts = [one for some in proposed for one in some]
            if not drafts:
                break
            scored: Scored = yield Score(drafts)
            place = yield from choose(drafts, scored, score, lazy=space.lazy)
            if place is None:
                break
            draft, score, reached = drafts[place], float(scored.score[place]), bool(scored.reached[place])
        return draft
