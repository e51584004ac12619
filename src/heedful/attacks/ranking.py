"""Ranks that do not depend on rounding: what differs by less than a computer can tell is a tie.

How texts are batched changes the last digits of single precision. What that does to a logit, it does to 1 − p in
proportion to its size: of a text that a model is sure of, scores of 1e-5 and 1.1e-5 are no tie.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

TIE = 2e-6
"""Scores that are nearer than this, in proportion to the higher, are equal."""
LEAST = 1e-7
"""So are those that are nearer than this: p has no more digits in single precision."""


def ranked(scores: Sequence[float] | NDArray[np.float64], *, least: float = LEAST) -> list[int]:
    """Give places from the highest score to the lowest; of equal ones the first comes first.

    >>> ranked([0.2, 0.9, 0.2 + 1e-9, 0.5])
    [1, 3, 0, 2]
    """
    values = np.asarray(scores, dtype=np.float64)
    order = np.argsort(-values, kind="stable").tolist()
    result: list[int] = []
    first = 0
    while first < len(order):
        last, highest = first + 1, float(values[order[first]])
        while last < len(order) and highest - values[order[last]] <= _tie(highest, least):
            last += 1
        result += sorted(order[first:last])
        first = last
    return result


def beats(score: float, other: float) -> bool:
    """Whether a score is higher than another by more than rounding."""
    return score - other > _tie(score, LEAST)


def _tie(score: float, least: float) -> float:
    return max(least, TIE * abs(score))
