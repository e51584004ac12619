"""What a search asks for. Searches of many texts ask at the same time, and are answered together."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heedful.attacks.draft import Draft


class Scored(NamedTuple):
    """What the victim makes of drafts, seen from the goal."""

    score: NDArray[np.float64]
    """How far each is on the way to the goal; higher is better."""
    reached: NDArray[np.bool_]
    probabilities: NDArray[np.float64]
    """[drafts, classes]"""


@dataclass(frozen=True)
class Score:
    """Have the victim read drafts; the answer is `Scored`. Every draft is a query."""

    drafts: Sequence[Draft]


@dataclass(frozen=True)
class Propose:
    """Have words replaced; the answer is a list of drafts for every position, in the order that decides ties."""

    draft: Draft
    positions: Sequence[int]

    @property
    def places(self) -> Sequence[tuple[Draft, int]]:
        """The words, each by its draft and position."""
        return [(self.draft, position) for position in self.positions]


@dataclass(frozen=True)
class ProposeEach:
    """Have a word replaced in each of several drafts; the answer is a list of drafts for every place."""

    places: Sequence[tuple[Draft, int]]


@dataclass(frozen=True)
class Compare:
    """Have lazy constraints look at drafts made of the same one; the answer is a similarity for each, or None if it fails."""

    drafts: Sequence[Draft]


Request = Score | Propose | ProposeEach | Compare
Steps = Generator[Request, Any, Draft]
"""A search at work on one text: it asks, is answered, and ends with the best draft."""
