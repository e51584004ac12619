"""Training texts and what an attack made of them, batch by batch, with the words that were replaced."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.data.attacked import AttackedTexts
from heedful.data.corpus import Split
from heedful.data.instances import Batch, Instances
from heedful.data.tokens import Tokens
from heedful.data.words.substitution import Stretches, stretches, word_spans, words_of
from heedful.data.words.vocabulary import Vocabulary
from heedful.errors import BadInput

_CHUNK = 512  # texts aligned at a time


@dataclass(frozen=True)
class Pair:
    """Those texts of a batch that were attacked, and what became of them, in the same order."""

    original: Batch
    attacked: Batch
    of: Int[Tensor, " replaced"]
    """The pair that each replaced stretch of words belongs to."""
    words: Int[Tensor, "replaced 2"]
    """Its number in the original, and that of what stands in its place in the attacked text."""
    stretch_of: Int[Tensor, "batch words"]
    """The stretch of each word of the original; almost all have one word."""
    stretch_after: Int[Tensor, "batch others"]
    """The stretch of each word of the attacked text."""

    def gap(
        self, before: Float[Tensor, "batch tokens"], after: Float[Tensor, "batch others"]
    ) -> Float[Tensor, " batch"]:
        """Σ |φ − φ′| of each pair over its replaced words (Equation 3), from numbers for the tokens of both.

        Where several words stand in the place of one, or one in that of several, the numbers of all their pieces are averaged.
        """
        apart = (
            by_stretch(before, self.original.tokens, self.stretch_of)[self.of, self.words[:, 0]]
            - by_stretch(after, self.attacked.tokens, self.stretch_after)[self.of, self.words[:, 1]]
        )
        return before.new_zeros(len(before)).index_add(0, self.of, apart.abs())


class Pairs:
    """All pairs of a training split: tokenised and aligned once."""

    def __init__(
        self,
        train: Instances,
        texts: AttackedTexts,
        vocabulary: Vocabulary,
        *,
        where: str = "The attacked texts",
    ) -> None:
        _check(train, texts, where)
        split, rows = train.split, texts.rows
        told = split.take(rows)
        self.train = train
        self.attacked = Instances.encode(
            Split(texts.attacked, told.labels, told.queries, candidates=told.candidates),
            vocabulary,
            classes=train.classes,
        )
        self.pair_of = torch.full((len(train),), -1)
        self.pair_of[torch.from_numpy(rows)] = torch.arange(len(texts))
        self.stretches = self._stretches(texts)

    @property
    def share(self) -> float:
        """How many of the texts were attacked, of all."""
        return len(self.attacked) / len(self.train)

    def of(self, batch: Batch) -> Pair | None:
        """Give the pairs of a batch's texts; None where none of them was attacked."""
        there = (self.pair_of[batch.rows] >= 0).nonzero()[:, 0]
        if not len(there):
            return None
        numbers = self.pair_of[batch.rows[there]]
        found = [self.stretches[number] for number in numbers.tolist()]
        of = torch.arange(len(numbers)).repeat_interleave(torch.tensor([len(one.replaced) for one in found]))
        return Pair(
            batch.take(there),
            self.attacked.batch(numbers.numpy()),
            of,
            torch.tensor([pair for one in found for pair in one.replaced], dtype=torch.long).reshape(-1, 2),
            _padded([one.before for one in found]),
            _padded([one.after for one in found]),
        )

    def _stretches(self, texts: AttackedTexts) -> list[Stretches]:
        found = []
        for first in range(0, len(texts), _CHUNK):
            pairs = np.arange(first, min(first + _CHUNK, len(texts)))
            before = word_spans(self.train.batch(texts.rows[pairs]).tokens)
            after = word_spans(self.attacked.batch(pairs).tokens)
            for spans, others, number in zip(before, after, pairs, strict=True):
                found.append(stretches(spans, others, texts.changes[number]))
        return found


def by_stretch(
    numbers: Float[Tensor, "batch tokens"], tokens: Tokens, stretch_of: Int[Tensor, "batch words"]
) -> Float[Tensor, "batch stretches"]:
    """Average the numbers of the pieces of each stretch's words; no word, no number."""
    of = words_of(tokens)
    real, places = (of >= 0).to(numbers.dtype), stretch_of.gather(1, of.clamp(min=0)).clamp(min=0)
    nothing = torch.zeros_like(numbers)
    summed = nothing.scatter_add(1, places, numbers * real)
    return summed / nothing.scatter_add(1, places, real).clamp(min=1)


def _padded(rows: list[list[int]]) -> Int[Tensor, "batch words"]:
    """Lay out numbers, with −1 behind the last of a text; one place at least."""
    found = torch.full((len(rows), max([1, *map(len, rows)])), -1)
    for row, values in zip(found, rows, strict=True):
        row[: len(values)] = torch.tensor(values, dtype=torch.long)
    return found


def _check(train: Instances, texts: AttackedTexts, where: str) -> None:
    """Refuse attacked texts of another corpus, or of another cut of it."""
    rows = texts.rows
    if not len(rows):
        raise BadInput(f"{where}: there is no attacked text in it; attack some first.")
    if rows.min() < 0 or rows.max() >= len(train) or len(np.unique(rows)) < len(rows):
        raise BadInput(
            f"{where} names rows that the {len(train)} training texts have not, or one twice: attack the texts of the same dataset."
        )
    split = train.split
    for row, text, label in zip(rows.tolist(), texts.originals, texts.labels.tolist(), strict=True):
        if split.texts[row] != text or split.labels[row] != label:
            raise BadInput(
                f"{where} was made of other texts: row {row} is not the training text of that number; attack the texts of the same dataset."
            )
