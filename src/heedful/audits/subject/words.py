"""The units a reader points at: whole words, whose pieces are joined, or the sentences of a hierarchical network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.audits.subject.ties import ROUNDING, settled
from heedful.data.instances import Batch
from heedful.data.words.substitution import words_of as number_words
from heedful.explainers.explainer import item_of
from heedful.models.stages import Stages


class Words(NamedTuple):
    """The words of a batch; if every item is a whole word, they are the items."""

    of: Int[Tensor, "batch items"]
    """The word of each item, counted from 0; −1 where there is no item."""
    mask: Bool[Tensor, "batch words"]

    @property
    def counts(self) -> Int[Tensor, " batch"]:
        """How many words each text has."""
        return self.mask.sum(1)

    def joined(self, groups: Sequence[Sequence[int]]) -> Words:
        """Take several words for one: `groups` gives each word of each text the number of its group, counted from 0."""
        size = max(1, *(max(row, default=-1) + 1 for row in groups))
        of = torch.full_like(self.of, -1)
        mask = torch.zeros(len(of), size, dtype=torch.bool)
        for row, own, real, numbers in zip(of, self.of, mask, groups, strict=True):
            row[own >= 0] = torch.tensor(numbers, dtype=torch.long)[own[own >= 0]]
            real[: max(numbers, default=-1) + 1] = True
        return Words(of, mask)

    def scores(self, scores: Float[Tensor, "batch items"]) -> Float[Tensor, "batch words"]:
        """Add up the scores of each word's pieces, with ties made exact: a sum is off in proportion to its parts."""
        of, real = self.of.clamp(min=0), self.of >= 0
        nothing = torch.zeros(self.mask.shape, dtype=torch.float64)
        summed = nothing.scatter_add(1, of, scores.double() * real)
        parts = nothing.scatter_add(1, of, scores.double().abs() * real)
        return settled(summed, self.mask, uncertain=ROUNDING * parts)

    def ranks(self, scores: Float[Tensor, "batch words"]) -> Int[Tensor, "batch words"]:
        """Rank of each word by its score, from 0; among equal ones the first in the text comes first."""
        return (
            scores.masked_fill(~self.mask, -torch.inf).argsort(dim=1, descending=True, stable=True).argsort(1)
        )

    def marked(self, items: Bool[Tensor, "batch items"]) -> Bool[Tensor, "batch words"]:
        """Which words have an item that is marked."""
        hits = torch.zeros(self.mask.shape, dtype=torch.long)
        return hits.scatter_add_(1, self.of.clamp(min=0), (items & (self.of >= 0)).long()) > 0

    def items(
        self, rows: Int[Tensor, " variants"], words: Bool[Tensor, "variants words"]
    ) -> Bool[Tensor, "variants items"]:
        """Mark the items of the words chosen in variants of texts: variant v belongs to text rows[v]."""
        of = self.of[rows]
        return words.gather(1, of.clamp(min=0)) & (of >= 0)


def words_in(model: Stages, batch: Batch) -> Words:
    """Join the pieces of each word of a batch, without running the model."""
    if model.unit == "sentence":
        counts = item_of(model, batch).amax(1) + 1
        places = torch.arange(max(int(counts.max()), 1))[None]
        mask = places < counts[:, None]
        return Words(torch.where(mask, places, -1), mask)
    of = number_words(batch.tokens)
    counts = of.amax(1) + 1
    return Words(of, torch.arange(max(int(counts.max()), 1))[None] < counts[:, None])
