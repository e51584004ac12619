"""Readers for texts that share most of their words give what the four stages give."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.data.instances import Batch
from heedful.data.tokens import FlatTokens
from heedful.models.shortcuts.prefixes import levels, sorted_texts
from heedful.models.shorter import reader
from heedful.models.stages import output_of

SHAPES = [
    *(
        {"encoder": e, "pooling": p}
        for e in ("rnn", "lstm", "gru", "bilstm", "bigru")
        for p in ("max", "mean", "last")
    ),
    *({"encoder": e, "pooling": "attention"} for e in ("lstm", "bilstm", "bigru")),
    {"encoder": "bilstm", "pooling": "attention", "attention": "dot"},
    {"encoder": "bilstm", "pooling": "attention", "heads": 2},
    {"encoder": "cnn", "pooling": "max"},
    {"encoder": "cnn", "pooling": "last", "activation": "tanh", "widths": (2, 3)},
]
TEXTS = st.lists(st.lists(st.integers(1, 6), max_size=7), min_size=1, max_size=12)


def plainly(model, texts):
    """Every text by itself, through the four stages."""
    logits = []
    for text in texts:
        ids = np.array(text, dtype=np.int32)
        tokens = FlatTokens(np.array([0, len(ids)]), ids, np.zeros((len(ids), 2), np.int32))
        batch = Batch(tokens.pad(np.array([0]), [""]), torch.zeros(1, dtype=torch.long), torch.zeros(1))
        logits.append(output_of(model, batch).logits[0])
    return torch.stack(logits)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "-".join(map(str, shape.values())))
def test_a_reader_gives_what_the_stages_give(toy_classifier, shape, classes):
    model = toy_classifier(classes=classes, **shape).model.eval()
    read = reader(model)
    assert read is not None

    @settings(max_examples=30, deadline=None)
    @given(TEXTS)
    def same(texts):
        with torch.no_grad():
            found = read([np.array(text, dtype=np.int64) for text in texts])
            assert torch.allclose(found, plainly(model, texts), atol=1e-5)

    same()


def test_many_texts_are_read_in_parts(toy_classifier):
    random = np.random.default_rng(0)
    texts = [random.integers(1, 7, size=random.integers(1, 6)).tolist() for _ in range(2500)]
    for shape in SHAPES[-6:]:
        model = toy_classifier(**shape).model.eval()
        with torch.no_grad():
            found = reader(model)([np.array(text) for text in texts])
            assert torch.allclose(found[::97], plainly(model, texts[::97]), atol=1e-5)


@pytest.mark.parametrize(
    "shape", [{"encoder": "average"}, {"encoder": "none"}, {"encoder": "cnn", "pooling": "mean"}]
)
def test_other_models_have_none(toy_classifier, shape):
    assert reader(toy_classifier(**shape).model) is None


def test_windows_of_many_words_are_numbered_in_steps(toy_classifier, monkeypatch):
    model = toy_classifier(encoder="cnn", pooling="max", widths=(5,)).model.eval()
    texts = [[1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 6], [2, 2, 2, 2, 2, 2, 2]]
    monkeypatch.setattr("heedful.models.shortcuts.windows._LARGEST", 60)
    with torch.no_grad():
        found = reader(model)([np.array(text) for text in texts])
        assert torch.allclose(found, plainly(model, texts), atol=1e-5)


@given(TEXTS)
def test_every_distinct_beginning_is_there_once(texts):
    order, padded, lengths = sorted_texts([np.array(text, dtype=np.int64) for text in texts])
    assert sorted(order.tolist()) == list(range(len(texts)))
    found = levels(padded, lengths)
    for depth, level in enumerate(found):
        beginnings = {tuple(text[: depth + 1]) for text in texts if len(text) > depth}
        assert len(level.words) == len(beginnings)
