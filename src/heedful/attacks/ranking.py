"""Ranks that do not depend on rounding: what differs by less than a computer can tell is a tie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

TIE = 1e-6
"""Scores that are nearer than this are equal: how texts are batched changes the last digits of single precision."""


def ranked(scores: Sequence[float] | NDArray[np.float64], *, tie: float = TIE) -> list[int]:
    """Give places from the highest score to the lowest; of equal ones the first comes first.

    >>> ranked([0.2, 0.9, 0.2 + 1e-9, 0.5])
    [1, 3, 0, 2]
    """
    values = np.asarray(scores, dtype=np.float64)
    order = np.argsort(-values, kind="stable").tolist()
    result: list[int] = []
    first = 0
    while first < len(order):
        last = first + 1
        while last < len(order) and values[order[first]] - values[order[last]] <= tie:
            last += 1
        result += sorted(order[first:last])
        first = last
    return result


def beats(score: float, other: float, *, tie: float = TIE) -> bool:
    """Whether a score is higher than another by more than rounding."""
    return score - other > tie
