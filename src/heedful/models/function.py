"""A model of which predictions alone are known: a function from texts to probabilities, whatever stands behind it.

It has the four stages like any other model, so that every question that needs no more can be asked of it: its states are
the texts themselves, and decoding them is asking the function. To delete a word is to take it out of the text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from heedful.config import TrainConfig
from heedful.data.corpora.labels import check_names, few, spell
from heedful.data.corpus import Split, Task
from heedful.data.instances import Batch, Instances
from heedful.data.tokens import Tokens
from heedful.data.words.text import clean_text, word_tokenizer
from heedful.data.words.vocabulary import Vocabulary
from heedful.errors import BadInput
from heedful.intake.arguments import as_list
from heedful.models.answers import Answers, Reads
from heedful.models.prediction import Prediction, Predictions, Predicts, read_texts
from heedful.models.stages import Effects, States, Unit

ALONE = "Of this model predictions alone are known, and it has no embeddings and no weights to change: choose another question."
PROBES = 8
"""Texts that a function is asked twice, and known by."""

_LEAST = 1e-300  # its logarithm is a number


class FunctionModel:
    """The stages of a function. Embeddings and states are empty; what passes between the stages is the texts."""

    unit: Unit = "word"
    contextual = True
    slow = True  # nobody knows how long an answer takes
    has_attention = False

    def __init__(self, answers: Answers, vocabulary: Vocabulary) -> None:
        self.answers, self._vocabulary = answers, vocabulary
        self._spans = lru_cache(maxsize=4096)(self._cut)

    @property
    def asked(self) -> int:
        """How many texts the function has answered."""
        return self.answers.asked

    def ask(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Give probabilities for texts."""
        return self.answers.ask(texts)

    def embed(self, batch: Batch) -> Float[Tensor, "batch tokens dim"]:
        """Give nothing for every token; noise cannot be added to that."""
        if batch.tokens.shift is not None:
            raise BadInput(ALONE)
        return torch.zeros(*batch.tokens.ids.shape, 0, dtype=torch.float64)

    def encode(self, embedded: Float[Tensor, "batch tokens dim"], batch: Batch) -> States:
        """Give the texts that the tokens of a batch stand for."""
        return States(embedded, batch.tokens.mask, rest=self.texts(batch.tokens))

    def attend(self, states: States) -> None:
        """There are no weights."""

    def decode(self, states: States, weights: Tensor | None) -> Float[Tensor, "batch outputs"]:
        """Ask the function; a logit is the logarithm of a probability."""
        if weights is not None:
            raise BadInput(ALONE)
        return torch.from_numpy(np.log(np.clip(self.ask(states.rest), _LEAST, None)))

    def effects(self, states: States) -> Effects | None:
        """There are no weights."""
        return None

    def exact(self) -> FunctionModel:
        """It is as precise as it is."""
        return self

    def eval(self) -> FunctionModel:
        """Whether it answers the same to the same is checked when it is first asked."""
        return self

    def texts(self, tokens: Tokens) -> list[str]:
        """Give each text with those of its words that are still there."""
        rows = zip(tokens.texts, tokens.offsets.tolist(), tokens.present.tolist(), strict=True)
        return [
            with_words(text, self._spans(text), {start for (start, _), there in zip(spans, present, strict=True) if there})
            for text, spans, present in rows
        ]  # fmt: skip

    def _cut(self, text: str) -> list[tuple[int, int]]:
        return [(start, end) for start, end in self._vocabulary.encode([text]).offsets.tolist()]


def with_words(text: str, spans: Sequence[tuple[int, int]], kept: set[int]) -> str:
    """Give a text without the words that do not begin at the places `kept`.

    Where words are gone, the white space that stood between the remaining ones stays, or a space if there was none.

    >>> text, spans = "It's well-made, isn't it?", [(0, 2), (2, 4), (5, 14), (14, 15), (16, 18), (18, 21), (22, 24), (24, 25)]
    >>> with_words(text, spans, {0, 2, 14, 16, 22})
    "It's , is it"
    >>> with_words(text, spans, {start for start, _ in spans}) == text
    True
    """
    if len(kept) == len(spans):
        return text
    parts: list[str] = []
    end, gone = 0, False  # of the last word that is kept, and whether words are gone since then
    for start, stop in spans:
        if start not in kept:
            gone = True
            continue
        between = text[end:start]
        if gone:
            between = "" if not parts else next((c for c in between if c.isspace()), " ")
        parts += [between, text[start:stop]]
        end, gone = stop, False
    return "".join(parts) + ("" if gone or not parts else text[end:])


def own_words() -> Vocabulary:
    """Give the rules by which texts are cut into words where a model has none of its own."""
    return Vocabulary(word_tokenizer(lowercase=False))


def cut_words(texts: Sequence[str]) -> list[list[tuple[int, int]]]:
    """Say where each word of texts begins and ends.

    >>> cut_words(["It's fine."])
    [[(0, 2), (2, 4), (5, 9), (9, 10)]]
    """
    found = own_words().encode([clean_text(text) for text in texts])
    spans = [(start, end) for start, end in found.offsets.tolist()]
    return [spans[first:last] for first, last in pairwise(found.rows.tolist())]


@dataclass(repr=False)
class FunctionClassifier(Predicts):
    """A function with the names of its classes. What heedful calls a word is what its own rules find in a text."""

    answers: Answers
    labels: tuple[str, ...]
    named: bool = True
    """Whether somebody named the classes; otherwise they are numbered."""
    home: Path | None = None
    """Where audits are kept."""
    task: Task = "classification"
    encoder: str = "predictions alone"
    trained: TrainConfig | None = None
    vocabulary: Vocabulary = field(default_factory=own_words)
    called: tuple[str, ...] = ()
    """The words by which a command names it; none of what was made in memory."""
    _probes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.model = FunctionModel(self.answers, self.vocabulary)

    @property
    def name(self) -> str:
        """The function's own."""
        return self.answers.name

    def instances(self, split: Split) -> Instances:
        """Cut texts into words; the first that come are those that the function is known by."""
        if not self._probes and split.texts:
            self.probe(split.texts)
        return Instances.encode(split, self.vocabulary, classes=len(self.labels))

    def probe(self, texts: Sequence[str]) -> None:
        """Ask for a few texts twice, and remember them."""
        places = np.unique(np.linspace(0, len(texts) - 1, PROBES).astype(int))
        self._probes = tuple(dict.fromkeys(texts[place] for place in places))
        self.answers.check(self._probes)

    def fingerprint(self) -> str:
        """Hash the function's name and its answers to a few texts: as far as can be known, it changes when the model does."""
        said = self.answers.ask(self._probes).round(4).tolist()
        content = json.dumps([self.name, self.labels, self._probes, said])
        return hashlib.sha256(content.encode()).hexdigest()

    def __repr__(self) -> str:
        return f"FunctionClassifier({self.name}: {few(self.labels)})"

    def predict(self, texts: Any, queries: Sequence[str] | None = None) -> Predictions:
        """Classify texts, however they are given; there are no weights to give."""
        split = read_texts(self, texts, queries).split
        found = self.answers.ask(split.texts)
        return Predictions(
            Prediction(
                text=text,
                query=None,
                label=self.labels[int(row.argmax())],
                probabilities=dict(zip(self.labels, row.tolist(), strict=True)),
                items=(),
            )
            for text, row in zip(split.texts, found, strict=True)
        )


def classify_by(
    function: Reads,
    *,
    label_names: Sequence[str] | None = None,
    name: str | None = None,
    home: Path | None = None,
    **asking: Any,
) -> FunctionClassifier:
    """Make a classifier of a function from texts to probabilities.

    The classes are named by `label_names`, or by what the function, or the object that it is a method of, has as `labels` or
    `classes_` (as scikit-learn does); else they are numbered from 0. `asking` are options of `Answers`.
    """
    if not callable(function):
        raise BadInput(
            f"predict must be a function from a list of texts to probabilities, and this is a {type(function).__name__}."
        )
    answers = Answers(function, name=name, **asking)
    count = answers.ask(["a text"]).shape[1]
    names = label_names if label_names is not None else _own_names(function, count)
    if names is None:
        return FunctionClassifier(answers, tuple(map(str, range(count))), named=False, home=home)
    spelled = check_names(
        [spell(label) or "" for label in as_list(names, "names of labels")], where="label_names"
    )
    if len(spelled) != count:
        raise BadInput(
            f"{answers.name} gives {count} probabilities and {len(spelled)} classes are named ({', '.join(spelled[:10])}): name "
            f"one for each, in their order."
        )
    return FunctionClassifier(answers, spelled, home=home)


def _own_names(function: Any, count: int) -> list[Any] | None:
    """Names that come with the function, if there is one for each class."""
    for owner in (function, getattr(function, "__self__", None)):
        for attribute in ("labels", "classes_"):
            names = getattr(owner, attribute, None)
            if names is not None and hasattr(names, "__len__") and len(names) == count:
                return list(getattr(names, "tolist", lambda names=names: names)())
    return None
