"""What a dataset is once it has been read: texts, labels and, where known, the evidence for them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Task = Literal["classification", "pair", "qa"]
Span = tuple[int, int]


@dataclass(frozen=True)
class Split:
    """One split of a corpus, as columns: row i of each is instance i.

    `texts` are what attention weighs: the text, the premise or the document. `queries` are what it is
    read for: the hypothesis or the question. `evidence` are the character spans of a text that decide its
    label, where somebody planted or annotated them. `candidates` are the classes an answer may come from.
    """

    texts: list[str]
    labels: NDArray[np.int64]
    queries: list[str] | None = None
    evidence: list[list[Span]] | None = None
    candidates: list[list[int]] | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, rows: NDArray[np.int64]) -> Split:
        """Give the split of these rows, in this order."""
        return Split(
            texts=[self.texts[i] for i in rows],
            labels=self.labels[rows],
            queries=None if self.queries is None else [self.queries[i] for i in rows],
            evidence=None if self.evidence is None else [self.evidence[i] for i in rows],
            candidates=None if self.candidates is None else [self.candidates[i] for i in rows],
        )


@dataclass(frozen=True)
class Corpus:
    """A dataset ready for use: every split it has, and what a reader should know about it."""

    name: str
    task: Task
    labels: tuple[str, ...]
    splits: dict[str, Split]
    notes: tuple[str, ...] = field(default=())
    """What was done to the data that a reader of its numbers should know."""

    @cached_property
    def fingerprint(self) -> str:
        """Changes when, and only when, a text, a query or a label does, or moves to another split."""
        digest = hashlib.sha256()
        for name, split in self.splits.items():
            for text in (name, *split.texts, *(split.queries or ())):
                content = text.encode("utf-8")
                # Lengths keep ("ab", "c") apart from ("a", "bc").
                digest.update(len(content).to_bytes(8, "little") + content)
            digest.update(split.labels.astype("<i8").tobytes())
        return digest.hexdigest()
