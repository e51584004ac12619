"""How many words make a rationale, and what a prediction loses with them or keeps of them (ERASER)."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

PERCENTS = (1, 5, 10, 20, 50)
"""Shares of a text's words that ERASER averages over, in percent."""


def rationale_sizes(lengths: Int[Tensor, " batch"]) -> Int[Tensor, "batch percents"]:
    """Words in the top 1, 5, 10, 20 and 50 % of texts, rounded up, so that one at least is always taken.

    >>> rationale_sizes(torch.tensor([1, 20, 101])).tolist()
    [[1, 1, 1, 1, 1], [1, 1, 2, 4, 10], [2, 6, 11, 21, 51]]
    """
    percents = torch.tensor(PERCENTS)
    # In whole numbers: 0.05 · 20 must not come out above 1 and be rounded up to 2.
    return ((lengths[:, None] * percents + 99) // 100).clamp(min=1)


def mean_loss(
    before: Float[Tensor, " batch"], after: Float[Tensor, "batch sizes"]
) -> Float[Tensor, " batch"]:
    """Signed drop of the probability of the class first decided on, averaged over the sizes of a rationale.

    Of texts without the rationale this is comprehensiveness, of the rationale alone sufficiency (AOPC).

    >>> mean_loss(torch.tensor([0.9]), torch.tensor([[0.9, 0.3]]))
    tensor([0.3000])
    """
    return (before[:, None] - after).mean(1)


def share_of_best(
    own: Float[Tensor, " batch"],
    random: Float[Tensor, " batch"],
    references: Float[Tensor, "rankings batch"],
    *,
    least: float,
) -> Float[Tensor, " batch"]:
    """How far a ranking comes from a random one (0) to the best of some references (1), by what is lost; from −1 to 1.

    NaN where even the best reference is not `least` above a random one: then nothing in the text is worth pointing at. Which texts
    count does not depend on the ranking itself, unless it is a reference; so all rankings are asked the same.

    >>> own, random = torch.tensor([0.3, 0.1, 0.4]), torch.tensor([0.1, 0.1, 0.0])
    >>> share_of_best(own, random, torch.tensor([[0.5, 0.5, 0.0]]), least=0.1)
    tensor([0.5000, 0.0000,    nan])
    """
    best = references.amax(0)
    there = best - random >= least
    share = (own - random) / (best - random).masked_fill(~there, 1.0)
    return share.clamp(-1.0, 1.0).masked_fill(~there, torch.nan)
