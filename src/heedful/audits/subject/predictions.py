"""What the model predicted and attended to, for every audited text: the frame to which the rows of all audits belong."""

from __future__ import annotations

import polars as pl
import torch
from jaxtyping import Int
from torch import Tensor

from heedful.audits.subject.ragged import ragged
from heedful.audits.subject.reading import Reading
from heedful.intake.finite import check_probabilities
from heedful.models.stages import Auditable


def prediction_rows(
    reading: Reading, classifier: Auditable, *, labelled: bool, source: str = "attention"
) -> pl.DataFrame:
    """One row per text: prediction, probabilities, and every item's span and weight.

    For a model without attention, the scores of the source take the place of weights.
    """
    drawn = source if reading.attended is None else "attention"
    tokens, probabilities = reading.batch.tokens, reading.probabilities
    check_probabilities(probabilities, tokens.texts)
    spans = item_spans(reading)
    queries = reading.batch.query.texts if reading.batch.query is not None else None
    names = classifier.labels
    return pl.DataFrame(
        {
            "row": reading.rows.tolist(),
            "text": tokens.texts,
            "query": queries or [None] * len(tokens.texts),
            "label": [names[i] if labelled else None for i in reading.batch.labels.tolist()],
            "predicted": [names[i] for i in probabilities.argmax(-1).tolist()],
            "probability": probabilities.amax(-1).tolist(),
            "probabilities": probabilities.tolist(),
            "items": reading.mask.sum(1).tolist(),
            "starts": [row[real, 0].tolist() for row, real in zip(spans, reading.mask, strict=True)],
            "ends": [row[real, 1].tolist() for row, real in zip(spans, reading.mask, strict=True)],
            "words": _words(reading),
            "weights": ragged(reading.scores(drawn), reading.mask),
        },
        schema_overrides={
            "query": pl.String,
            "label": pl.String,
            "starts": pl.List(pl.Int32),
            "ends": pl.List(pl.Int32),
            "words": pl.List(pl.Int32),
            "weights": pl.List(pl.Float32),
        },
    )


def _words(reading: Reading) -> list[list[int]]:
    """Number the word of each item: the pieces of a word share one number, and every sentence has its own."""
    if reading.model.unit == "sentence":
        return [list(range(count)) for count in reading.mask.sum(1).tolist()]
    word_of = reading.batch.tokens.word_of
    return [row[real].tolist() for row, real in zip(word_of, reading.mask, strict=True)]


def item_spans(reading: Reading) -> Int[Tensor, "batch items 2"]:
    """Where each item stands in its text; a sentence from its first word to its last."""
    tokens = reading.batch.tokens
    if reading.model.unit == "word":
        return tokens.offsets
    assert tokens.sentence_of is not None
    batch, items = reading.mask.shape
    of = tokens.sentence_of.clamp(min=0)
    real = tokens.sentence_of >= 0
    far = torch.iinfo(torch.long).max
    starts = torch.full((batch, items), far).scatter_reduce(
        1, of, tokens.offsets[..., 0].masked_fill(~real, far), "amin"
    )
    ends = torch.zeros(batch, items, dtype=torch.long).scatter_reduce(
        1, of, tokens.offsets[..., 1].masked_fill(~real, 0), "amax"
    )
    return torch.stack([starts, ends], dim=-1)
