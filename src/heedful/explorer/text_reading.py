"""A text as a model read it: its states are kept, so that other weights are a matter of decoding."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.audits.subject.predictions import item_spans
from heedful.audits.subject.reading import Reading, read_batch
from heedful.audits.subject.words import words_in
from heedful.explorer.shelf import Opened
from heedful.models.prediction import read_texts

LONGEST = 20_000
"""Characters of a text that can be explored."""
_KEPT_NUMBERS, _KEPT_TEXTS = 1 << 25, 400


@dataclass(frozen=True)
class TextReading:
    """One text, its words, and what the model makes of them."""

    opened: Opened
    reading: Reading
    word_of: Int[Tensor, " items"]
    """The word of each item, −1 where there is none."""
    spans: list[tuple[int, int]]
    """Where each word stands."""
    searched: dict[str, Any] = field(default_factory=dict, repr=False)
    """What took long to find of it, by its name."""

    @property
    def text(self) -> str:
        """The text as the model read it."""
        return self.reading.batch.tokens.texts[0]

    @property
    def query(self) -> str | None:
        """What it is read for."""
        query = self.reading.batch.query
        return None if query is None else query.texts[0]

    @property
    def probabilities(self) -> list[float]:
        """What the model says of the text."""
        found: list[float] = self.reading.probabilities[0].tolist()
        return found

    @property
    def decided(self) -> int:
        """The class it decides for."""
        return int(self.reading.probabilities[0].argmax())

    @property
    def items(self) -> int:
        """How many items there are."""
        return int(self.reading.mask.sum())

    def by_word(self, scores: Float[Tensor, "*any items"]) -> Float[Tensor, "*any words"]:
        """Add up the scores of each word's pieces."""
        real = self.word_of >= 0
        summed = torch.zeros(*scores.shape[:-1], len(self.spans), dtype=torch.float64)
        return summed.index_add(-1, self.word_of[real], scores[..., real].double())

    def word_scores(self, source: str) -> list[float]:
        """Scores of every word by the attention or an explainer."""
        if source == "attention":
            mean = self.reading.weights[0].double().mean(0)
        else:
            mean = self.reading.scores(source)[0]
        found: list[float] = self.by_word(mean.detach()).tolist()
        return found


def read_text(opened: Opened, text: str, query: str | None) -> TextReading:
    """Run a model's first stages on a text of the user's own."""
    instances = read_texts(opened.classifier, [text], None if query is None else [query])
    batch = instances.batch(np.arange(1))
    reading = read_batch(opened.stages, batch)
    words = words_in(opened.stages, batch)
    count = int(words.counts[0])
    spans = item_spans(reading)[0]
    word_of = torch.where(reading.mask[0], words.of[0], -1)
    found: list[tuple[int, int]] = []
    for word in range(count):
        own = spans[word_of == word]
        found.append((int(own[:, 0].min()), int(own[:, 1].max())) if len(own) else (0, 0))
    return TextReading(opened, reading, *_without_gaps(word_of, found))


def _without_gaps(
    word_of: Int[Tensor, " items"], spans: list[tuple[int, int]]
) -> tuple[Int[Tensor, " items"], list[tuple[int, int]]]:
    """Leave out words that have no item: those that a model does not weigh, or that were cut off."""
    there = [word for word, (start, end) in enumerate(spans) if end > start]
    new = torch.full((len(spans) + 1,), -1, dtype=torch.long)
    new[torch.tensor(there, dtype=torch.long)] = torch.arange(len(there))
    return new[word_of.clamp(min=-1)], [spans[word] for word in there]


class KeptReadings:
    """The texts that were read last, for all tabs together; what was forgotten is read again."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str, str | None], TextReading] = OrderedDict()
        self._numbers = 0
        self._lock = Lock()

    def of(self, model: str, opened: Opened, text: str, query: str | None) -> TextReading:
        """Give a text as a model reads it."""
        found = self.kept(model, text, query)
        if found is not None and found.opened is opened:
            return found
        made = read_text(opened, text, query)
        with self._lock:
            self._put((model, text, query), made)
        return made

    def kept(self, model: str, text: str, query: str | None) -> TextReading | None:
        """Give a text that was read before; None where it was not, or was forgotten."""
        key = (model, text, query)
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def _put(self, key: tuple[str, str, str | None], made: TextReading) -> None:
        if key in self._kept:
            self._numbers -= _size(self._kept.pop(key))
        self._kept[key] = made
        self._numbers += _size(made)
        while len(self._kept) > 1 and (self._numbers > _KEPT_NUMBERS or len(self._kept) > _KEPT_TEXTS):
            self._numbers -= _size(self._kept.popitem(last=False)[1])


def _size(reading: TextReading) -> int:
    return reading.reading.states.h.numel()
