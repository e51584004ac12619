"""Random numbers that belong to an instance: the same whatever batch, padding or order it comes in."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

_STEP, _MIX_1, _MIX_2 = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def uniform_by_instance(
    rows: Int[Tensor, " batch"], items: int, *, seed: int, draw: int = 0
) -> Float[Tensor, "batch items"]:
    """Numbers in [0, 1) that follow from the seed, the draw, an instance's number and an item's place alone.

    They are made by mixing these four (splitmix64), so that no generator's state runs through a batch.

    >>> one = uniform_by_instance(torch.tensor([7]), 3, seed=0)
    >>> many = uniform_by_instance(torch.tensor([5, 7]), 9, seed=0)
    >>> torch.equal(one[0], many[1, :3])
    True
    """
    places = np.arange(items, dtype=np.uint64)
    state = np.uint64(seed % 2**64)
    mixed = _mix(_mix(_mix(state) + np.uint64(draw))[None] + rows.numpy().astype(np.uint64))
    keys = _mix(mixed[:, None] + places[None, :])
    return torch.from_numpy((keys >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def _mix(numbers: np.ndarray | np.uint64) -> np.ndarray:
    with np.errstate(over="ignore"):  # arithmetic modulo 2⁶⁴ is the point
        z = np.asarray(numbers) + _STEP
        z = (z ^ (z >> np.uint64(30))) * _MIX_1
        z = (z ^ (z >> np.uint64(27))) * _MIX_2
        mixed: np.ndarray = z ^ (z >> np.uint64(31))
    return mixed
