"""Heatmaps with one item in every head: far from a model's own, and quickly tried.

JSD is convex and heads are free of each other, so that no heatmap whatever is farther from a model's own than the one with all
weight of each head on the item where that moves it most. If that corner gives the same prediction, the search is over. Else heads
are given other items, one head at a time, until the prediction is the same, and then towards what is farther.
"""

from __future__ import annotations

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


def farthest_corner(
    reading: Reading, epsilon: float
) -> tuple[Float[Tensor, " batch"], Float[Tensor, "batch heads items"]]:
    """Give the farthest corner that was found to keep the prediction, and how far it is; −1 where none was."""
    mask, weights = reading.mask, reading.weights.double()
    far = distance_of_one(weights).masked_fill(~mask[:, None], -1.0)  # [batch, heads, items]
    each, items = far.topk(min(_ITEMS, far.shape[-1]), dim=-1)  # the farthest items of every head
    rows = torch.arange(len(far))
    chosen = torch.zeros(far.shape[:2], dtype=torch.long)  # a rank among them, for each head
    value = each[..., 0].mean(-1)
    moved = _moved(reading, items, chosen[:, None])[:, 0]
    best = torch.where(moved <= epsilon, value, -1.0)
    found = chosen.clone()
    for _ in range(_ROUNDS):
        # Solved where the corner is feasible and nothing is farther; elsewhere one head is given another item.
        if bool((best >= each[..., 0].mean(-1) - 1e-12).all()):
            break
        offers = _one_head_otherwise(chosen, each.shape[-1])  # [batch, offers, heads]
        there = each[:, None].expand(-1, offers.shape[1], -1, -1).gather(-1, offers[..., None])[..., 0]
        worth = there.mean(-1).masked_fill((there < 0).any(-1), -1.0)  # a text may have fewer items
        after = _moved(reading, items, offers).masked_fill(worth < 0, torch.inf)
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
    return best, _laid_out(items, found[:, None], far.shape[-1])[:, 0]


def _one_head_otherwise(chosen: Int[Tensor, "batch heads"], ranks: int) -> Int[Tensor, "batch offers heads"]:
    """Give every head every rank, the other heads as they are."""
    heads = chosen.shape[1]
    offers = chosen[:, None].expand(-1, heads * ranks, -1).clone()
    offer = torch.arange(heads * ranks)
    offers[:, offer, offer // ranks] = offer % ranks
    return offers


def _laid_out(
    items: Int[Tensor, "batch heads ranks"], ranks: Int[Tensor, "batch offers heads"], size: int
) -> Float[Tensor, "batch offers heads items"]:
    where = items[:, None].expand(-1, ranks.shape[1], -1, -1).gather(-1, ranks[..., None])[..., 0]
    return torch.nn.functional.one_hot(where, size).double()


def _moved(
    reading: Reading, items: Int[Tensor, "batch heads ranks"], ranks: Int[Tensor, "batch offers heads"]
) -> Float[Tensor, "batch offers"]:
    """How far corners move the prediction (TVD), some of them at a time: memory is bounded."""
    batch, offers, heads = ranks.shape
    size = reading.mask.shape[1]
    step = max(1, _NUMBERS // max(batch * heads * size, 1))
    found = []
    with torch.no_grad():
        for first in range(0, offers, step):
            weights = _laid_out(items, ranks[:, first : first + step], size)
            weights = weights * reading.mask[:, None, None]
            found.append(tvd(probabilities(reading.decode(weights)), reading.probabilities[:, None]))
    return torch.cat(found, dim=1)
