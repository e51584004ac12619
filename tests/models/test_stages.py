"""The four stages: each callable alone, composing to forward, blind to padding, batch and order."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from heedful.errors import BadInput
from heedful.models.encoders.encoder import ENCODERS
from heedful.models.model import probabilities

SHAPES = [
    *({"encoder": name} for name in ENCODERS),
    {"encoder": "average", "activation": "tanh"},
    {"encoder": "pointer", "heads": 2, "attention": "dot"},
    {"encoder": "pointer", "decoder": "mlp", "normaliser": "sparsemax"},
    {"encoder": "bilstm", "attention": "dot"},
    {"encoder": "cnn", "widths": (3, 4, 5), "pooling": "max"},
    {"encoder": "lstm", "pooling": "last"},
    {"encoder": "bilstm", "pooling": "last"},
    {"encoder": "gru", "pooling": "mean"},
    {"encoder": "bilstm", "heads": 3},
    {"encoder": "bigru", "heads": 2, "attention": "dot", "decoder": "mlp"},
    {"encoder": "rnn", "normaliser": "sparsemax"},
    {"encoder": "average", "normaliser": "entmax15", "temperature": 0.5},
    {"encoder": "bigru", "hierarchical": True},
    {"encoder": "none", "hierarchical": True, "sentence_encoder": "average"},
    {"encoder": "cnn", "hierarchical": True, "sentence_encoder": "lstm", "heads": 2},
]
TASKS = [{"classes": 2}, {"classes": 4}, {"classes": 3, "query": True}]


ATTENTIVE = [shape for shape in SHAPES if "pooling" not in shape]
LINEAR = [shape for shape in ATTENTIVE if not {"heads", "decoder"} & {*shape}]


@pytest.fixture
def case(shape, task, toy_classifier, toy_split):
    """A model of one shape for one task, with its instances."""
    classifier = toy_classifier(**shape, **task)
    split = toy_split(query=task.get("query", False), classes=task["classes"])
    return classifier.model, classifier.instances(split)


def of_shape(shapes):
    """Run a test for all of these shapes, on every task."""

    def decorate(test):
        test = pytest.mark.parametrize("task", TASKS, ids=["binary", "many", "pair"])(test)
        return pytest.mark.parametrize("shape", shapes, ids=lambda s: "-".join(map(str, s.values())))(test)

    return decorate


@of_shape(SHAPES)
def test_forward_is_the_composition_of_the_stages(case):
    model, instances = case
    batch = instances.batch(np.arange(6))
    states = model.encode(model.embed(batch), batch)
    weights = model.normalise(model.score(states), states.mask) if model.has_attention else None
    output = model(batch)
    torch.testing.assert_close(output.logits, model.decode(states, weights), rtol=0, atol=0)
    assert (output.weights is None) == (weights is None)
    assert output.logits.shape == (6, 1 if model.architecture.classes == 2 else model.architecture.classes)


@of_shape(ATTENTIVE)
def test_weights_are_a_distribution_over_the_real_items(case):
    model, instances = case
    batch = instances.batch(np.arange(6))
    states = model.encode(model.embed(batch), batch)
    weights = model.attend(states)
    assert weights.shape == (6, model.architecture.heads, states.h.shape[1])
    assert (weights >= 0).all()
    assert (weights[(~states.mask)[:, None].expand_as(weights)] == 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(6, model.architecture.heads))


@of_shape(SHAPES)
def test_neither_companions_nor_order_nor_padding_change_a_logit(case):
    model, instances = case
    together = model(instances.batch(np.arange(6))).logits
    backwards = model(instances.batch(np.arange(6)[::-1].copy())).logits.flip(0)
    alone = torch.cat([model(instances.batch(np.array([row]))).logits for row in range(6)])
    torch.testing.assert_close(together, backwards, rtol=0, atol=1e-5)
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-5)


@of_shape(LINEAR)
def test_linear_decoders_are_linear_in_the_weights(case):
    """Logits are Σ α_i z_i, where z_i is what one item alone would say: the ground of every exact audit."""
    model, instances = case
    assert model.decoder.linear
    batch = instances.batch(np.arange(6))
    states = model.encode(model.embed(batch), batch)
    items = states.h.shape[1]
    alone = torch.eye(items).expand(6, items, items)  # [batch, which item, items]
    item_logits = torch.stack([model.decode(states, alone[:, i : i + 1]) for i in range(items)], dim=1)
    weights = model.attend(states)
    torch.testing.assert_close(torch.einsum("bn,bnk->bk", weights[:, 0], item_logits), model(batch).logits)


@of_shape(SHAPES)
def test_gradients_reach_every_parameter_and_are_finite(case):
    model, instances = case
    model.train()
    output = model(instances.batch(np.arange(6)))
    output.logits.pow(2).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name


@pytest.mark.parametrize("encoder", list(ENCODERS))
def test_contextual_says_whether_a_state_depends_on_other_words(encoder, toy_classifier, toy_split):
    classifier = toy_classifier(encoder=encoder)
    batch = classifier.instances(toy_split()).batch(np.array([3]))
    embedded = classifier.model.embed(batch).detach()
    changed = embedded.clone()
    changed[:, 2] += 1.0
    before, after = (classifier.model.encode(e, batch) for e in (embedded, changed))
    others = [i for i in range(embedded.shape[1]) if i != 2]
    pairs = [(before.h, after.h), *([] if before.rest is None else [(before.rest, after.rest)])]
    moved = not all(torch.equal(b[:, others], a[:, others]) for b, a in pairs)
    assert moved == classifier.model.encoder.contextual


def test_a_hierarchical_network_with_an_uncontextual_sentence_level_is_not_contextual(toy_classifier):
    assert not toy_classifier(
        encoder="bigru", hierarchical=True, sentence_encoder="average"
    ).model.encoder.contextual
    assert toy_classifier(
        encoder="average", hierarchical=True, sentence_encoder="gru"
    ).model.encoder.contextual


def test_a_model_without_attention_refuses_questions_about_it(toy_classifier, toy_split):
    classifier = toy_classifier(pooling="max")
    batch = classifier.instances(toy_split()).batch(np.arange(2))
    states = classifier.model.encode(classifier.model.embed(batch), batch)
    assert classifier.model.attend(states) is None
    with pytest.raises(BadInput, match="pools by max and has no attention"):
        classifier.model.score(states)


def test_classes_that_are_no_candidates_get_no_probability(toy_classifier, toy_split):
    from dataclasses import replace

    classifier = toy_classifier(classes=4, query=True)
    split = replace(
        toy_split(query=True, classes=4), candidates=[[0, 2], [1, 3], [0, 1, 2, 3], [2], [0], [3, 1]]
    )
    chances = probabilities(classifier.model(classifier.instances(split).batch(np.arange(6))).logits)
    for row, allowed in zip(chances, split.candidates, strict=True):
        assert row[[k for k in range(4) if k not in allowed]].sum() == 0
        assert row[allowed].sum().item() == pytest.approx(1.0)


def test_probabilities_of_one_logit_are_those_of_a_sigmoid():
    logits = torch.tensor([[-2.0], [0.0], [3.0]])
    expected = torch.sigmoid(logits[:, 0])
    torch.testing.assert_close(probabilities(logits)[:, 1], expected)
    torch.testing.assert_close(probabilities(logits).sum(-1), torch.ones(3))


@pytest.mark.parametrize(
    "options", [{}, {"heads": 2}, {"query": True}, {"query": True, "heads": 3, "classes": 4}]
)
def test_slopes_of_a_linear_decoder_are_its_gradients(toy_classifier, toy_split, options):
    classifier = toy_classifier(**options)
    split = toy_split(query=bool(options.get("query")), classes=options.get("classes", 2))
    batch, model = classifier.instances(split).batch(np.arange(6)), classifier.model
    states = model.encode(model.embed(batch), batch)
    weights = model.attend(states).detach().requires_grad_()
    logits = model.decode(states, weights)
    slopes = model.decoder.slopes(states.h, states.query)
    for output in range(logits.shape[-1]):
        (expected,) = torch.autograd.grad(logits[:, output].sum(), weights, retain_graph=True)
        assert torch.allclose(slopes[..., output], expected, atol=1e-5)
