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
from heedful.data.words.substitution import replaced_words, word_spans, words_of
from heedful.data.words.vocabulary import Vocabulary
from heedful.errors import BadInput

_CHUNK = 512  # texts aligned at a time


@dataclass(frozen=True)
class Pair:
    """Those texts of a batch that were attacked, and what became of them, in the same order."""

    original: Batch
    attacked: Batch
    of: Int[Tensor, " replaced"]
    """The pair that each replaced word belongs to."""
    words: Int[Tensor, "replaced 2"]
    """Its number in the original, and that of its substitute in the attacked text."""

    def gap(
        self, before: Float[Tensor, "batch tokens"], after: Float[Tensor, "batch others"]
    ) -> Float[Tensor, " batch"]:
        """Σ |φ − φ′| of each pair over its replaced words (Equation 3), from numbers for the tokens of both."""
        apart = (
            by_word(before, self.original.tokens)[self.of, self.words[:, 0]]
            - by_word(after, self.attacked.tokens)[self.of, self.words[:, 1]]
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
        self.replaced = self._replaced(texts)

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
        replaced = [self.replaced[number] for number in numbers.tolist()]
        of = torch.arange(len(numbers)).repeat_interleave(torch.tensor([len(words) for words in replaced]))
        return Pair(batch.take(there), self.attacked.batch(numbers.numpy()), of, torch.cat(replaced))

    def _replaced(self, texts: AttackedTexts) -> list[Int[Tensor, "replaced 2"]]:
        found = []
        for first in range(0, len(texts), _CHUNK):
            pairs = np.arange(first, min(first + _CHUNK, len(texts)))
            before = word_spans(self.train.batch(texts.rows[pairs]).tokens)
            after = word_spans(self.attacked.batch(pairs).tokens)
            for spans, others, number in zip(before, after, pairs, strict=True):
                words = replaced_words(spans, others, texts.changes[number])
                found.append(torch.tensor(words, dtype=torch.long).reshape(-1, 2))
        return found


def by_word(numbers: Float[Tensor, "batch tokens"], tokens: Tokens) -> Float[Tensor, "batch words"]:
    """Average the numbers of each word's pieces; no word, no number."""
    of = words_of(tokens)
    real, places = (of >= 0).to(numbers.dtype), of.clamp(min=0)
    nothing = torch.zeros_like(numbers)
    summed = nothing.scatter_add(1, places, numbers * real)
    return summed / nothing.scatter_add(1, places, real).clamp(min=1)


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
