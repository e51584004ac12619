"""The smallest set of items whose erasure changes a decision, exactly."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.measures.erasure import TIE, CheckedItems, blocks, classes, decide, kept_sums, spread


class FlipSet(NamedTuple):
    """The smallest set to erase; where nothing changes the decision: size 0, no members, to -1."""

    size: Int[Tensor, " batch"]
    members: Bool[Tensor, "batch items"]
    flips: Bool[Tensor, " batch"]
    to: Int[Tensor, " batch"]
    """The class decided on after erasing."""


def smallest_flip_set(
    weights: Float[Tensor, "batch items"],
    item_logits: Float[Tensor, "batch items"] | Float[Tensor, "batch items classes"],
    mask: Bool[Tensor, "batch items"],
    empty_logits: Float[Tensor, "*batch outputs"] | None = None,
) -> FlipSet:
    """Find the fewest items whose erasure (weights to zero, the rest renormalised) changes the decision.

    For a decoder linear in the weights a set takes the decision from c to c' exactly when what is kept satisfies
    Σ wᵢ(zᵢ[c] − zᵢ[c']) < 0, or = 0 with c' < c; renormalising changes no sign. So for each c' the largest terms
    go first, and the fewest over all c' is the minimum: O(classes · items log items).

    Inputs and rules are those of `erasure_curve`: of equal logits the lowest class wins, a binary classifier
    decides 1 if its logit is above 0, and when no weight is left `empty_logits` decide (without them the last
    item of positive weight stays). Of equally small sets: the one for the lowest c', of equal terms the lowest
    positions.

    >>> weights, says = torch.tensor([[0.4, 0.3, 0.2, 0.1]]), torch.tensor([[1.0, 3.0, -2.0, 1.0]])
    >>> found = smallest_flip_set(weights, says, weights > 0)
    >>> found.size, found.members, found.to
    (tensor([2]), tensor([[ True,  True, False, False]]), tensor([0]))
    >>> smallest_flip_set(weights, says.abs(), weights > 0).flips
    tensor([False])
    >>> smallest_flip_set(weights, says.abs(), weights > 0, empty_logits=torch.tensor([-0.5])).size
    tensor([4])
    """
    parts = [_flip_set(evidence) for _, evidence in blocks(weights, item_logits, mask, empty_logits)]
    return FlipSet(*(torch.cat(field) for field in zip(*parts, strict=True)))


def _flip_set(evidence: CheckedItems) -> FlipSet:
    weights, mask = evidence.weights, evidence.mask
    item_logits = classes(evidence.logits)
    spreads = spread(evidence.logits)
    decided = _decision(weights, item_logits, spreads)
    for_decided = _of_class(item_logits, decided)

    best = torch.full_like(decided, mask.shape[1] + 1)
    rival = torch.full_like(decided, -1)
    for other in range(item_logits.shape[-1]):
        terms = weights * (for_decided - item_logits[..., other])
        count = _fewest(terms, weights, spreads, mask, wins_ties=other < decided)
        better = (count < best) & (decided != other)
        best, rival = torch.where(better, count, best), rival.masked_fill(better, other)

    flips = rival >= 0
    terms = weights * (for_decided - _of_class(item_logits, rival.clamp_min(0)))
    rank = _largest_first(terms, mask).argsort(dim=1)
    members = (rank < best[:, None]) & flips[:, None]
    to = _decision(
        weights.masked_fill(members, 0), item_logits, spreads
    )  # may be a third class, beyond the rival

    if evidence.empty is not None:
        # Never as small as a set that leaves weight: erase all of it.
        empty = decide(evidence.empty, spread(evidence.empty))
        everything = ~flips & (empty != decided)
        members = torch.where(everything[:, None], weights > 0, members)
        to = torch.where(everything, empty, to)
        flips = flips | everything
    return FlipSet(members.sum(1), members, flips, to.masked_fill(~flips, -1))


def _fewest(terms: Tensor, weights: Tensor, spreads: Tensor, mask: Tensor, *, wins_ties: Tensor) -> Tensor:
    """How many of the largest terms to erase until the rest decides otherwise; items + 1 if it never does."""
    order = _largest_first(terms, mask)
    balance = kept_sums(terms.gather(1, order))
    left = weights.gather(1, order)
    tie = TIE * kept_sums(left * spreads.gather(1, order))
    flipped = (balance < -tie) | ((balance <= tie) & wins_ties[:, None])
    flipped &= kept_sums(left) > 0
    flipped[:, 0] = False  # erasing nothing changes nothing
    first = flipped.to(torch.uint8).argmax(1)
    return torch.where(flipped.any(1), first, terms.shape[1] + 1)


def _largest_first(terms: Tensor, mask: Tensor) -> Tensor:
    return terms.masked_fill(~mask, -torch.inf).argsort(dim=1, descending=True, stable=True)


def _of_class(item_logits: Tensor, wanted: Tensor) -> Tensor:
    """The logits of one class per instance."""
    return item_logits.gather(2, wanted[:, None, None].expand(-1, item_logits.shape[1], 1))[..., 0]


def _decision(weights: Tensor, item_logits: Tensor, spreads: Tensor) -> Tensor:
    total = weights.sum(1)
    logits = (weights[..., None] * item_logits).sum(1) / total[:, None]
    return decide(logits, (weights * spreads).sum(1) / total)
