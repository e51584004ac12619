"""Scores that differ by rounding alone are equal: otherwise the batch they come in would decide who is first."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

ROUNDING = 1e-6
"""Of the largest score of a text: what single precision leaves uncertain."""

OF_CHANCES = 2**-21
"""What it leaves uncertain of a difference of probabilities, however small that is."""


def settled(
    scores: Float[Tensor, "batch items"], mask: Bool[Tensor, "batch items"], *, least: float = 0.0
) -> Float[Tensor, "batch items"]:
    """Give scores with near ties made exact: each becomes the least of those it cannot be told apart from.

    `least` is how far apart two scores must be at least to be told apart.

    >>> scores = torch.tensor([[0.5, 0.2, 0.5 + 1e-7, 0.0]])
    >>> settled(scores, scores > 0).tolist()[0][0] == settled(scores, scores > 0).tolist()[0][2]
    True
    """
    values = scores.detach().double().masked_fill(~mask, 0.0)
    uncertain = (ROUNDING * values.abs().amax(1, keepdim=True)).clamp(min=least)
    ordered, order = values.masked_fill(~mask, torch.inf).sort(dim=1, stable=True)
    begins = torch.ones_like(mask)
    begins[:, 1:] = ordered.diff(dim=1) > uncertain
    first = (torch.arange(mask.shape[1]) * begins).cummax(1).values
    return values.scatter(1, order, ordered.gather(1, first)).masked_fill(~mask, 0.0)
