"""The one token object: ids, words, character offsets and masks, flat for a split and padded for a batch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor


@dataclass(frozen=True)
class Tokens:
    """A padded batch of tokenised texts.

    `present` is what the encoder reads: everything but padding. `mask` is what attention may weigh: special
    tokens such as [CLS] are present, and masked out. `word_of` numbers the words of a text, so that
    the pieces of one word share a number; `sentence_of` does the same for sentences. Both are −1 outside.
    `type_of` tells the first text of a pair from the second where a network is told; None where there is nothing to tell.
    """

    texts: list[str]
    ids: Int[Tensor, "batch tokens"]
    mask: Bool[Tensor, "batch tokens"]
    present: Bool[Tensor, "batch tokens"]
    offsets: Int[Tensor, "batch tokens 2"]
    word_of: Int[Tensor, "batch tokens"]
    sentence_of: Int[Tensor, "batch tokens"] | None = None
    shift: Float[Tensor, "batch tokens dim"] | None = None
    """What is added to the embeddings: noise is a part of the input, and goes where its token goes."""
    type_of: Int[Tensor, "batch tokens"] | None = None

    def shifted(self, shift: Float[Tensor, "batch tokens dim"]) -> Tokens:
        """Give the same texts with something added to the embeddings of their tokens."""
        return replace(self, shift=shift)

    def take(self, rows: Int[Tensor, " chosen"]) -> Tokens:
        """Give the texts of these rows, as often and in the order they are named."""
        return Tokens(
            texts=[self.texts[row] for row in rows.tolist()],
            ids=self.ids[rows],
            mask=self.mask[rows],
            present=self.present[rows],
            offsets=self.offsets[rows],
            word_of=self.word_of[rows],
            sentence_of=None if self.sentence_of is None else self.sentence_of[rows],
            shift=None if self.shift is None else self.shift[rows],
            type_of=None if self.type_of is None else self.type_of[rows],
        )

    @cached_property
    def words(self) -> list[list[str]]:
        """Each token as it stands in its text; padding and special tokens are left out."""
        spans, mask = self.offsets.tolist(), self.mask.tolist()
        return [
            [text[start:end] for (start, end), real in zip(row, keep, strict=True) if real]
            for text, row, keep in zip(self.texts, spans, mask, strict=True)
        ]


@dataclass(frozen=True)
class FlatTokens:
    """All texts of a split one after the other: text i owns positions rows[i] up to rows[i + 1]."""

    rows: NDArray[np.int64]
    ids: NDArray[np.int32]
    offsets: NDArray[np.int32]
    word_of: NDArray[np.int32] | None = None
    """None where every token is a word."""
    sentence_of: NDArray[np.int32] | None = None
    cut: int = 0
    """How many texts were longer than the tokeniser allows, and lost their end."""
    type_of: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.rows) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many tokens each text has."""
        return np.diff(self.rows)

    @property
    def items(self) -> NDArray[np.int64]:
        """How many of them are real items: all but special tokens."""
        if self.word_of is None:
            return self.lengths
        before = np.concatenate([[0], np.cumsum(self.word_of >= 0)])
        items: NDArray[np.int64] = before[self.rows[1:]] - before[self.rows[:-1]]
        return items

    def pad(self, chosen: NDArray[np.int64], texts: list[str]) -> Tokens:
        """Put the chosen texts into one padded batch."""
        lengths = self.lengths[chosen]
        steps = np.arange(lengths.max(initial=1))  # one step at least, also for texts without a word
        present = steps[None, :] < lengths[:, None]  # [batch, tokens]
        where = self.rows[chosen][:, None] + steps[None, :]

        def padded(flat: NDArray[np.int32], fill: int) -> NDArray[np.int64]:
            filled = np.full((*present.shape, *flat.shape[1:]), fill, dtype=np.int64)
            filled[present] = flat[where[present]]
            return filled

        if self.word_of is None:
            word_of = np.where(present, steps[None, :], -1).astype(np.int64)
        else:
            word_of = padded(self.word_of, -1)
        return Tokens(
            texts=texts,
            ids=torch.from_numpy(padded(self.ids, 0)),
            mask=torch.from_numpy(word_of >= 0),
            present=torch.from_numpy(present),
            offsets=torch.from_numpy(padded(self.offsets, 0)),
            word_of=torch.from_numpy(word_of),
            sentence_of=None if self.sentence_of is None else torch.from_numpy(padded(self.sentence_of, -1)),
            type_of=None if self.type_of is None else torch.from_numpy(padded(self.type_of, 0)),
        )
