"""Random numbers that belong to an instance: the same whatever batch, padding or order it comes in."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

_STEP, _MIX_1, _MIX_2 = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_PLACE = np.uint64(2**20 - 1)  # the bits of a key that hold a place, where keys are sorted: a million items


class Stream(IntEnum):
    """Where the draws of each user begin: `Stream.FLIP_SET + 2` is its third.

    Of the same seed, draws of different streams know nothing of each other. A number that is in use never changes,
    because everything drawn from it would change too; a new stream begins a million after the last.
    """

    SHARED = 0
    """Shuffled weights, starts of the heatmap search, noise, synonyms, and the scores of the explainer `random`."""
    SINGLE_ERASURE = 1_000_003
    FLIP_SET = 2_000_003
    RATIONALE = 5_000_003
    SENSITIVITY = 6_000_003
    PLAUSIBILITY = 7_000_003
    DELETIONS = 8_000_003
    """Which words infidelity deletes: one draw for how many, and one for each deletion."""
    DELETIONS_RANDOM = 8_000_024
    """The random scores they are compared with."""
    DELETIONS_SHUFFLED = 8_000_025
    """The order in which scores are shuffled, to compare with too."""


def uniform_by_instance(
    rows: Int[Tensor, " batch"], items: int, *, seed: int, draw: int = Stream.SHARED
) -> Float[Tensor, "batch items"]:
    """Numbers in [0, 1) that follow from the seed, the draw, an instance's number and an item's place alone.

    They are made by mixing these four (splitmix64), so that no generator's state runs through a batch.

    >>> one = uniform_by_instance(torch.tensor([7]), 3, seed=0)
    >>> many = uniform_by_instance(torch.tensor([5, 7]), 9, seed=0)
    >>> torch.equal(one[0], many[1, :3])
    True
    """
    keys = _keys(rows, items, seed, range(draw, draw + 1))[0]
    return torch.from_numpy((keys >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def shuffles_by_instance(
    rows: Int[Tensor, " batch"], lengths: Int[Tensor, " batch"], *, seed: int, draws: range
) -> Int[Tensor, "draws batch items"]:
    """Random orders of the first `lengths` places of each instance, one per draw; the other places follow.

    They belong to the instance as the numbers of `uniform_by_instance` do, whatever the longest length is.

    >>> shuffled = shuffles_by_instance(torch.tensor([7]), torch.tensor([3]), seed=0, draws=range(4))
    >>> shuffled.sort().values[:, 0].tolist()
    [[0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2]]
    """
    places = np.arange(int(lengths.max()), dtype=np.uint64)
    # A key is random above and its place below: sorting numbers is many times as fast as sorting places by them.
    low = np.where(places < lengths.numpy()[:, None], places, places | ~_PLACE)
    keys = _keys(rows, len(places), seed, draws)
    keys &= ~_PLACE
    keys |= low
    keys.sort(axis=-1)
    keys &= _PLACE
    return torch.from_numpy(keys.view(np.int64))


def _keys(rows: Int[Tensor, " batch"], items: int, seed: int, draws: range) -> NDArray[np.uint64]:
    """64 random bits for each [draw, instance, place]."""
    mixed = _mix(np.array([seed % 2**64], dtype=np.uint64))
    for numbers in (np.array(draws), rows.numpy(), np.arange(items)):
        mixed = _mix(mixed[..., None] + numbers.astype(np.uint64))
    keys: NDArray[np.uint64] = mixed[0]
    return keys


def _mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = numbers + _STEP  # of arrays, modulo 2⁶⁴ without complaint
    for shift, factor in ((30, _MIX_1), (27, _MIX_2)):
        z ^= z >> np.uint64(shift)
        z *= factor
    z ^= z >> np.uint64(31)
    return z
