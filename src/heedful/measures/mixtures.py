"""How far one heatmap can be mixed into another while the prediction stays, for any number of classes.

Between two heatmaps JSD to a third is convex, so that it is largest at the first or the last mixture that leaves the
prediction where it was: no other need be looked at. `prediction_window` bounds these two for decoders linear in the weights,
and `feasible_shares` finds them for any decoder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.measures.divergence import LN_2, tvd

GRID = 17
"""Shares tried between the ends of a window, before the first and the last feasible one are closed in on."""

HALVINGS = 12
"""Of the distance between two shares of the grid: a 4,096th is left of it, which moves no JSD by a ten-thousandth."""

INSIDE = 1 - 1e-9
"""Of what the prediction may move: rounding must not make a mixture infeasible to who judges it again."""


class Shares(NamedTuple):
    """A range of shares of the second heatmap; NaN where there is none."""

    least: Float[Tensor, "*segments"]
    most: Float[Tensor, "*segments"]


def prediction_window(
    start: Float[Tensor, "*segments classes"],
    end: Float[Tensor, "*segments classes"],
    probabilities: Float[Tensor, "*segments classes"],
    epsilon: float,
) -> Shares:
    """Bound the shares t for which softmax((1 − t) · start + t · end) can lie within ε of the probabilities.

    The logarithm of the odds of two classes is linear in t, and within ε the odds of classes a and b lie between
    (a − ε) / (b + ε) and (a + ε) / (b − ε). Each class stands against the likeliest: what is left is one interval.

    >>> even, sure = torch.tensor([[0.0, 0.0]]).double(), torch.tensor([[4.0, 0.0]]).double()
    >>> [round(share.item(), 2) for share in prediction_window(even, sure, torch.softmax(sure / 2, 1), 0.01)]
    [0.48, 0.52]
    """
    likeliest = probabilities.argmax(-1, keepdim=True)
    top = probabilities.gather(-1, likeliest)
    lowest = (top - epsilon).clamp(min=0).log() - (probabilities + epsilon).log()
    highest = (top + epsilon).log() - (probabilities - epsilon).clamp(min=0).log()
    first = start.gather(-1, likeliest.expand_as(start[..., :1])) - start
    slope = end.gather(-1, likeliest.expand_as(end[..., :1])) - end - first
    flat = slope == 0
    to_lowest, to_highest = ((bound - first) / slope.masked_fill(flat, 1) for bound in (lowest, highest))
    outside = flat & ((first < lowest) | (first > highest))
    least = torch.minimum(to_lowest, to_highest).masked_fill(flat, 0).masked_fill(outside, torch.inf)
    most = torch.maximum(to_lowest, to_highest).masked_fill(flat, 1)
    # The likeliest class stands against itself too, which is flat and within its bounds.
    least, most = least.amax(-1).clamp(min=0), most.amin(-1).clamp(max=1)
    nowhere = least > most
    return Shares(least.masked_fill(nowhere, torch.nan), most.masked_fill(nowhere, torch.nan))


def feasible_shares(
    says: Callable[[Float[Tensor, "*segments shares"]], Float[Tensor, "*segments shares classes"]],
    window: Shares,
    probabilities: Float[Tensor, "*segments classes"],
    epsilon: float,
    *,
    grid: int = GRID,
    halvings: int = HALVINGS,
) -> Shares:
    """Find the first and the last share in a window whose prediction lies within ε of the probabilities.

    A grid is laid over the window, and a finer one about its nearest share where none of it is feasible; then the first and
    the last are closed in on by halving. Every share that is returned is feasible: `says` was asked.

    >>> probabilities = torch.tensor([[0.5, 0.5]]).double()
    >>> def says(share):
    ...     return torch.stack([share, 1 - share], -1)
    >>> whole = Shares(torch.zeros(1).double(), torch.ones(1).double())
    >>> [round(share.item(), 3) for share in feasible_shares(says, whole, probabilities, 0.02)]
    [0.48, 0.52]
    """

    def moved(shares: Tensor) -> Tensor:
        return tvd(says(shares), probabilities[..., None, :]) - INSIDE * epsilon

    places = torch.linspace(0, 1, grid, dtype=torch.float64)
    least, most = (end.nan_to_num(0.5)[..., None] for end in window)  # where there is none, any will do
    shares = least + (most - least) * places
    beyond = moved(shares)
    if bool((beyond > 0).all(-1).any()):
        nearest = shares.gather(-1, beyond.argmin(-1, keepdim=True))
        step = (most - least) / (grid - 1)
        finer = torch.maximum(nearest - step, least) + 2 * step * places
        finer = torch.minimum(finer, most)
        shares = torch.where((beyond > 0).all(-1, keepdim=True), finer, shares)
        beyond = moved(shares)
    feasible = beyond <= 0
    some = feasible.any(-1) & ~window.least.isnan()
    first = feasible.to(torch.uint8).argmax(-1)
    last = grid - 1 - feasible.flip(-1).to(torch.uint8).argmax(-1)
    inside = shares.gather(-1, torch.stack([first, last], -1))
    outside = shares.gather(-1, torch.stack([(first - 1).clamp(min=0), (last + 1).clamp(max=grid - 1)], -1))
    for _ in range(halvings):
        middle = (inside + outside) / 2
        good = moved(middle) <= 0
        inside, outside = torch.where(good, middle, inside), torch.where(good, outside, middle)
    return Shares(*(end.masked_fill(~some, torch.nan) for end in inside.unbind(-1)))


def few_jsd(
    own: Sequence[Float[Tensor, "*batch heads"]], new: Sequence[Float[Tensor, "*batch"]]
) -> Float[Tensor, "*batch"]:
    """JSD, averaged over heads, between weights and a heatmap of a few items, from the weights of these items alone.

    Items that only one of the two distributions holds add their weight times ln 2, halved, and need not be known.

    >>> half = torch.tensor([[0.5]]).double()
    >>> few_jsd([half, half], [torch.tensor([0.5]).double(), torch.tensor([0.5]).double()])
    tensor([0.], dtype=torch.float64)
    """
    overlap = sum(_overlap(a, b[..., None]) for a, b in zip(own, new, strict=True))
    return (LN_2 - torch.as_tensor(overlap) / 2).clamp(0, LN_2).mean(-1)


def _overlap(own: Tensor, new: Tensor) -> Tensor:
    both = own + new
    return torch.xlogy(both, both) - torch.xlogy(new, new) - torch.xlogy(own, own)
