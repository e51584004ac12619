"""Improved genetic search: parents are cut at one point, and a word may be replaced several times."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from heedful.attacks.ranking import ranked
from heedful.attacks.requests import Request
from heedful.attacks.searches.genetic import Genetic, Member, crossed, replaced_by_best
from heedful.attacks.searches.search import Space


@dataclass(frozen=True)
class ImprovedGenetic(Genetic):
    """The first population has a member for each word that can be replaced, with the best substitute of it.

    A child takes the beginning of one parent and the end of the other. All words are drawn equally often, those that
    were replaced before too, until one was replaced `most_times`.
    """

    most_times: int = 5

    def _first(
        self, start: Member, weights: dict[int, float], generator: np.random.Generator, space: Space
    ) -> Generator[Request, Any, list[Member]]:
        members = yield from replaced_by_best([start] * len(weights), dict(enumerate(weights)))
        return [members[place] for place in ranked([member.score for member in members])[: self.population]]

    def _cross(self, one: Member, other: Member, generator: np.random.Generator) -> Member:
        point = int(generator.integers(len(one.times) + 1))
        return crossed(one, other, np.arange(len(one.times)) < point)

    def _choices(self, member: Member, weights: dict[int, float], space: Space) -> list[int]:
        return [
            position
            for position in space.positions(member.draft)
            if position in weights and member.times[position] < self.most_times
        ]

    def _weights(self, draft: Any, space: Space) -> Generator[Request, Any, dict[int, float]]:
        return dict.fromkeys((yield from super()._weights(draft, space)), 1.0)
