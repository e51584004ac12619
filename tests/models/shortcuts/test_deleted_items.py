"""Leave-one-out without reading the rest again: by windows, by sums, and by following what fades."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from heedful.data.instances import Batch
from heedful.data.tokens import FlatTokens
from heedful.explainers.reread import probabilities_without
from heedful.measures.divergence import tvd
from heedful.models.shortcuts import fading
from heedful.models.shorter import moved_without_each, to_the_end
from heedful.models.stages import output_of, probabilities

WINDOWS = [
    *(
        {"encoder": "cnn", "pooling": pooling, "widths": widths}
        for pooling in ("attention", "mean", "max", "last")
        for widths in ((1,), (3,), (2, 5), (1, 4))
    ),
    {"encoder": "cnn", "heads": 2, "widths": (3,)},
    {"encoder": "cnn", "attention": "dot", "decoder": "mlp", "temperature": 2.0},
    {"encoder": "cnn", "query": True},
    *({"encoder": e, "pooling": p} for e in ("average", "none") for p in ("mean", "max", "last")),
]
RECURRENT = [
    {"encoder": "bilstm"},
    {"encoder": "lstm", "heads": 2},
    {"encoder": "gru", "attention": "dot"},
    {"encoder": "bigru", "pooling": "mean"},
    {"encoder": "rnn", "decoder": "mlp"},
    {"encoder": "bilstm", "query": True, "classes": 3},
    {"encoder": "pointer"},
]


def words(lengths, *, query=False, seed=0):
    """Make a batch of random words, padded."""
    random = np.random.default_rng(seed)

    def padded(sizes):
        ids = random.integers(2, 9, sum(sizes)).astype(np.int32)
        flat = FlatTokens(np.cumsum([0, *sizes]), ids, np.zeros((len(ids), 2), np.int32))
        return flat.pad(np.arange(len(sizes)), [""] * len(sizes))

    return Batch(
        padded(lengths),
        torch.zeros(len(lengths), dtype=torch.long),
        torch.arange(len(lengths)),
        query=padded([3] * len(lengths)) if query else None,
    )


def one_by_one(model, batch):
    """Delete each item and read the rest again."""
    before = probabilities(output_of(model, batch).logits)
    mask = batch.tokens.mask
    rows, items = mask.nonzero(as_tuple=True)
    keep = mask[rows] & (torch.arange(mask.shape[1]) != items[:, None])
    found = before.new_zeros(mask.shape)
    found[rows, items] = tvd(probabilities_without(model, batch, rows, keep), before[rows])
    return found


def check(model, batch):
    with torch.no_grad():
        found = moved_without_each(model, batch)
        expected = one_by_one(model, batch)
    assert found is not None
    assert bool(found.known.all())
    torch.testing.assert_close(found.by, expected, atol=2e-6, rtol=1e-5)
    assert expected.max() > 1e-4, "nothing is tested where nothing moves"


@pytest.mark.parametrize("shape", WINDOWS, ids=lambda shape: "-".join(map(str, shape.values())))
def test_windows_give_what_reading_again_gives(toy_classifier, shape):
    model = toy_classifier(**shape).model.eval()
    check(model, words([1, 2, 3, 9, 14], query=shape.get("query", False)))


def test_windows_may_be_read_in_parts(toy_classifier, monkeypatch):
    monkeypatch.setattr("heedful.models.shortcuts.gap_windows._TOKENS", 20)
    check(toy_classifier(encoder="cnn", widths=(3, 5)).model.eval(), words([17, 4]))


@pytest.mark.parametrize("shape", RECURRENT, ids=lambda shape: "-".join(map(str, shape.values())))
def test_what_fades_is_followed_long_enough(toy_classifier, shape, monkeypatch):
    monkeypatch.setattr(fading, "_ROWS", 50)
    monkeypatch.setattr("heedful.models.shortcuts.leave_one_out.LONG", 20)
    model = toy_classifier(**shape).model.eval()
    check(model, words([90, 5, 60], query=shape.get("query", False)))


def test_what_does_not_fade_is_not_known(toy_classifier, monkeypatch):
    """An encoder that remembers for ever: its forget gates are open."""
    monkeypatch.setattr(fading, "FARTHEST", 16)
    monkeypatch.setattr("heedful.models.shortcuts.leave_one_out.LONG", 20)
    model = toy_classifier(encoder="lstm").model.eval()
    with torch.no_grad():
        model.encoder.forwards.bias_ih_l0[5:10] = 20.0
        batch = words([80])
        found = moved_without_each(model, batch)
        assert not found.known[0, :50].any()
        assert found.known[0, -8:].all()
        expected = one_by_one(model, batch)
        assert torch.allclose(found.by[found.known], expected[found.known], atol=2e-6)
        with to_the_end(True):
            exact = moved_without_each(model, batch)
        assert exact.known.all()
        assert torch.allclose(exact.by, expected, atol=2e-6)
