"""Instances: batches of a split, and the tokens that planted evidence covers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from heedful.data.corpora.synthetic import generate
from heedful.data.corpus import Split
from heedful.data.instances import Instances
from heedful.data.words.vocabulary import Vocabulary
from heedful.errors import BadInput


def _instances(split: Split, **rules: object) -> Instances:
    return Instances.encode(split, Vocabulary.learn(split.texts, **rules), classes=2)


def test_evidence_marks_the_tokens_it_overlaps_and_no_padding():
    split = Split(["a very good film", "bad"], np.array([1, 0]), evidence=[[(2, 11)], []])
    marked = _instances(split).evidence(np.array([1, 0]))
    assert marked.tolist() == [[False] * 4, [False, True, True, False]]


def test_planted_words_of_a_mock_corpus_are_found_again():
    split = generate("mock_2").splits["test"]
    instances, rows = _instances(split), np.arange(50)
    marked = instances.evidence(rows)
    assert (marked.sum(1) == 2).all()
    words = instances.batch(rows).tokens.words
    for row, mask in zip(words, marked, strict=True):
        assert all((word != "something") == bool(real) for word, real in zip(row, mask, strict=False))


def test_supporting_sentences_of_babi_are_found_again():
    split = generate("babi_1_generated").splits["test"]
    rows = np.arange(20)
    marked = _instances(split).evidence(rows)
    batch = _instances(split).batch(rows)
    for row in range(20):
        sentence = " ".join(
            word for word, real in zip(batch.tokens.words[row], marked[row], strict=False) if real
        )
        assert batch.query.texts[row].split()[-1].rstrip("?") in sentence


def test_texts_without_evidence_say_so():
    split = Split(["a", "b"], np.array([0, 1]))
    with pytest.raises(BadInput, match="Nobody recorded evidence"):
        _instances(split).evidence(np.array([0]))


def test_cut_texts_are_counted():
    split = Split(["a b c d", "a b"], np.array([0, 1]))
    instances = _instances(split, max_length=3)
    assert instances.tokens.cut == 1
    assert instances.lengths.tolist() == [3, 2]
    assert _instances(split).tokens.cut == 0


def test_batches_keep_the_order_asked_for():
    split = Split(["a b c", "d", "e f"], np.array([0, 1, 1]))
    batch = _instances(split).batch(np.array([2, 0]))
    assert batch.tokens.words == [["e", "f"], ["a", "b", "c"]]
    assert batch.labels.tolist() == [1, 0]
    assert torch.equal(batch.rows, torch.tensor([2, 0]))
