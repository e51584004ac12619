"""Bounds that hold whatever is chosen: intervals through linear maps, and the least mean that any choice of options has.

All in double precision. Every linear map widens its result outward by `ROUNDING` times the sizes of what it adds up, which is
more than all rounding of the map itself and of the elementwise functions before it.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

ROUNDING = 1e-12
"""Relative width added at every linear map: thousands of times the rounding of a sum of a few thousand doubles."""

_HALVINGS = 40


class Box(NamedTuple):
    """A lower and an upper bound of every number."""

    low: Float[Tensor, "*any"]
    high: Float[Tensor, "*any"]

    @property
    def size(self) -> Float[Tensor, "*any"]:
        """The largest absolute value inside."""
        return torch.maximum(self.low.abs(), self.high.abs())


def through(
    box: Box,
    weight: Float[Tensor, "*any outputs inputs"],
    bias: Float[Tensor, "*any outputs"] | None = None,
    *,
    slack: float = 0.0,
) -> Box:
    """Send a box [..., inputs] through a linear map; `slack` widens it further, relative to the sizes of what is added up.

    >>> box = through(Box(torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0, 2.0]])), torch.tensor([[1.0, -1.0]]))
    >>> box.low.round(), box.high.round()
    (tensor([[-2.]]), tensor([[0.]]))
    """
    up, down = weight.clamp(min=0).mT, weight.clamp(max=0).mT
    low, high = box.low @ up + box.high @ down, box.high @ up + box.low @ down
    wide = box.size @ weight.abs().mT
    if bias is not None:
        low, high, wide = low + bias, high + bias, wide + bias.abs()
    wide = (ROUNDING + slack) * wide
    return Box(low - wide, high + wide)


def least_mean(
    log_masses: Float[Tensor, "*any items options"],
    values: Float[Tensor, "*any items options"],
    there: Bool[Tensor, "*any items options"],
) -> Float[Tensor, "*any"]:
    """Bound from below the mean Σ mᵢvᵢ / Σ mᵢ, over every choice of one option (mass and value) for each item.

    A mean is never below λ exactly when Σ mᵢ(vᵢ − λ) never is below 0, and that is a sum over items: each item's least option is
    found by itself. λ is halved in from the least value of all; what is returned has always been proven, and is less than the
    minimum by at most a millionth of a millionth of the range of the values. An item without options is none; without
    any item the bound is 0.

    >>> masses, values = torch.tensor([[1.0, 3.0], [1.0, 1.0]]).log(), torch.tensor([[0.0, 0.0], [1.0, 2.0]])
    >>> least_mean(masses, values, torch.ones(2, 2, dtype=torch.bool))
    tensor(0.2500, dtype=torch.float64)
    """
    log_masses, values = log_masses.double(), values.double()
    low = values.masked_fill(~there, torch.inf).flatten(-2).amin(-1)
    high = values.masked_fill(~there, -torch.inf).flatten(-2).amax(-1)
    nothing = ~there.flatten(-2).any(-1)
    low, high = low.masked_fill(nothing, 0.0), high.masked_fill(nothing, 0.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        proven = _never_below(log_masses, values - middle[..., None, None], there)
        low, high = torch.where(proven, middle, low), torch.where(proven, high, middle)
    return low - ROUNDING * torch.maximum(low.abs(), high.abs())


def _never_below(log_masses: Tensor, values: Tensor, there: Tensor) -> Bool[Tensor, "*any"]:
    """Whether Σ mᵢvᵢ ≥ 0 for every choice, with something to spare for rounding."""
    sizes = log_masses + values.abs().log()
    against = sizes.masked_fill(~there | (values >= 0), -torch.inf).amax(-1)
    held = sizes.masked_fill(~there | (values < 0), torch.inf).amin(-1)
    # An option against is worse than any that is not; an item without options is in neither sum.
    held = held.masked_fill((there & (values < 0)).any(-1) | ~there.any(-1), -torch.inf)
    above, below = held.logsumexp(-1), against.logsumexp(-1)
    return (above >= below + ROUNDING * below.abs().clamp(min=1)) | below.isneginf()
