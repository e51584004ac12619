"""Heatmaps on the way from one corner to another, between which the prediction is what it was.

The farthest corner (one item in every head) seldom gives the model's own prediction. But where it makes the decision less likely and
another corner makes it more likely, the prediction is the same somewhere between them; and if the two differ in one head, only that
head has to be shared between two items there, which costs little distance. Which corners those are is a matter of prices: each head
takes the item whose distance, and a price for what it does to the prediction, are most together. The price is raised until the corner
lies on the other side. What an item does in a head is measured from the best heatmap so far, and measured again from the next.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.audits.questions.corners import Corners
from heedful.audits.subject.reading import Reading
from heedful.measures.streams import uniform_by_instance

_TIMES, _STARTS, _AGAIN = 3, 6, 2
_HALVINGS = 14
_WITHIN = 0.999  # of epsilon, so that rounding does not lead beyond it
_PRICES = -5.0, 3.0  # powers of ten, in nats of distance for one of log-odds


class Bridges:
    """Corners on both sides of a model's own prediction, and heatmaps between them."""

    def __init__(self, reading: Reading, epsilon: float) -> None:
        self.reading = reading
        self.corners = Corners(reading, reading.mask.shape[1])
        batch, heads = self.corners.items.shape[:2]
        self._top = self.corners.laid_out(torch.zeros(batch, 1, heads, dtype=torch.long))
        odds = self.corners.odds(self._top)[:, 0]
        self._side = odds.sign()
        self._goal = self.corners.goal(self._side * epsilon * _WITHIN)

    def from_the_farthest(self) -> Iterator[Float[Tensor, "batch 1 heads items"]]:
        """Give heatmaps that move the prediction by epsilon, if it can be so, one for each text, better and better."""
        yield from self._better(self._top, _TIMES)

    def from_elsewhere(self, *, seed: int) -> Iterator[Float[Tensor, "batch 1 heads items"]]:
        """Begin at corners that are drawn, text by text, from all its items."""
        many, heads = self.reading.mask.sum(1, keepdim=True), self._top.shape[2]
        for draw in range(_STARTS):
            drawn = uniform_by_instance(self.reading.rows, heads, seed=seed, draw=draw)
            ranks = (drawn * many).long().clamp(max=self.corners.ranks - 1)
            yield from self._better(self.corners.laid_out(ranks[:, None]), _AGAIN)

    def _better(self, start: Tensor, times: int) -> Iterator[Float[Tensor, "batch 1 heads items"]]:
        far, there = self.corners.each / self._top.shape[2], self.corners.each >= 0
        for _ in range(times):
            towards = -self._side[:, None, None] * _what_items_do(self.corners, start)

            def at(power: Float[Tensor, " batch"], towards: Tensor = towards) -> Tensor:
                worth = far + (10**power)[:, None, None] * towards
                return self.corners.laid_out(worth.masked_fill(~there, -torch.inf).argmax(-1)[:, None])

            near, away = (torch.full((len(far),), power, dtype=torch.float64) for power in _PRICES)
            for _ in range(_HALVINGS):
                near, away = _halved(near, away, self._short(at((near + away) / 2)))
            start = self._between(at(near), at(away))
            yield start

    def _short(self, weights: Tensor) -> Tensor:
        """Whether heatmaps are still on the side of the farthest corner."""
        return (self.corners.odds(weights)[:, 0] - self._goal) * self._side > 0

    def _between(self, low: Tensor, high: Tensor) -> Tensor:
        """Give the mixture of two heatmaps at which the goal is reached; the second, where it is not."""
        near, away = (torch.full((len(low),), share, dtype=torch.float64) for share in (0.0, 1.0))
        for _ in range(_HALVINGS):
            near, away = _halved(near, away, self._short(_mixed(low, high, (near + away) / 2)))
        return _mixed(low, high, away)


def _what_items_do(
    corners: Corners, weights: Float[Tensor, "batch 1 heads items"]
) -> Float[Tensor, "batch heads ranks"]:
    """How much all weight of one head on an item changes the odds, for every head and item, the other heads as they are."""
    found = [corners.odds(some) for some in corners.one_head_otherwise(weights)]
    changed = torch.cat(found, dim=1) - corners.odds(weights)
    return changed.view(corners.each.shape)


def _halved(near: Tensor, away: Tensor, short: Tensor) -> tuple[Tensor, Tensor]:
    middle = (near + away) / 2
    return torch.where(short, middle, near), torch.where(short, away, middle)


def _mixed(low: Tensor, high: Tensor, share: Float[Tensor, " batch"]) -> Tensor:
    return low + share[:, None, None, None] * (high - low)
