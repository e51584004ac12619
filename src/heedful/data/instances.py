"""A split ready for a model: its texts as tokens, and batches of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Int
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.corpus import Split
from heedful.data.tokens import FlatTokens, Tokens
from heedful.data.words.vocabulary import Vocabulary
from heedful.errors import BadInput


@dataclass(frozen=True)
class Batch:
    """What a model is given: tokens to attend to, the query they are read for, and the labels."""

    tokens: Tokens
    labels: Int[Tensor, " batch"]
    rows: Int[Tensor, " batch"]
    """Where each instance stands in its split."""
    query: Tokens | None = None
    candidates: Bool[Tensor, "batch classes"] | None = None
    """Which classes an answer may come from; None where all may."""

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: Int[Tensor, " chosen"]) -> Batch:
        """Give the batch of these rows, as often and in the order they are named."""
        return Batch(
            tokens=self.tokens.take(rows),
            labels=self.labels[rows],
            rows=self.rows[rows],
            query=None if self.query is None else self.query.take(rows),
            candidates=None if self.candidates is None else self.candidates[rows],
        )


@dataclass(frozen=True)
class Instances:
    """A split with its texts tokenised, once."""

    split: Split
    tokens: FlatTokens
    queries: FlatTokens | None
    classes: int
    paired: bool = False
    """Whether each text holds the two of a pair, which are read as one sequence."""

    @classmethod
    def encode(cls, split: Split, vocabulary: Vocabulary, *, classes: int) -> Instances:
        """Tokenise every text and query of a split."""
        queries = None if split.queries is None else vocabulary.encode(split.queries)
        return cls(split, vocabulary.encode(split.texts), queries, classes)

    def __len__(self) -> int:
        return len(self.split)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens per text: what a batch is bucketed by."""
        return self.tokens.lengths

    def evidence(self, rows: NDArray[np.int64]) -> Bool[Tensor, "batch tokens"]:
        """Mark the tokens that overlap a span of planted or annotated evidence, padded as in `batch`."""
        if self.split.evidence is None:
            raise BadInput(
                "Nobody recorded evidence for these texts: use a synthetic corpus, or one with rationales."
            )
        tokens = self.tokens.pad(rows, [self.split.texts[i] for i in rows])
        marked = torch.zeros_like(tokens.mask)
        for place, row in enumerate(rows):
            spans = torch.tensor(self.split.evidence[row], dtype=torch.long).reshape(-1, 2)
            starts, ends = tokens.offsets[place].unbind(-1)
            overlap = (starts[:, None] < spans[None, :, 1]) & (ends[:, None] > spans[None, :, 0])
            marked[place] = overlap.any(1) & tokens.mask[place]
        return marked

    def batch(self, rows: NDArray[np.int64]) -> Batch:
        """Pad these rows into one batch."""
        split = self.split
        query = None
        if self.queries is not None and split.queries is not None:
            query = self.queries.pad(rows, [split.queries[i] for i in rows])
        candidates = None
        if split.candidates is not None:
            candidates = torch.zeros(len(rows), self.classes, dtype=torch.bool)
            for place, row in enumerate(rows):
                candidates[place, split.candidates[row]] = True
        return Batch(
            tokens=self.tokens.pad(rows, [split.texts[i] for i in rows]),
            labels=torch.from_numpy(split.labels[rows]),
            rows=torch.from_numpy(rows),
            query=query,
            candidates=candidates,
        )
