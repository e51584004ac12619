"""What SEAT's recipe trains: encoders, the seven methods of the paper, ours, and on one corpus SEAT varied and stability alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from heedful.papers.measured_numbers import Numbers
from heedful.papers.recipe import Model, published

VECTORS = "glove-840b-300d"
DATASETS = ("sst2", "mr", "tweeteval_emotion_binary", "tweeteval_hate")
ABLATED_ON = ("sst2",)
ABLATED_SEEDS = 3
NOISE = (1e-3, 5e-3, 1e-2, 5e-2)
WORDS = (1, 2, 3)


class SeatEncoder(NamedTuple):
    """One architecture."""

    asked: str
    """What --encoders calls it."""
    printed: str
    """Whose numbers of the paper stand beside ours."""
    options: Mapping[str, Any]
    usual: tuple[str, ...] | None = None
    texts: int | None = None


ENCODERS = {
    "RNN": SeatEncoder("rnn", "RNN", {"encoder": "rnn"}),
    "BiLSTM": SeatEncoder("bilstm", "BiLSTM", {"encoder": "bilstm"}),
    "MiniLM": SeatEncoder(
        "hf:minilm-l6",
        "BERT",
        {
            "encoder": "hf:minilm-l6",
            "vectors": None,
            "train_embeddings": None,
            "epochs": 2,
            "batch_size": 16,
        },  # its own embeddings; two epochs suffice
        ("sst2",),
        1000,
    ),
}

PAPER: Mapping[str, Mapping[str, Any]] = {
    name: {"objective": name}
    for name in (
        "vanilla",
        "word_at",
        "word_iat",
        "attention_rp",
        "attention_at",
        "attention_iat",
        "seat",
    )
}
OURS: Mapping[str, Mapping[str, Any]] = {"steady": {"objective": "steady"}}
WHOLE: Mapping[str, Mapping[str, Any]] = {"seat, whole model": {"objective": "seat", "trained": "all"}}
ABLATIONS: Mapping[str, Mapping[str, Any]] = {
    "seat, no top-k": {"objective": "seat", "overlap": 0.0},
    "seat, no stability": {"objective": "seat", "stability": 0.0},
}
ALONE: Mapping[str, Mapping[str, Any]] = {"consistency": {"objective": "stability_only"}}
METHODS = {**PAPER, **OURS, **WHOLE, **ABLATIONS, **ALONE}
RIVALS = tuple(name for name in PAPER if name != "seat")
COMPARED = (*PAPER, *OURS)
ABLATED = ("vanilla", *ABLATIONS, "seat")
SKETCHED = ("vanilla", "seat", *WHOLE, *OURS, *ALONE)


def named(*methods: str, encoders: Sequence[str] = tuple(ENCODERS)) -> tuple[str, ...]:
    """Names of models.

    >>> named("seat", encoders=["RNN"])
    ('RNN seat',)
    """
    return tuple(f"{encoder} {method}" for encoder in encoders for method in methods)


MODELS = tuple(
    Model(f"{name} {method}", encoder.asked, {**encoder.options, **options}, encoder.usual, encoder.texts)
    for name, encoder in ENCODERS.items()
    for method, options in METHODS.items()
)


def measured(numbers: Numbers, methods: Sequence[str], audit: str) -> list[tuple[str, str, list[str]]]:
    """Every dataset and encoder with those of these methods that were asked an audit."""
    found = []
    for dataset in numbers.datasets:
        asked = {number.model for number in numbers.of(dataset, audit=audit)}
        for encoder in ENCODERS:
            able = [name for name in methods if f"{encoder} {name}" in asked]
            if able:
                found.append((dataset, encoder, able))
    return found


def printed(part: Mapping[str, Any], dataset: str, encoder: str, method: str) -> list[float | None]:
    """Three numbers of a table of the paper with four corpora; nothing for what it does not have."""
    rows = part.get(ENCODERS[encoder].printed, {}).get(method)
    order: list[str] = published("seat")["order"]
    return list(rows[order.index(dataset)]) if rows and dataset in order else [None] * 3
