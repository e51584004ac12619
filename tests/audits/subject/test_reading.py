"""A reading says what the model says, whatever weights take the place of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from heedful.audits.subject.reading import read_batch
from heedful.audits.subject.ties import settled
from heedful.models.model import probabilities


def some_weights(case, variants=3):
    torch.manual_seed(1)
    shape = (len(case.split), variants, *case.reading.weights.shape[1:])
    scores = torch.randn(shape).masked_fill(~case.reading.mask[:, None, None], -torch.inf)
    return torch.softmax(scores, dim=-1)


def close(ours, theirs):
    torch.testing.assert_close(ours.float(), theirs.detach().float(), rtol=1e-5, atol=1e-5)


def test_it_says_what_the_model_says(case):
    model, batch = case.classifier.model, case.reading.batch
    close(case.reading.logits, model(batch).logits)
    close(case.reading.probabilities, probabilities(model(batch).logits))
    close(case.reading.weights, model(batch).weights)


def test_other_weights_are_decoded_as_the_model_would(case):
    weights, states = some_weights(case), case.reading.states
    logits = case.reading.decode(weights)
    for variant in range(weights.shape[1]):
        close(logits[:, variant], case.classifier.model.decode(states, weights[:, variant]))


def test_erased_items_are_gone_and_the_rest_is_scaled_up(case):
    torch.manual_seed(2)
    keep = (torch.rand(len(case.split), 4, case.reading.mask.shape[1]) < 0.6) & case.reading.mask[:, None]
    keep[..., 0] = case.reading.weights.min(1).values[:, :1] > 0  # something is left of every text
    logits = case.reading.erase_all_but(keep)
    for variant in range(4):
        left = case.reading.weights * keep[:, variant, None]
        some = (left.sum(-1) > 0).all(1)
        expected = case.classifier.model.decode(
            case.reading.states, left / left.sum(-1, keepdim=True).clamp(min=1e-30)
        )
        close(logits[some, variant], expected[some])


def test_of_nothing_the_zero_vector_is_left(case):
    states = case.reading.states
    nothing = torch.zeros_like(case.reading.weights)
    expected = case.classifier.model.decode(states, nothing)
    close(case.reading.empty_logits, expected)
    close(
        case.reading.erase_all_but(torch.zeros(len(case.split), 1, nothing.shape[-1]).bool())[:, 0], expected
    )
    close(case.reading.decode(nothing[:, None])[:, 0], expected)


def test_an_item_alone_says_what_all_the_weight_on_it_says(case):
    items = case.reading.mask.shape[1]
    for item in range(items):
        alone = torch.zeros_like(case.reading.weights)
        alone[..., item] = 1
        close(case.reading.item_logits[:, item], case.classifier.model.decode(case.reading.states, alone))


def test_linear_readings_are_means_of_their_items(case):
    reading, a = case.reading, case.classifier.model.architecture
    assert reading.linear == (a.decoder == "linear" and a.heads == 1)
    mean = torch.einsum("bn,bnk->bk", reading.weights.mean(1).double(), reading.item_logits)
    if reading.linear:
        torch.testing.assert_close(mean, reading.logits, rtol=1e-6, atol=1e-5)
    elif a.decoder == "mlp":
        assert (mean - reading.logits).abs().max() > 1e-4


def test_companions_change_nothing(case):
    instances = case.classifier.instances(case.split)
    for row in case.texts():
        alone = read_batch(case.classifier.model, instances.batch(np.array([row])))
        close(alone.logits[0], case.reading.logits[row])
        close(alone.weights[0], case.reading.weights[row, :, : alone.weights.shape[-1]])


def test_scores_are_named(make_case):
    reading = make_case("binary").reading
    torch.testing.assert_close(reading.scores("attention").float(), reading.weights[:, 0])
    own = torch.rand(reading.mask.shape).double() * reading.mask
    torch.testing.assert_close(replace(reading, user_scores=own).scores("own"), own, rtol=1e-5, atol=1e-6)
    assert reading.scores("gradient") is reading.scores("gradient")  # reckoned once


def test_the_same_word_twice_is_a_tie(make_case):
    """Rounding differs with an item's place in a batch, and must not decide who comes first."""
    case = make_case("average")  # text 4 is: Great . Great film . Great .
    for name in ("attention", "gradient", "leave_one_out", "weight_product"):
        scores = case.reading.scores(name)[4]
        assert scores[0] == scores[2] == scores[5], name
        assert scores[0] != scores[3], name


def test_ties_are_settled_among_real_items_only():
    scores = torch.tensor([[0.3, 0.3 + 1e-8, 0.3, 0.1, 9.0], [1e-9, 2e-9, 0.0, 0.0, 0.0]])
    mask = torch.tensor([[True, True, False, True, False], [True, True, True, False, False]])
    found = settled(scores, mask)
    assert found[0, 0] == found[0, 1]
    assert found[0].tolist() == pytest.approx([0.3, 0.3, 0, 0.1, 0])
    assert len(found[1, :3].unique()) == 3  # small scores are no ties by being small
