"""The four stages: each callable alone, composing to forward, blind to padding, batch and order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from heedful.errors import BadInput
from heedful.models.encoders.encoder import ENCODERS
from heedful.models.model import probabilities

OF_WORDS = [name for name in ENCODERS if ENCODERS.get(name).unit == "word" and ":" not in name]
SHAPES = [
    *({"encoder": name} for name in OF_WORDS),
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
def test_every_model_keeps_the_contract(case, hold_to_contract):
    hold_to_contract(*case)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
def test_so_does_a_model_of_another_make(
    known, classes, toy_classifier, toy_split, foreign, hold_to_contract
):
    classifier = foreign(toy_classifier(encoder="none", attention="dot", classes=classes), known=known)
    hold_to_contract(classifier.model, classifier.instances(toy_split(classes=classes)))


BROKEN = {
    "encode": lambda model, states: replace(states, h=states.h + states.h.mean((0, 1))),  # companions
    "attend": lambda model, weights: weights * 0.9,
    "effects": lambda model, effects: effects._replace(rest=effects.rest + 0.1),
    "decode": lambda model, logits: logits.detach(),
    "exact": lambda model, copy: model,
}


@pytest.mark.parametrize("stage", BROKEN)
def test_the_contract_notices_a_stage_that_breaks_it(
    stage, toy_classifier, toy_split, foreign, hold_to_contract
):
    classifier = foreign(toy_classifier(encoder="none", attention="dot"))
    model, whole = classifier.model, getattr(classifier.model, stage)
    setattr(model, stage, lambda *arguments: BROKEN[stage](model, whole(*arguments)))
    with pytest.raises((AssertionError, RuntimeError)):
        hold_to_contract(model, classifier.instances(toy_split()))


@pytest.mark.parametrize("decoder", ["linear", "mlp"])
def test_so_do_models_with_candidates(decoder, toy_classifier, toy_split, hold_to_contract):
    classifier = toy_classifier(classes=4, query=True, decoder=decoder, heads=2)
    candidates = [[0, 2], [1, 3], [0, 1, 2, 3], [2, 3], [0, 1], [3, 1]]
    split = replace(toy_split(query=True, classes=4), candidates=candidates)
    hold_to_contract(classifier.model, classifier.instances(split))


def test_linear_decoders_have_effects_and_others_have_none(toy_classifier, toy_split):
    for shape, linear in (
        ({}, True),
        ({"heads": 2}, True),
        ({"decoder": "mlp"}, False),
        ({"pooling": "mean"}, False),
    ):
        classifier = toy_classifier(**shape)
        batch = classifier.instances(toy_split()).batch(np.arange(2))
        states = classifier.model.encode(classifier.model.embed(batch), batch)
        assert (classifier.model.effects(states) is not None) == linear


@of_shape(SHAPES)
def test_gradients_reach_every_parameter_and_are_finite(case):
    model, instances = case
    model.train()
    output = model(instances.batch(np.arange(6)))
    output.logits.pow(2).sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name


@pytest.mark.parametrize("encoder", OF_WORDS)
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
    assert moved == classifier.model.contextual


def test_a_hierarchical_network_with_an_uncontextual_sentence_level_is_not_contextual(toy_classifier):
    assert not toy_classifier(encoder="bigru", hierarchical=True, sentence_encoder="average").model.contextual
    assert toy_classifier(encoder="average", hierarchical=True, sentence_encoder="gru").model.contextual


def test_a_model_without_attention_refuses_questions_about_it(toy_classifier, toy_split):
    classifier = toy_classifier(pooling="max")
    batch = classifier.instances(toy_split()).batch(np.arange(2))
    states = classifier.model.encode(classifier.model.embed(batch), batch)
    assert classifier.model.attend(states) is None
    with pytest.raises(BadInput, match="pools by max and has no attention"):
        classifier.model.score(states)


def test_classes_that_are_no_candidates_get_no_probability(toy_classifier, toy_split):
    classifier = toy_classifier(classes=4, query=True)
    split = replace(
        toy_split(query=True, classes=4), candidates=[[0, 2], [1, 3], [0, 1, 2, 3], [2], [0], [3, 1]]
    )
    predicted = probabilities(classifier.model(classifier.instances(split).batch(np.arange(6))).logits)
    for row, allowed in zip(predicted, split.candidates, strict=True):
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
