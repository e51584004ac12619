"""Random numbers of searches: each text has its own, whatever stands beside it and however often it is attacked."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heedful.attacks.draft import Source


def text_generator(seed: int, source: Source) -> np.random.Generator:
    """Give the generator of a text: it depends on the seed and on what the text says."""
    digest = hashlib.sha256(source.text.encode("utf-8", "surrogatepass")).digest()
    return np.random.default_rng([seed, int.from_bytes(digest[:16], "big")])


def draw(generator: np.random.Generator, places: Sequence[int], weights: ArrayLike) -> int:
    """Draw one of several places, each as often as its weight says; without any weight, all equally often."""
    values = np.asarray(weights, dtype=np.float64)
    if values.sum() <= 0:
        values = np.ones(len(places))
    # By hand: a generator's own `choice` refuses weights that miss one in their last digit.
    limits = values.cumsum()
    place = int(np.searchsorted(limits, generator.random() * limits[-1], side="right"))
    return places[min(place, int(np.flatnonzero(values)[-1]))]


def selection_probabilities(scores: ArrayLike, temperature: float) -> NDArray[np.float64]:
    """Give how probable it is that each member of a population is chosen for a parent: fitter ones more.

    >>> selection_probabilities([0.9, 0.1], 0.3).round(3).tolist()
    [0.935, 0.065]
    """
    values = np.asarray(scores, dtype=np.float64) / temperature
    powers = np.exp(values - values.max())
    result: NDArray[np.float64] = powers / powers.sum()
    return result
