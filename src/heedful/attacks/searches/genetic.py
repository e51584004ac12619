"""Genetic search: a population of drafts, of which the fitter ones have children."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from heedful.attacks.draft import Draft
from heedful.attacks.ranking import beats, ranked
from heedful.attacks.requests import Propose, ProposeEach, Request, Score, Scored, Steps
from heedful.attacks.searches.random_numbers import draw, selection_probabilities, text_generator
from heedful.attacks.searches.search import Space

_CROSSINGS = 20
"""How often parents are crossed anew because a child goes beyond a bound, before the first parent takes its place."""


class Member(NamedTuple):
    """A draft, how far it is on the way to the goal, and how often each word was replaced on its way here."""

    draft: Draft
    score: float
    reached: bool
    times: tuple[int, ...]


@dataclass(frozen=True)
class Genetic:
    """Members begin with one word replaced. In each generation the fittest lives on, and the others are children.

    A child takes each word of one parent or the other; then one of its words, drawn by how many substitutes it has, is
    replaced by the best of these, if that is better than none. Words that were not replaced yet are drawn first.
    """

    population: int = 60
    generations: int = 20
    temperature: float = 0.3
    seed: int = 0

    def steps(self, draft: Draft, first: Scored, space: Space) -> Steps:
        """Work on one text."""
        generator = text_generator(self.seed, draft.source)
        weights = yield from self._weights(draft, space)
        if not weights:
            return draft
        start = Member(draft, float(first.score[0]), bool(first.reached[0]), (0,) * len(draft.source))
        members = yield from self._first(start, weights, generator, space)
        for generation in range(self.generations + 1):
            best = members[ranked([member.score for member in members])[0]]
            winners = [member for member in members if member.reached]
            if winners:
                return winners[ranked([member.score for member in winners])[0]].draft
            if generation < self.generations:
                children = self._children(members, generator, space)
                members = [best, *(yield from self._perturbed(children, weights, generator, space))]
        return best.draft if beats(best.score, start.score) else draft

    def _weights(self, draft: Draft, space: Space) -> Generator[Request, Any, dict[int, float]]:
        """Give each word that has substitutes a weight: their number."""
        positions = space.positions(draft)
        proposed: list[list[Draft]] = yield Propose(draft, positions)
        return {
            position: float(len(drafts))
            for position, drafts in zip(positions, proposed, strict=True)
            if drafts
        }

    def _first(
        self, start: Member, weights: dict[int, float], generator: np.random.Generator, space: Space
    ) -> Generator[Request, Any, list[Member]]:
        return (yield from self._perturbed([start] * self.population, weights, generator, space))

    def _children(
        self, members: Sequence[Member], generator: np.random.Generator, space: Space
    ) -> list[Member]:
        probabilities = selection_probabilities([member.score for member in members], self.temperature)
        everyone = range(len(members))
        children = []
        for _ in range(self.population - 1):
            one, other = (members[draw(generator, everyone, probabilities)] for _ in range(2))
            children.append(one)
            for _ in range(_CROSSINGS):
                child = self._cross(one, other, generator)
                if space.admits(child.draft):
                    children[-1] = child
                    break
        return children

    def _cross(self, one: Member, other: Member, generator: np.random.Generator) -> Member:
        return crossed(one, other, generator.random(len(one.times)) < 0.5)

    def _choices(self, member: Member, weights: dict[int, float], space: Space) -> list[int]:
        """Name the words that may be replaced next."""
        able = [position for position in space.positions(member.draft) if position in weights]
        return [position for position in able if position not in member.draft.new] or able

    def _perturbed(
        self,
        members: Sequence[Member],
        weights: dict[int, float],
        generator: np.random.Generator,
        space: Space,
    ) -> Generator[Request, Any, list[Member]]:
        """Replace a word of each member that is drawn."""
        drawn: dict[int, int] = {}
        for place, member in enumerate(members):
            if choices := self._choices(member, weights, space):
                drawn[place] = draw(generator, choices, [weights[position] for position in choices])
        return (yield from replaced_by_best(members, drawn))


def crossed(one: Member, other: Member, from_one: Sequence[bool] | np.ndarray[Any, Any]) -> Member:
    """Give a child with each word from one parent or the other, which the victim has not read yet."""
    words, times = {}, []
    for position, first in enumerate(from_one):
        parent = one if first else other
        words[position] = parent.draft.word(position)
        times.append(parent.times[position])
    return Member(one.draft.with_words(words), float("nan"), False, tuple(times))


def replaced_by_best(
    members: Sequence[Member], drawn: dict[int, int]
) -> Generator[Request, Any, list[Member]]:
    """Replace the word of a position in some members by the substitute with the highest score, if it raises that."""
    proposed: list[list[Draft]] = []
    if drawn:
        proposed = yield ProposeEach([(members[place].draft, position) for place, position in drawn.items()])
    drafts = [one for some in proposed for one in some]
    scored: Scored = yield Score([*(member.draft for member in members), *drafts])
    found = [
        member._replace(score=float(score), reached=bool(reached))
        for member, score, reached in zip(members, scored.score, scored.reached, strict=False)
    ]
    at = len(members)
    for (place, position), some in zip(drawn.items(), proposed, strict=True):
        scores = scored.score[at : at + len(some)]
        if some and beats(float(scores[best := ranked(scores)[0]]), found[place].score):
            times = list(found[place].times)
            times[position] += 1
            found[place] = Member(
                some[best], float(scores[best]), bool(scored.reached[at + best]), tuple(times)
            )
        at += len(some)
    return found
