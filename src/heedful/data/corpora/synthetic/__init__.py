"""Corpora made here, with the evidence for every label recorded, so that they work anywhere.

`mock` plants opinion words among filler; `babi` tells stories of people, places and objects.
`generate` gives any of them by name.
"""

from __future__ import annotations

import re
from typing import cast

from heedful.data.corpora.synthetic.babi import TASKS, babi_corpus
from heedful.data.corpora.synthetic.mock import MOCK, Placement, mock_corpus
from heedful.data.corpora.synthetic.opinion_words import Strength
from heedful.data.corpus import Corpus
from heedful.errors import BadInput, did_you_mean

_BABI = {f"babi_{task}_generated": task for task in TASKS}

SYNTHETIC: tuple[str, ...] = (*MOCK, *_BABI)

_CONTROLLED = re.compile(r"mock_(\d+)(q?)(?:_(start|middle|end))?(?:_(strong|weak))?")

__all__ = ["SYNTHETIC", "generate", "is_synthetic"]


def is_synthetic(name: str) -> bool:
    """Whether a name is that of a synthetic corpus: listed, or a Mock corpus with controls in its name.

    >>> is_synthetic("mock_1"), is_synthetic("mock_3_end_weak"), is_synthetic("mock_1_left")
    (True, True, False)
    """
    return name in SYNTHETIC or _CONTROLLED.fullmatch(name) is not None


def generate(name: str, *, seed: int = 0) -> Corpus:
    """Make the synthetic corpus of that name; the same seed gives the same corpus."""
    if name in MOCK:
        return mock_corpus(informative=MOCK[name], seed=seed)
    if controls := _CONTROLLED.fullmatch(name):
        number, quarters, placement, strength = controls.groups()
        return mock_corpus(
            informative=int(number) / 4 if quarters else int(number),
            placement=cast(Placement, placement or "scattered"),
            strength=cast(Strength, strength or "any"),
            seed=seed,
        )
    if name in _BABI:
        return babi_corpus(_BABI[name], seed=seed)
    raise BadInput(f"There is no synthetic corpus named {name!r}: {did_you_mean(name, SYNTHETIC)}")
