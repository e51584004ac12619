"""Word masks: drawn in training, expected otherwise, decided by the word alone, and saved with the model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedful.explainers.explainer import EXPLAINERS
from heedful.models.classifier import Classifier
from heedful.models.redrawn import redraw, stages_with_weights
from heedful.models.shorter import read
from heedful.models.word_mask import GroupMask, entropy, straight_through

SHAPES = [
    {"encoder": "lstm", "pooling": "max"},
    {"encoder": "cnn", "widths": (3, 4, 5), "pooling": "max"},
    {"encoder": "bilstm"},
    {"encoder": "bigru", "heads": 2, "decoder": "mlp"},
    {"encoder": "average"},
    {"encoder": "none", "attention": "dot"},
    {"encoder": "pointer"},
    {"encoder": "bigru", "hierarchical": True},
    {"encoder": "none", "hierarchical": True, "sentence_encoder": "average"},
]
TASKS = [{"classes": 2}, {"classes": 4}, {"classes": 3, "query": True}]


def masked(toy_classifier, kind="word", **shape):
    """An untrained classifier whose masks differ from word to word."""
    classifier = toy_classifier(word_mask=kind, mask_groups=3, **shape)
    mask = classifier.model.word_mask
    if isinstance(mask, GroupMask):
        mask.groups.copy_(torch.arange(len(mask.groups)) % 4)
        mask.values.data.copy_(torch.tensor([0.9, 0.3, 1.2, 0.5]))
    else:
        mask.output.weight.data.mul_(5)
    return classifier


@pytest.mark.parametrize("kind", ["word", "group"])
@pytest.mark.parametrize("task", TASKS, ids=["binary", "many", "pair"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "-".join(map(str, s.values())))
def test_masked_models_keep_the_contract(shape, task, kind, toy_classifier, toy_split, hold_to_contract):
    classifier = masked(toy_classifier, kind, **shape, **task)
    split = toy_split(query=task.get("query", False), classes=task["classes"])
    hold_to_contract(classifier.model, classifier.instances(split))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "-".join(map(str, s.values())))
def test_shorter_ways_to_leave_out_a_word_see_the_masks(shape, toy_classifier, toy_split):
    """Leave-one-out by a shortcut is leave-one-out of the text without the word."""
    classifier = masked(toy_classifier, **shape)
    text = "wonderful acting and a warm, funny script"
    batch = classifier.batch([text])
    scores = EXPLAINERS.get("leave_one_out")(classifier.model, batch, seed=0)[0]
    whole = torch.tensor(list(classifier.predict([text])[0].probabilities.values()))
    if classifier.model.unit == "sentence":
        return
    for place, (start, end) in enumerate(batch.tokens.offsets[0].tolist()):
        rest = torch.tensor(list(classifier.predict([text[:start] + text[end:]])[0].probabilities.values()))
        assert scores[place].item() == pytest.approx((rest - whole).abs().sum().item() / 2, abs=1e-5)


def test_masks_change_what_is_read_and_nothing_else_is_drawn_for_them(toy_classifier, toy_split):
    plain, with_masks = toy_classifier(), masked(toy_classifier)
    theirs = with_masks.model.state_dict()
    assert all(torch.equal(tensor, theirs[name]) for name, tensor in plain.model.state_dict().items())
    batch = plain.instances(toy_split()).batch(np.arange(6))
    ratio = with_masks.model.embed(batch) / plain.model.embed(batch)
    expected = with_masks.model.importance(batch)
    real = batch.tokens.mask
    torch.testing.assert_close(ratio[real], expected[real][:, None].expand_as(ratio[real]))
    assert plain.model.importance(batch) is None
    # Shortcuts look words up by their numbers.
    found = with_masks.model.vectors(batch.tokens.ids)
    assert torch.equal(found[real], with_masks.model.embed(batch)[real])


def test_importance_depends_on_the_word_alone(toy_classifier):
    classifier = masked(toy_classifier)
    model = classifier.model
    batch = classifier.batch(["a fine film", "film, the film is warm", "warm"])
    scores, tokens = model.importance(batch), batch.tokens
    by_id: dict[int, float] = {}
    for number, score in zip(tokens.ids[tokens.mask].tolist(), scores[tokens.mask].tolist(), strict=True):
        assert by_id.setdefault(number, score) == pytest.approx(score, rel=1e-6)
    assert (scores[~tokens.mask] == 0).all()


def test_inference_draws_nothing_and_training_draws_zeros_and_ones(toy_classifier, toy_split):
    classifier = masked(toy_classifier, embedding_dropout=0.0, decoder_dropout=0.0)
    model, batch = classifier.model, classifier.instances(toy_split()).batch(np.arange(6))
    assert torch.equal(model(batch).logits, model(batch).logits)
    plain = model.unmasked(batch.tokens.ids)
    model.train()
    ratio = (model.embed(batch) / plain)[batch.tokens.mask]
    assert set(ratio.unique().tolist()) == {0.0, 1.0}
    assert not torch.equal(model(batch).logits, model(batch).logits)
    assert torch.equal(model.importance(batch), model.importance(batch))  # never drawn, without dropout


def test_words_are_drawn_one_by_one_also_where_each_is_encoded_once(toy_classifier):
    classifier = masked(toy_classifier, encoder="none", embedding_dropout=0.0, decoder_dropout=0.0)
    model, batch = classifier.model.train(), classifier.batch(["Great. Great. Great. Great. Great. Great."])
    assert torch.allclose(read(model.eval(), batch).logits, model(batch).logits, atol=1e-6)
    logits = {round(read(model.train(), batch).logits.item(), 4) for _ in range(40)}
    assert len(logits) > 4  # six words and six marks: more than both masks being 0 or 1


def test_draws_have_the_probability_they_should_and_a_gradient():
    logits = torch.tensor([-2.0, 0.0, 1.0]).requires_grad_()
    drawn = straight_through(logits.expand(20_000, 3))
    assert set(drawn.unique().tolist()) == {0.0, 1.0}
    torch.testing.assert_close(drawn.mean(0), logits.sigmoid(), rtol=0, atol=0.015)
    (gradient,) = torch.autograd.grad(drawn.mean(0).sum(), logits)
    # E[σ′(l + logistic noise)] = ∂E[σ(l + noise)]/∂l, by numbers.
    noise = torch.logit(torch.linspace(0.0005, 0.9995, 1000))
    soft = torch.sigmoid(logits.detach() + noise[:, None])
    torch.testing.assert_close(gradient, (soft * (1 - soft)).mean(0), rtol=0, atol=0.01)


@given(st.floats(-60, 60))
def test_entropy_is_that_of_a_coin(logit):
    p = torch.sigmoid(torch.tensor(logit, dtype=torch.float64))
    expected = -(torch.special.xlogy(p, p) + torch.special.xlogy(1 - p, 1 - p))
    found = entropy(torch.tensor(logit, dtype=torch.float64))
    assert found.item() == pytest.approx(expected.item(), abs=1e-12)


def test_entropy_has_a_gradient_everywhere():
    logits = torch.tensor([-900.0, -1.0, 0.0, 1.0, 900.0]).requires_grad_()
    (gradient,) = torch.autograd.grad(entropy(logits).sum(), logits)
    p = logits.detach().sigmoid()
    torch.testing.assert_close(gradient, -logits.detach() * p * (1 - p))


@pytest.mark.parametrize("kind", ["word", "group"])
def test_masks_are_saved_and_loaded(kind, toy_classifier, tmp_path):
    classifier = masked(toy_classifier, kind)
    texts = ["a fine film", "dull", "the jokes are old"]
    classifier.save_pretrained(tmp_path)
    again = Classifier.from_pretrained(tmp_path)
    assert type(again.model.word_mask) is type(classifier.model.word_mask)
    batch = classifier.batch(texts)
    assert torch.equal(again.model.importance(batch), classifier.model.importance(batch))
    assert torch.equal(again.model(batch).logits, classifier.model(batch).logits)
    assert [p.probabilities for p in again.predict(texts)] == [
        p.probabilities for p in classifier.predict(texts)
    ]


def test_noise_is_added_to_what_the_mask_lets_through(toy_classifier):
    classifier = masked(toy_classifier)
    batch = classifier.batch(["a fine film", "dull"])
    embedded = classifier.model.embed(batch)
    shift = torch.randn(embedded.shape)
    noisy = replace(batch, tokens=batch.tokens.shifted(shift))
    torch.testing.assert_close(classifier.model.embed(noisy), embedded + shift)


@pytest.mark.parametrize("kind", ["word", "group"])
def test_masks_are_drawn_anew_with_the_embedding_stage(kind, toy_classifier):
    model = masked(toy_classifier, kind).model
    drawn = redraw(model, 0)
    assert "embed" in stages_with_weights(model)
    assert drawn.model(["decode"]).word_mask is model.word_mask
    fresh = drawn.model(["embed"]).word_mask
    assert fresh is not model.word_mask
    if kind == "group":
        assert torch.equal(fresh.groups, model.word_mask.groups)
        assert (fresh.values == 1).all()
