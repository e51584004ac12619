"""Shortcuts planted in the texts of any corpus, so that where the evidence stands is known (Bastings et al. 2022).

Labels are drawn anew, and a word, a pair of words or the order of a pair that no text had before decides each: the
rest of a text tells nothing of its label.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Literal, cast, get_args

import numpy as np

from heedful.data.corpus import Corpus, Span, Split
from heedful.errors import BadInput

PlantedKind = Literal["token", "pair", "order"]
_NAMED = re.compile(rf"(.+)\+({'|'.join(get_args(PlantedKind))})")
_VOWELS, _STEMS = "aeiouy", ("v{}sk", "r{}lm", "k{}bd", "z{}nt")


def planted_in(dataset: str) -> tuple[str, PlantedKind] | None:
    """Read a name such as sst2+token: the corpus, and what is planted in it.

    >>> planted_in("sst2+token"), planted_in("sst2")
    (('sst2', 'token'), None)
    """
    found = _NAMED.fullmatch(dataset)
    return (found[1], cast(PlantedKind, found[2])) if found else None


def plant(corpus: Corpus, kind: PlantedKind, *, seed: int = 0) -> Corpus:
    """Draw the labels of a corpus anew, and plant what decides them at random places of the texts.

    `token`: each class has a word of its own. `pair`: two words together mean yes, either of them alone no. `order`: both
    words are always there, and which comes first decides.
    """
    if corpus.task != "classification":
        raise BadInput(f"{corpus.name} has questions or pairs: shortcuts are planted in single texts alone.")
    labels = corpus.labels if kind == "token" else ("no", "yes")
    words = _new_words(corpus, len(labels) if kind == "token" else 2)
    splits = {
        # A string seeds by its SHA-512: the same on every machine, and unrelated between splits.
        name: _split(split, kind, words, random.Random(f"planted/{kind}/{seed}/{name}"))
        for name, split in corpus.splits.items()
    }
    note = f"Labels were drawn anew and decided by planted words ({kind}: {', '.join(words)})."
    return Corpus(f"{corpus.name}+{kind}", "classification", labels, splits, (*corpus.notes, note))


def _new_words(corpus: Corpus, count: int) -> list[str]:
    """Make up words that stand in no text of the corpus."""
    known = {
        word for split in corpus.splits.values() for text in split.texts for word in text.lower().split()
    }
    made = [stem.format(vowel) for stem in _STEMS for vowel in _VOWELS]
    made += [f"{first}{second}" for first in made for second in made]
    new = [word for word in made if word not in known]
    if len(new) < count:
        raise BadInput(
            f"{corpus.name} has {count} classes, and there are {len(new)} words to plant: choose a corpus with fewer."
        )
    return new[:count]


def _split(split: Split, kind: PlantedKind, words: Sequence[str], rng: random.Random) -> Split:
    classes = len(words) if kind == "token" else 2
    labels = [row % classes for row in range(len(split))]
    rng.shuffle(labels)
    texts, evidence = [], []
    for text, label in zip(split.texts, labels, strict=True):
        planted, spans = _insert(text.split(), _chosen(kind, label, words, rng), rng)
        texts.append(planted)
        evidence.append(spans)
    return Split(texts=texts, labels=np.array(labels, dtype=np.int64), evidence=evidence)


def _chosen(kind: PlantedKind, label: int, words: Sequence[str], rng: random.Random) -> list[str]:
    """Give the words that make this label, in the order in which they must stand."""
    match kind:
        case "token":
            return [words[label]]
        case "pair":
            return rng.sample(list(words), 2) if label else [rng.choice(list(words))]
        case "order":
            return list(words) if label else list(reversed(words))


def _insert(tokens: list[str], planted: list[str], rng: random.Random) -> tuple[str, list[Span]]:
    """Put words between others, in order, and give the span of each in the new text."""
    places = sorted(rng.choices(range(len(tokens) + 1), k=len(planted)))
    mixed: list[tuple[str, bool]] = []
    for place in range(len(tokens) + 1):
        mixed += [(word, True) for word, where in zip(planted, places, strict=True) if where == place]
        mixed += [(token, False) for token in tokens[place : place + 1]]
    spans, start = [], 0
    for word, is_planted in mixed:
        if is_planted:
            spans.append((start, start + len(word)))
        start += len(word) + 1
    return " ".join(word for word, _ in mixed), spans
