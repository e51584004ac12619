"""What FLAT's tables compare: encoders, attacks, and three ways of training, by names like those of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from heedful.papers.recipe import Model, published

VECTORS = "glove-840b-300d"
BETA, GAMMA = 0.1, 0.001
LIME_TEXTS, TRANSFER_TEXTS = 100, 300
DATASETS = ("sst2", "trec", "imdb", "ag_news")
ABLATED_ON, GROUPED_ON, TRANSFERRED_ON = ("sst2",), ("ag_news",), ("sst2",)
ATTACKS = {"textfooler": "TextFooler", "pwws": "PWWS"}
"""Attacks that models are trained against, and what the paper calls them."""
OTHER_ATTACKS: tuple[str, ...] = tuple(published("flat")["attacks"])
METHODS: Mapping[str, Mapping[str, Any]] = {
    "base": {"objective": "vanilla"},
    "adv": {"objective": "augmented"},
    "FLAT": {"objective": "flat", "beta": BETA, "gamma": GAMMA},
}
ABLATIONS: Mapping[str, Mapping[str, Any]] = {
    f"β = {BETA:g}, γ = 0": {"beta": BETA, "gamma": 0.0},
    f"β = 0, γ = {GAMMA:g}": {"beta": 0.0, "gamma": GAMMA},
    "β = 0, γ = 0": {"beta": 0.0, "gamma": 0.0},
}
WHOLE = f"β = {BETA:g}, γ = {GAMMA:g}"
NO_GAMMA, NO_BETA, NEITHER = ABLATIONS
GROUPS = (10, 20, 30, 40, 50)


class FlatEncoder(NamedTuple):
    """One architecture."""

    asked: str
    """What --encoders calls it."""
    printed: str
    """Whose numbers of the paper stand beside ours."""
    options: Mapping[str, Any]
    usual: tuple[str, ...] | None = None


ENCODERS = {
    "LSTM": FlatEncoder("lstm", "LSTM", {"encoder": "lstm"}),
    "CNN": FlatEncoder("cnn", "CNN", {"encoder": "cnn"}),
    "MiniLM": FlatEncoder(
        "hf:minilm-l6",
        "BERT",
        {"encoder": "hf:minilm-l6", "vectors": None, "train_embeddings": None},  # its own embeddings
        (),  # only where it is asked for by name
    ),
}
WORDY = ("LSTM", "CNN")
"""Those that read words, so that each has one importance."""


def model_name(encoder: str, method: str, attack: str) -> str:
    """What a model is called together with the attack that it is trained against, or, a base, attacked by.

    >>> model_name("LSTM", "FLAT", "textfooler")
    'LSTM-FLAT (TextFooler)'
    """
    return f"{encoder}-{method} ({ATTACKS[attack]})"


def named(
    *methods: str, encoders: Sequence[str] = tuple(ENCODERS), attacks: Sequence[str] = tuple(ATTACKS)
) -> tuple[str, ...]:
    """Names of models."""
    return tuple(model_name(e, m, a) for a in attacks for e in encoders for m in methods)


def ablated(ablation: str, encoder: str = "LSTM") -> str:
    """What a model without one or both regularisers is called."""
    return f"{model_name(encoder, 'FLAT', 'textfooler')}, {ablation}"


def transferred(encoder: str, method: str, attack: str) -> str:
    """What a model that is trained against TextFooler is called where another attacks it."""
    return f"{model_name(encoder, method, 'textfooler')}, attacked by {attack}"


def by_lime(name: str) -> str:
    """What a model is called where LIME explains it."""
    return f"{name}, by LIME"


def grouped(groups: int) -> str:
    """What a CNN with one mask for each group of words is called."""
    return f"CNN, {groups} groups"


def printed(
    table: str, dataset: str, encoder: str, method: str, attack: str | None = None
) -> list[float | None]:
    """Numbers of Tables 2, 3, 7 or 8 on one corpus; nothing for what the paper does not have."""
    rows: Any = published("flat")[table]
    theirs = f"{ENCODERS[encoder].printed}-{method}"
    if table in ("table_3", "table_8"):
        row = rows[attack][theirs]
    else:
        row = rows[theirs if method == "base" else f"{theirs} ({ATTACKS[attack or '']})"]
    order: list[str] = published("flat")["order"]
    if dataset not in order:
        return [None] * (3 if table == "table_3" else 2 if table == "table_8" else 1)
    found = row[order.index(dataset)]
    return list(found) if isinstance(found, list) else [found]


def _models() -> list[Model]:
    found = []
    for encoder, shape in ENCODERS.items():
        for attack in ATTACKS:
            for method, options in METHODS.items():
                name = model_name(encoder, method, attack)
                against = None if method == "base" else attack
                common = (shape.asked, {**shape.options, **options}, shape.usual)
                found.append(Model(name, *common, trained_against=against, attacks=(attack,)))
                found.append(
                    Model(
                        by_lime(name),
                        *common,
                        texts=LIME_TEXTS,
                        trained_against=against,
                        attacks=(attack,),
                        audit={"source": "lime"},
                    )
                )
        for other in OTHER_ATTACKS:
            for method, options in METHODS.items():
                found.append(
                    Model(
                        transferred(encoder, method, other),
                        shape.asked,
                        {**shape.options, **options},
                        shape.usual,
                        TRANSFER_TEXTS,
                        trained_against=None if method == "base" else "textfooler",
                        attacks=(other,),
                    )
                )
    for ablation, weights in ABLATIONS.items():
        options = {**ENCODERS["LSTM"].options, "objective": "flat", **weights}
        against = "textfooler"
        found.append(Model(ablated(ablation), "lstm", options, trained_against=against, attacks=(against,)))
    for groups in GROUPS:
        options = {**ENCODERS["CNN"].options, "word_mask": "group", "mask_groups": groups}
        found.append(
            Model(grouped(groups), "cnn", options, attacks=("textfooler",), near_words="mask_vectors")
        )
    return found


MODELS = tuple(_models())
EVERY = named(*METHODS)
"""Models of Tables 2, 3 and 7."""
TRANSFERRED = tuple(
    transferred(encoder, method, other)
    for encoder in ENCODERS
    for method in METHODS
    for other in OTHER_ATTACKS
)
LIME = tuple(map(by_lime, EVERY))
ABLATED = (*named("FLAT", encoders=("LSTM",), attacks=("textfooler",)), *map(ablated, ABLATIONS))
GROUPED = (*named("base", encoders=("CNN",), attacks=("textfooler",)), *map(grouped, GROUPS))
