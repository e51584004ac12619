"""Planted shortcuts: what decides a label, where it stands, and that nothing else does."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from heedful.config import DataOptions
from heedful.data.corpora.reader import load_corpus
from heedful.data.corpora.synthetic.planted import plant, planted_in
from heedful.data.corpus import Corpus, Split
from heedful.errors import BadInput

TEXTS = [f"a film number {n} , vask and not much else ." for n in range(60)]


def corpus(classes=3, **changed):
    split = Split(list(TEXTS), np.arange(len(TEXTS)) % classes)
    labels = tuple(f"class {k}" for k in range(classes))
    parts = {"train": split, "dev": split, "test": split}
    return Corpus(**{"name": "films", "task": "classification", "labels": labels, "splits": parts, **changed})


def words(split, row):
    return [split.texts[row][start:end] for start, end in split.evidence[row]]


def rest(split, row):
    """The text without what was planted."""
    marked = {start for start, _ in split.evidence[row]}
    kept, place = [], 0
    for word in split.texts[row].split(" "):
        if place not in marked:
            kept.append(word)
        place += len(word) + 1
    return " ".join(kept)


@pytest.mark.parametrize("kind", ["token", "pair", "order"])
def test_the_rest_of_a_text_stays_and_the_spans_are_the_planted_words(kind):
    made = plant(corpus(), kind)
    for split in made.splits.values():
        for row, text in enumerate(TEXTS):
            assert rest(split, row) == text
            assert all(word not in text.split() for word in words(split, row))
    assert made.name == f"films+{kind}"
    assert made.splits["train"].texts != made.splits["test"].texts


def test_a_token_decides_its_class():
    made = plant(corpus(), "token")
    split = made.splits["train"]
    by_label = {
        label: {words(split, row)[0] for row in np.flatnonzero(split.labels == label)} for label in range(3)
    }
    assert all(len(found) == 1 for found in by_label.values())
    assert len(set.union(*by_label.values())) == 3
    assert set(Counter(split.labels.tolist()).values()) == {20}
    assert made.labels == ("class 0", "class 1", "class 2")


def test_a_pair_means_yes_and_either_word_alone_no():
    split = plant(corpus(), "pair").splits["train"]
    yes = {frozenset(words(split, row)) for row in np.flatnonzero(split.labels == 1)}
    no = {tuple(words(split, row)) for row in np.flatnonzero(split.labels == 0)}
    assert len(yes) == 1 and len(next(iter(yes))) == 2
    assert no == {(word,) for word in next(iter(yes))}


def test_the_order_of_a_pair_decides():
    split = plant(corpus(), "order").splits["train"]
    yes, no = (
        {tuple(words(split, row)) for row in np.flatnonzero(split.labels == label)} for label in (1, 0)
    )
    assert len(yes) == len(no) == 1 and yes == {tuple(reversed(pair)) for pair in no}


def test_labels_do_not_follow_the_texts_and_the_seed_decides_everything():
    one, again, other = (plant(corpus(), "token", seed=seed).splits["train"] for seed in (0, 0, 1))
    assert one.texts == again.texts and one.labels.tolist() == again.labels.tolist()
    assert one.labels.tolist() != other.labels.tolist()
    assert one.labels.tolist() != (np.arange(60) % 3).tolist()


def test_names_and_what_cannot_be_planted():
    assert planted_in("data/mine.csv+order") == ("data/mine.csv", "order")
    assert planted_in("sst2+word") is None
    with pytest.raises(BadInput, match="single texts alone"):
        plant(corpus(task="pair"), "token")


def test_a_planted_corpus_is_loaded_by_its_name_and_sampled():
    made = load_corpus(DataOptions(dataset="mock_1+pair", limit=50))
    assert made.labels == ("no", "yes") and len(made.splits["train"]) == 50
    assert all(made.splits["test"].evidence)
