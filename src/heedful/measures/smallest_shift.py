"""The smallest shift of an input that changes a decision, searched for along gradients: an upper bound of the true one."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

Falling = Callable[
    [Float[Tensor, "some size"], Int[Tensor, " some"]],
    tuple[Float[Tensor, " some"], Float[Tensor, "some size"]],
]
"""Margin of the decision under shifts of some attempts, and the direction in which it falls fastest."""

STEPS = 3
"""Gradient steps on one sphere after which it is taken to hold no change of decision."""

CLOSE = 1.05
"""The search ends when the smallest radius that flips and the largest that does not differ by this factor."""

ITERATIONS = 60
"""Gradients taken for one attempt at most; most need a quarter."""

_FIRST = 1.0  # radius to begin with where the gradient says nothing
_LEAST = 1e-9
_TINY = torch.finfo(torch.float64).tiny


class SmallestShift(NamedTuple):
    """The smallest norm found at which each decision changes (infinite: none), and a shift that has it."""

    radius: Float[Tensor, " attempts"]
    shift: Float[Tensor, "attempts size"]


class _Bracket(NamedTuple):
    """The largest radius that did not flip a decision, the smallest that did, and the margins there and at 0."""

    low: Float[Tensor, " attempts"]
    high: Float[Tensor, " attempts"]
    at_zero: Float[Tensor, " attempts"]
    at_low: Float[Tensor, " attempts"]
    at_high: Float[Tensor, " attempts"]

    def next(self, rising: Bool[Tensor, " attempts"], largest: float) -> Float[Tensor, " attempts"]:
        """Give the radius to try: where the margin would vanish if it were linear, and a little more.

        It is no nearer to the upper end than closes the bracket. On a curved margin that might creep, so that a
        raised lower end (`rising`) is followed by the geometric mean of both.
        """
        low, high, zero, at_low, at_high = self
        straight = low + (high - low) * at_low / (at_low - at_high)
        inside = torch.minimum(straight * CLOSE**0.5, high / CLOSE)
        inside = torch.where(rising, (low * high).sqrt(), inside)
        outside = low * CLOSE**0.5 * zero / (zero - at_low).clamp(min=_TINY)
        outside = outside.clamp(1.2 * low, 3 * low)
        return torch.where(high.isinf(), outside, inside).clamp(_LEAST, largest)


def smallest_shift(
    falling: Falling, directions: Float[Tensor, "attempts size"], *, largest: float
) -> SmallestShift:
    """Search for the smallest ℓ2 norm at which the margin of a decision falls below 0, all attempts together.

    Projected gradient steps with a binary search, a bracket of radii for each attempt: on a sphere of radius r the shift
    takes up to `STEPS` normalised steps of r, r/2, r/3, …, each pulled back onto it. A change of decision is the new
    upper end, none the lower one, and the search goes on between them from the direction it has. It begins along the
    gradient, and where that vanishes along the `directions` given.

    >>> slope = torch.tensor([[3.0, 4.0]], dtype=torch.float64)
    >>> found = smallest_shift(lambda x, some: (10 - x @ slope[0], slope.expand_as(x)), slope, largest=9.0)
    >>> 2 <= found.radius.item() <= 2 * CLOSE
    True
    """
    ids = torch.arange(len(directions))
    shift = torch.zeros_like(directions)
    margin, slope = falling(shift, ids)
    steep = slope.norm(dim=1)
    flat = steep <= _TINY
    radius = torch.where(flat, _FIRST, margin / steep.masked_fill(flat, 1)).clamp(_LEAST, largest)
    shift = _scaled(torch.where(flat[:, None], directions, slope), radius)
    nowhere = torch.full_like(radius, torch.inf)
    bracket = _Bracket(torch.zeros_like(radius), nowhere, margin, margin, -nowhere)
    found, steps = SmallestShift(nowhere.clone(), torch.zeros_like(shift)), torch.zeros_like(radius)
    for _ in range(ITERATIONS):
        if not len(ids):
            break
        margin, slope = falling(shift, ids)
        steps = steps + 1
        flips = margin < 0
        fails = ~flips & (steps > STEPS)
        found.radius[ids[flips]], found.shift[ids[flips]] = radius[flips], shift[flips]
        bracket = bracket._replace(
            low=torch.where(fails, radius, bracket.low),
            high=torch.where(flips, radius, bracket.high),
            at_low=torch.where(fails, margin, bracket.at_low),
            at_high=torch.where(flips, margin, bracket.at_high),
        )
        leaves = flips | fails  # for another sphere
        shift = shift + _scaled(slope, torch.where(leaves, 0.0, radius / steps))
        radius = torch.where(leaves, bracket.next(fails, largest), radius)
        shift, steps = _scaled(shift, radius), torch.where(leaves, 0.0, steps)
        done = (
            (bracket.high <= CLOSE * bracket.low * (1 + 1e-9))
            | (bracket.low >= largest)
            | (bracket.high <= _LEAST)
        )
        ids, shift, radius, steps = (field[~done] for field in (ids, shift, radius, steps))
        bracket = _Bracket(*(field[~done] for field in bracket))
    return found


def _scaled(
    shift: Float[Tensor, "attempts size"], norm: Float[Tensor, " attempts"]
) -> Float[Tensor, "attempts size"]:
    """Give the same direction with this norm, however short the shift is; nothing stays nothing."""
    unit = shift / shift.abs().amax(1, keepdim=True).clamp(min=_TINY)
    length = unit.norm(dim=1)
    factor: Tensor = norm / length.masked_fill(length == 0, 1.0)  # where there is no direction: 0, not 0 · ∞
    return unit * factor[:, None]
