"""What a classifier says of one text, with a weight for every item a reader would point at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, SupportsIndex, overload

import numpy as np
import polars as pl
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.batches import inference_batches
from heedful.data.corpora.given import texts_given
from heedful.data.corpus import Split
from heedful.data.instances import Batch, Instances
from heedful.data.words.text import check_text, clean_text
from heedful.errors import BadInput
from heedful.intake.finite import check_probabilities
from heedful.models.stages import Auditable, States, probabilities, reads_queries


@dataclass(frozen=True)
class Item:
    """A word or a sentence: where it stands in the text, and how much of the attention it has."""

    start: int
    end: int
    weight: float


@dataclass(frozen=True)
class Prediction:
    """Label, probabilities by label, and items; there are none for a model without attention."""

    text: str
    query: str | None
    label: str
    probabilities: dict[str, float]
    items: tuple[Item, ...]
    words: tuple[Item, ...] = ()
    """In a hierarchical network, the words with their sentence's weight shared out among them."""

    @property
    def probability(self) -> float:
        """Of its label."""
        return self.probabilities[self.label]

    def __repr__(self) -> str:
        return f"Prediction({self.label!r}, {self.probability:.2f}, {_short(self.text)!r}, {len(self.items)} item{'' if len(self.items) == 1 else 's'})"

    def _repr_html_(self) -> str:
        """What a notebook shows: the text as a heatmap."""
        from heedful.models.prediction_html import predictions_html

        return predictions_html(Predictions([self]))


class Predictions(list[Prediction]):
    """What a classifier says of several texts: a list that a notebook shows as heatmaps."""

    def __init__(self, predictions: Iterable[Prediction] = (), *, scored_by: str = "attention") -> None:
        super().__init__(predictions)
        self.scored_by = scored_by
        """Where the numbers of the items come from."""

    @overload
    def __getitem__(self, place: SupportsIndex) -> Prediction: ...
    @overload
    def __getitem__(self, place: slice) -> Predictions: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Prediction | Predictions:
        if isinstance(place, slice):
            return Predictions(super().__getitem__(place), scored_by=self.scored_by)
        return super().__getitem__(place)

    def __repr__(self) -> str:
        if not self:
            return "no predictions"
        lines = [f"  {p.label} {p.probability:.2f}  {_short(p.text)}" for p in self[:_SHOWN]]
        more = [f"  … and {len(self) - _SHOWN:,} more"] if len(self) > _SHOWN else []
        head = f"{len(self):,} prediction{'s' if len(self) > 1 else ''}, words scored by {self.scored_by}"
        return "\n".join([head, *lines, *more])

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (list(self), self.scored_by)

    def _repr_html_(self) -> str:
        """What a notebook shows: every text as a heatmap."""
        from heedful.models.prediction_html import predictions_html

        return predictions_html(self)

    def to_frame(self) -> pl.DataFrame:
        """Give a row for every text: label, probabilities, and the items with their places and weights."""
        spans = pl.List(pl.Struct({"start": pl.Int64, "end": pl.Int64, "weight": pl.Float64}))
        classes = list(self[0].probabilities) if self else []
        return pl.DataFrame(
            {
                "text": [p.text for p in self],
                "query": [p.query for p in self],
                "label": [p.label for p in self],
                "probability": [p.probability for p in self],
                **{f"probability of {name}": [p.probabilities[name] for p in self] for name in classes},
                "items": [[vars(item) for item in p.items] for p in self],
            },
            schema_overrides={"query": pl.String, "items": spans},
        )


def _again(predictions: list[Prediction], scored_by: str) -> Predictions:
    return Predictions(predictions, scored_by=scored_by)


_SHOWN = 5
_LONGEST = 60


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


class Predicts(ABC):
    """What every classifier can be asked: `predict(texts)`, `predict_proba(texts)`, and `classifier(texts)`."""

    labels: tuple[str, ...]

    @abstractmethod
    def predict(self, texts: Any, queries: Sequence[str] | None = None) -> Predictions:
        """Classify texts."""

    def __call__(self, texts: Any, queries: Sequence[str] | None = None) -> Predictions:
        """Classify texts, as `predict` does."""
        return self.predict(texts, queries)

    def predict_proba(self, texts: Any, queries: Sequence[str] | None = None) -> NDArray[np.float64]:
        """Give the probabilities of texts [texts, classes], in the order of `labels`."""
        rows = [list(prediction.probabilities.values()) for prediction in self.predict(texts, queries)]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(self.labels))


def read_texts(classifier: Auditable, texts: Any, queries: Sequence[str] | None) -> Instances:
    """Tokenise texts of the user's own, refusing what cannot be read."""
    texts, queries = texts_given(texts, queries)
    instances = classifier.instances(_as_split(classifier, texts, queries))
    empty = np.flatnonzero(instances.tokens.items == 0)
    if len(empty):
        raise BadInput(
            f"Text {int(empty[0]) + 1} holds no word that this model's rules can find: give some text."
        )
    return instances


def predict_texts(
    classifier: Auditable, texts: Any, queries: Sequence[str] | None = None, *, batch_size: int = 64
) -> Predictions:
    """Classify texts by all four stages, those of like length together."""
    instances = read_texts(classifier, texts, queries)
    predictions: dict[int, Prediction] = {}
    model = classifier.model.eval()
    with torch.inference_mode():
        for rows in inference_batches(instances.lengths, batch_size):
            batch = instances.batch(rows)
            states = model.encode(model.embed(batch), batch)
            weights = model.attend(states)
            predicted = probabilities(model.decode(states, weights))
            found = read_predictions(batch, states, weights, predicted, classifier.labels)
            predictions |= dict(zip(rows.tolist(), found, strict=True))
    return Predictions(predictions[row] for row in range(len(instances)))


def _as_split(classifier: Auditable, texts: Sequence[str], queries: Sequence[str] | None) -> Split:
    wanted = reads_queries(classifier)
    if wanted and queries is None:
        raise BadInput(
            "This model reads a text for a question or hypothesis: give one for every text (--query, or --query-column of a file)."
        )
    if queries is not None and wanted is False:
        raise BadInput("This model reads texts alone: leave out the query.")
    if queries is not None and len(queries) != len(texts):
        raise BadInput(f"{len(queries)} queries were given for {len(texts)} texts: give one each.")
    for kind, given in (("Text", texts), ("Query", queries or ())):
        for number, one in enumerate(given, start=1):
            if not isinstance(one, str):
                raise BadInput(f"{kind} {number} is a {type(one).__name__}: give a list of strings.")
            check_text(one, f"{kind} {number}")
    return Split(
        texts=[clean_text(text) for text in texts],
        labels=np.zeros(len(texts), dtype=np.int64),
        queries=None if queries is None else [clean_text(query) for query in queries],
    )


def read_predictions(
    batch: Batch,
    states: States,
    weights: Float[Tensor, "batch heads items"] | None,
    predicted: Float[Tensor, "batch classes"],
    labels: Sequence[str],
) -> list[Prediction]:
    """Turn a batch's tensors into predictions. Heads are averaged; the pieces of a word are joined."""
    tokens, size = batch.tokens, len(batch)
    check_probabilities(predicted, tokens.texts)
    items: list[tuple[Item, ...]] = [()] * size
    words: list[tuple[Item, ...]] = [()] * size
    if weights is not None:
        mean = weights.mean(1)
        if states.word_weights is not None and tokens.sentence_of is not None:
            items = _join(mean, tokens.sentence_of, tokens.offsets, of_group=True)
            shared = states.word_weights * mean.gather(1, tokens.sentence_of.clamp(min=0))
            words = _join(shared, tokens.word_of, tokens.offsets)
        else:
            items = _join(mean, tokens.word_of, tokens.offsets)
    return [
        Prediction(
            text=tokens.texts[i],
            query=None if batch.query is None else batch.query.texts[i],
            label=labels[int(predicted[i].argmax())],
            probabilities={name: float(p) for name, p in zip(labels, predicted[i], strict=True)},
            items=items[i],
            words=words[i],
        )
        for i in range(size)
    ]


def _join(
    weights: Float[Tensor, "batch n"],
    group_of: Int[Tensor, "batch tokens"],
    offsets: Int[Tensor, "batch tokens 2"],
    *,
    of_group: bool = False,
) -> list[tuple[Item, ...]]:
    """One item per group of tokens: its span, and its own weight or the sum of its tokens' weights."""
    joined = []
    for row, groups, spans in zip(weights, group_of, offsets, strict=True):
        real = groups >= 0
        count = int(groups.max()) + 1
        own = row[:count] if of_group else row.new_zeros(count).scatter_add_(0, groups[real], row[real])
        starts = torch.full((count,), torch.iinfo(torch.long).max).scatter_reduce_(
            0, groups[real], spans[real, 0], "amin"
        )
        ends = torch.zeros(count, dtype=torch.long).scatter_reduce_(0, groups[real], spans[real, 1], "amax")
        present = ends > 0  # a number that no token has: a word that the tokeniser dropped
        joined.append(
            tuple(
                Item(int(start), int(end), float(weight))
                for start, end, weight, there in zip(starts, ends, own, present, strict=True)
                if there
            )
        )
    return joined
