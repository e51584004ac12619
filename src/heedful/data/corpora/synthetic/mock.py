"""AtteFa's Mock corpora: opinion words planted among filler, so that the evidence is known (section 4.1)."""

from __future__ import annotations

import random
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import numpy as np

from heedful.data.corpora.synthetic.opinion_words import Strength, opinion_words
from heedful.data.corpus import Corpus, Span, Split
from heedful.errors import BadInput

Placement = Literal["scattered", "start", "middle", "end"]

# How many words are planted in a text (a whole number) or what share of it (a fraction).
MOCK: Mapping[str, int | float] = MappingProxyType(
    {
        "mock_1": 1,
        "mock_2": 2,
        "mock_5": 5,
        "mock_10": 10,
        "mock_1q": 0.25,
        "mock_2q": 0.5,
        "mock_3q": 0.75,
        "mock_4q": 1.0,
    }
)
SIZES: Mapping[str, int] = MappingProxyType({"train": 8000, "test": 1000})
LABELS = ("negative", "positive")
FILLER = "something"
SHORTEST, LONGEST = 50, 100


def mock_corpus(
    *,
    informative: int | float,
    placement: Placement = "scattered",
    strength: Strength = "any",
    seed: int = 0,
    sizes: Mapping[str, int] = SIZES,
) -> Corpus:
    """Make texts of 50 to 100 words in which only the planted opinion words tell the label.

    `informative` is a number of words if it is an int, a share of the text if it is a float (1 is one word,
    1.0 the whole text). Labels and lengths depend on the seed alone, so that corpora that differ in one
    control are paired text by text.
    """
    _check(informative)
    words = opinion_words()
    by_label = words.select(strength)
    splits = {
        name: _split(
            size,
            informative=informative,
            placement=placement,
            by_label=by_label,
            # A string seeds by its SHA-512: the same on every machine, and unrelated between splits.
            rng=random.Random(f"mock/{seed}/{name}"),
        )
        for name, size in sizes.items()
    }
    name = _name(informative, placement, strength)
    notes = (words.source,)
    return Corpus(name, "classification", LABELS, splits, notes)


def _split(
    size: int,
    *,
    informative: int | float,
    placement: Placement,
    by_label: tuple[tuple[str, ...], tuple[str, ...]],
    rng: random.Random,
) -> Split:
    labels = [i % 2 for i in range(size)]
    rng.shuffle(labels)
    lengths = [rng.randint(SHORTEST, LONGEST) for _ in range(size)]
    counts = [_count(informative, length) for length in lengths]
    planted = [rng.choices(by_label[label], k=count) for label, count in zip(labels, counts, strict=True)]
    # Positions come last, so that another placement moves the same words.
    texts, evidence = [], []
    for words, length in zip(planted, lengths, strict=True):
        text, spans = _text(words, _positions(placement, len(words), length, rng), length)
        texts.append(text)
        evidence.append(spans)
    return Split(texts=texts, labels=np.array(labels, dtype=np.int64), evidence=evidence)


def _positions(placement: Placement, count: int, length: int, rng: random.Random) -> list[int]:
    match placement:
        case "scattered":
            return sorted(rng.sample(range(length), count))
        case "start":
            first = 0
        case "middle":
            first = (length - count) // 2
        case "end":
            first = length - count
    return list(range(first, first + count))


def _text(planted: list[str], positions: list[int], length: int) -> tuple[str, list[Span]]:
    """Join `length` words, and give the span of each planted one in the order of the text."""
    tokens = [FILLER] * length
    spans: list[Span] = []
    shift = 0  # by how much the words planted so far have moved the text against pure filler
    for position, word in zip(positions, planted, strict=True):
        tokens[position] = word
        start = position * (len(FILLER) + 1) + shift
        spans.append((start, start + len(word)))
        shift += len(word) - len(FILLER)
    return " ".join(tokens), spans


def _count(informative: int | float, length: int) -> int:
    if isinstance(informative, int):
        return informative
    return max(1, int(informative * length + 0.5))


def _check(informative: int | float) -> None:
    if isinstance(informative, int):
        if not 1 <= informative <= SHORTEST:
            raise BadInput(
                f"{informative} informative words cannot be planted: choose from 1 to {SHORTEST}, "
                f"the length of the shortest text."
            )
    elif not 0 < informative <= 1:
        raise BadInput(f"A share of {informative} informative words is not possible: choose from 0 to 1.")


def _name(informative: int | float, placement: Placement, strength: Strength) -> str:
    if isinstance(informative, int):
        amount = str(informative)
    elif (4 * informative).is_integer():
        amount = f"{int(4 * informative)}q"
    else:
        amount = f"{100 * informative:g}pct"
    controls = [control for control in (placement, strength) if control not in ("scattered", "any")]
    return "_".join(["mock", amount, *controls])
