"""Heatmaps with one item in every head: far from a model's own, and quickly tried.

JSD is convex and heads are free of each other, so that no heatmap whatever is farther from a model's own than the one with all
weight of each head on the item where that moves it most. If that corner gives the same prediction, the search is over. Else heads
are given other items, one head at a time, until the prediction is the same, and then towards what is farther.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.audits.subject.reading import Reading
from heedful.measures.divergence import LN_2, tvd
from heedful.models.stages import probabilities

_ITEMS = 6  # tried in each head: those that are farthest
_ROUNDS = 12
_NUMBERS = 1 << 22  # laid out at a time


def distance_of_one(own: Float[Tensor, "*any items"]) -> Float[Tensor, "*any items"]:
    """JSD between weights and all weight on one item, for every item.

    >>> distance_of_one(torch.tensor([1.0, 0.0]))
    tensor([0.0000, 0.6931])
    """
    mixed = own * (2 * own / (1 + own)).clamp(min=1e-30).log()
    return (((1 - own) * LN_2 + mixed + (2 / (1 + own)).log()) / 2).clamp(min=0)


def farthest_of_all(
    weights: Float[Tensor, "batch heads items"], mask: Bool[Tensor, "batch items"]
) -> Float[Tensor, " batch"]:
    """No heatmap is farther, whatever it predicts: the mean over heads of the farthest item; 0 for a text without items."""
    far = distance_of_one(weights.double()).masked_fill(~mask[:, None], 0.0)
    return far.amax(-1).mean(-1)


class Corners:
    """Heatmaps with one of so `many` items in every head, those that are farthest; a rank says which of them."""

    def __init__(self, reading: Reading, many: int) -> None:
        self.reading = reading
        far = distance_of_one(reading.weights.double()).masked_fill(~reading.mask[:, None], -1.0)
        self.each, self.items = far.topk(min(many, far.shape[-1]), dim=-1)  # [batch, heads, ranks]
        self.decided = reading.probabilities.argmax(-1)

    @property
    def ranks(self) -> int:
        """How many items are tried in each head."""
        return int(self.each.shape[-1])

    def worth(self, ranks: Int[Tensor, "batch offers heads"]) -> Float[Tensor, "batch offers"]:
        """How far corners are; −1 where a text has fewer items."""
        there = self.each[:, None].expand(-1, ranks.shape[1], -1, -1).gather(-1, ranks[..., None])[..., 0]
        return there.mean(-1).masked_fill((there < 0).any(-1), -1.0)

    def moved(self, ranks: Int[Tensor, "batch offers heads"]) -> Float[Tensor, "batch offers"]:
        """How far corners move the prediction (TVD)."""
        return tvd(self._predicted(ranks), self.reading.probabilities[:, None])

    def odds(self, weights: Float[Tensor, "batch offers heads items"]) -> Float[Tensor, "batch offers"]:
        """How much other weights change the odds of the class that is decided for (their logarithm)."""
        with torch.no_grad():
            found = probabilities(self.reading.decode(weights * self.reading.mask[:, None, None])).double()
        return self._odds(found) - self._odds(self.reading.probabilities[:, None].double())

    def goal(self, change: Float[Tensor, " batch"]) -> Float[Tensor, " batch"]:
        """How much the odds change where the probability of that class changes by so much."""
        own = self.reading.probabilities.double().amax(-1)
        return torch.logit(own + change, eps=1e-12) - torch.logit(own, eps=1e-12)

    def one_head_otherwise(
        self, weights: Float[Tensor, "batch 1 heads items"]
    ) -> Iterator[Float[Tensor, "batch offers heads items"]]:
        """Give each head each single item, the other heads as they are: head by head, rank by rank, some at a time."""
        batch, heads, ranks = self.each.shape
        size = weights.shape[-1]
        step = max(1, _NUMBERS // max(batch * heads * size, 1))
        for head in range(heads):
            for first in range(0, ranks, step):
                items = self.items[:, head, first : first + step]
                offers = weights.expand(-1, items.shape[1], -1, -1).clone()
                offers[:, :, head] = torch.nn.functional.one_hot(items, size).to(offers)
                yield offers

    def laid_out(self, ranks: Int[Tensor, "batch offers heads"]) -> Float[Tensor, "batch offers heads items"]:
        """Give the weights of corners."""
        where = self.items[:, None].expand(-1, ranks.shape[1], -1, -1).gather(-1, ranks[..., None])[..., 0]
        return torch.nn.functional.one_hot(where, self.reading.mask.shape[1]).double()

    def _odds(self, predicted: Float[Tensor, "batch offers classes"]) -> Float[Tensor, "batch offers"]:
        decided = self.decided[:, None, None].expand(-1, predicted.shape[1], 1)
        return torch.logit(predicted.gather(-1, decided)[..., 0], eps=1e-12)

    def _predicted(self, ranks: Int[Tensor, "batch offers heads"]) -> Float[Tensor, "batch offers classes"]:
        """Give class probabilities of corners, some of them at a time: memory is bounded."""
        batch, offers, heads = ranks.shape
        step = max(1, _NUMBERS // max(batch * heads * self.reading.mask.shape[1], 1))
        found = []
        with torch.no_grad():
            for first in range(0, offers, step):
                weights = self.laid_out(ranks[:, first : first + step])
                found.append(probabilities(self.reading.decode(weights * self.reading.mask[:, None, None])))
        return torch.cat(found, dim=1)


def farthest_corner(
    reading: Reading, epsilon: float
) -> tuple[Float[Tensor, " batch"], Float[Tensor, "batch heads items"]]:
    """Give the farthest corner that was found to keep the prediction, and how far it is; −1 where none was."""
    corners = Corners(reading, _ITEMS)
    most = corners.each[..., 0].mean(-1)
    rows = torch.arange(len(most))
    chosen = torch.zeros(corners.each.shape[:2], dtype=torch.long)  # a rank among them, for each head
    moved = corners.moved(chosen[:, None])[:, 0]
    best = torch.where(moved <= epsilon, most, -1.0)
    found = chosen.clone()
    for _ in range(_ROUNDS):
        # Solved where the corner is feasible and nothing is farther; elsewhere one head is given another item.
        if bool((best >= most - 1e-12).all()):
            break
        offers = _one_head_otherwise(chosen, corners.ranks)  # [batch, offers, heads]
        worth = corners.worth(offers)
        after = corners.moved(offers).masked_fill(worth < 0, torch.inf)
        feasible = after <= epsilon
        gain = torch.where(feasible, worth, -1.0)
        farthest, which = gain.max(1)
        better = farthest > best
        best = torch.where(better, farthest, best)
        found = torch.where(better[:, None], offers[rows, which], found)
        nearest = after.argmin(1)
        go_on = torch.where(best >= 0, which, nearest)  # to what is feasible first, then to what is farther
        stuck = torch.where(best >= 0, ~better, after[rows, nearest] >= moved)
        moved = torch.where(stuck, moved, after[rows, go_on])
        chosen = torch.where(stuck[:, None], chosen, offers[rows, go_on])
        if bool(stuck.all()):
            break
    return best, corners.laid_out(found[:, None])[:, 0]


def _one_head_otherwise(chosen: Int[Tensor, "batch heads"], ranks: int) -> Int[Tensor, "batch offers heads"]:
    """Give every head every rank, the other heads as they are."""
    heads = chosen.shape[1]
    offers = chosen[:, None].expand(-1, heads * ranks, -1).clone()
    offer = torch.arange(heads * ranks)
    offers[:, offer, offer // ranks] = offer % ranks
    return offers
