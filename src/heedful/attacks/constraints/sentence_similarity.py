"""A sentence with a substitute must be like the sentence without it, to a sentence encoder."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.attacks.cut import word_spans
from heedful.attacks.draft import Draft, Source
from heedful.data.fetch import assets
from heedful.errors import BadInput

Encode = Callable[[Sequence[str]], Float[Tensor, "sentences size"]]
"""Sentences → vectors of length one."""


class SentenceSimilarity:
    """Angular similarity, 1 − angle / π, of a window of words around the substitute, before and after.

    Before is the text that a word was last replaced in, or the original.
    It is not asked of texts with fewer words than the window: they are as similar as can be.
    """

    def __init__(
        self,
        encode: Encode,
        *,
        least: float,
        window: int | None = 15,
        to: Literal["original", "current"] = "current",
    ) -> None:
        self._least, self._window, self._to = least, window, to
        self._encodings = _Encodings(encode)

    @classmethod
    def load(
        cls,
        name: str,
        *,
        least: float,
        window: int | None = 15,
        to: Literal["original", "current"] = "current",
    ) -> SentenceSimilarity:
        """Take an encoder by the name of an asset or the path of its folder."""
        from heedful.attacks.constraints.sentence_encoder import SentenceEncoder
        from heedful.attacks.constraints.universal_sentence_encoder import UniversalSentenceEncoder

        folder = Path(name).expanduser()
        if name in assets.assets():
            found = assets.find(name)
            if found is None:
                raise BadInput(f"The sentence encoder {name} is not here yet: run heedful data get {name}.")
            folder = found
        universal = UniversalSentenceEncoder.lies_in(folder)
        encode = UniversalSentenceEncoder(folder) if universal else SentenceEncoder(folder)
        return cls(encode, least=least, window=window, to=to)

    @property
    def encoded(self) -> int:
        """Sentences that were encoded by now."""
        return len(self._encodings)

    def compare(self, drafts: Sequence[Draft]) -> list[float | None]:
        """Encode the windows that are new, and compare."""
        pairs = {
            place: pair for place, draft in enumerate(drafts) if (pair := self._windows(draft)) is not None
        }
        found = [1.0] * len(drafts)
        for place, similarity in zip(pairs, self._encodings.similarities(list(pairs.values())), strict=True):
            found[place] = similarity
        return [similarity if similarity >= self._least else None for similarity in found]

    def _windows(self, draft: Draft) -> tuple[str, str] | None:
        """Give the same words of the text before a replacement and after it; None where it is too short."""
        spans = word_spans(draft.text)
        if self._window is not None and len(spans) < self._window:
            return None
        after = self._around(draft.text, spans, draft.place(draft.position))
        before = self._before(draft)
        if isinstance(before, Source):
            return self._around(before.text, before.spans, draft.position), after
        spans = word_spans(before.text)
        return self._around(before.text, spans, before.place(draft.position)), after

    def _before(self, draft: Draft) -> Draft | Source:
        if self._to == "original":
            return draft.source
        assert draft.base is not None
        return draft.base

    def _around(self, text: str, spans: Sequence[tuple[int, int]], place: int) -> str:
        first, last = window_around(place, len(spans), self._window)
        return text[spans[first][0] : spans[last][1]]


class _Encodings:
    """Sentences that were encoded, each once."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._vectors: dict[str, Tensor] = {}

    def __len__(self) -> int:
        return len(self._vectors)

    def similarities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Compare the two sentences of every pair."""
        new = [
            text
            for text in dict.fromkeys(text for pair in pairs for text in pair)
            if text not in self._vectors
        ]
        if new:
            # In double precision: the angle of nearly equal vectors needs it.
            self._vectors |= dict(zip(new, self._encode(new).double(), strict=True))
        if not pairs:
            return []
        one, other = (torch.stack([self._vectors[pair[side]] for pair in pairs]) for side in (0, 1))
        cosines = torch.nn.functional.cosine_similarity(one, other).clamp(-1, 1)
        return (1 - torch.acos(cosines) / math.pi).tolist()


def window_around(place: int, words: int, size: int | None) -> tuple[int, int]:
    """Give the first and the last word of a window, which is whole at the ends of a text too.

    >>> [window_around(place, 9, 5) for place in (0, 4, 8)]
    [(0, 4), (2, 6), (4, 8)]
    """
    if size is None:
        return 0, words - 1
    half = (size - 1) / 2
    if place - half < 0:
        return 0, min(size, words) - 1
    if place + half >= words:
        return max(0, words - size), words - 1
    return place - math.ceil(half), place + math.floor(half)
