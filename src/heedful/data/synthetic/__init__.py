"""Corpora made here, with the evidence for every label recorded, so that they work anywhere.

`mock` plants opinion words among filler; `babi` tells stories of people, places and objects.
`generate` gives any of them by name.
"""

from __future__ import annotations

from heedful.data.corpus import Corpus
from heedful.data.synthetic.babi import TASKS, babi_corpus
from heedful.data.synthetic.mock import MOCK, mock_corpus
from heedful.errors import BadInput, did_you_mean

_BABI = {f"babi_{task}_generated": task for task in TASKS}

SYNTHETIC: tuple[str, ...] = (*MOCK, *_BABI)

__all__ = ["SYNTHETIC", "generate"]


def generate(name: str, *, seed: int = 0) -> Corpus:
    """Make the synthetic corpus of that name; the same seed gives the same corpus."""
    if name in MOCK:
        return mock_corpus(informative=MOCK[name], seed=seed)
    if name in _BABI:
        return babi_corpus(_BABI[name], seed=seed)
    raise BadInput(f"There is no synthetic corpus named {name!r}: {did_you_mean(name, SYNTHETIC)}")
