"""Explainers against brute force, on every architecture and task."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from heedful.data.corpus import Split
from heedful.errors import BadInput
from heedful.explainers.explain import explain
from heedful.explainers.explainer import (
    EXPLAINERS,
    decided,
    is_mirrored,
    item_of,
    probability_of,
    reads_layers,
    sum_by_item,
)
from heedful.models.model import probabilities

SHAPES = [
    {"encoder": "bilstm"},
    {"encoder": "lstm", "heads": 3, "temperature": 0.5},
    {"encoder": "bilstm", "decoder": "mlp"},
    {"encoder": "bigru", "heads": 2},
    {"encoder": "rnn", "attention": "dot"},
    {"encoder": "average"},
    {"encoder": "pointer"},
    {"encoder": "pointer", "heads": 2, "attention": "dot", "normaliser": "sparsemax"},
    {"encoder": "none", "heads": 2, "decoder": "mlp"},
    {"encoder": "cnn", "normaliser": "sparsemax"},
    {"encoder": "average", "normaliser": "entmax15"},
    {"encoder": "bigru", "hierarchical": True},
    {"encoder": "gru", "hierarchical": True, "sentence_encoder": "average"},
]
TASKS = [{"classes": 2}, {"classes": 3}, {"classes": 3, "query": True}]
SLOW = ("lime", "kernel_shap")
# Word masks, and layers of transformers, are asked for by some; tests/models/huggingface/test_every_layer.py has those.
GENERAL = [name for name in EXPLAINERS if name != "word_mask" and not reads_layers(name)]


def case_of(shape, task, toy_classifier, toy_split):
    classifier = toy_classifier(**shape, **task)
    split = toy_split(query=task.get("query", False), classes=task["classes"])
    return classifier, classifier.instances(split)


@pytest.fixture(params=TASKS, ids=["binary", "many", "pair"])
def task(request):
    return request.param


@pytest.fixture(params=SHAPES, ids=lambda s: "-".join(map(str, s.values())))
def case(request, task, toy_classifier, toy_split):
    return case_of(request.param, task, toy_classifier, toy_split)


@pytest.mark.parametrize("name", [name for name in GENERAL if name not in SLOW])
def test_every_item_gets_a_score_that_companions_do_not_change(case, name):
    classifier, instances = case
    explainer, rows = EXPLAINERS.get(name), np.arange(6)
    batch = instances.batch(rows)
    scores = explainer(classifier.model, batch, seed=3)
    mask = classifier.model.encode(classifier.model.embed(batch), batch).mask
    assert scores.shape == mask.shape
    assert scores.isfinite().all()
    assert (scores[~mask] == 0).all()
    for row in rows:
        alone = explainer(classifier.model, instances.batch(np.array([row])), seed=3)[0]
        torch.testing.assert_close(scores[row, : len(alone)], alone, rtol=0, atol=1e-5)


def _deleted(classifier, split: Split, row: int, item: int) -> Split:
    """The text without one item, written out and read again."""
    tokens = classifier.instances(split).batch(np.array([row])).tokens
    group = tokens.sentence_of if classifier.model.architecture.hierarchical else tokens.word_of
    kept = [
        text
        for text, number in zip(tokens.words[0], group[0][tokens.mask[0]].tolist(), strict=True)
        if number != item
    ]
    return Split([" ".join(kept)], split.labels[:1], None if split.queries is None else [split.queries[row]])


@pytest.mark.parametrize("row", [0, 2, 5])
def test_leave_one_out_is_what_deleting_the_words_gives(case, row):
    classifier, instances = case
    model = classifier.model
    scores = EXPLAINERS.get("leave_one_out")(model, instances.batch(np.arange(6)), seed=0)
    batch = instances.batch(np.array([row]))
    before = probabilities(model(batch).logits)[0]
    items = int(model.encode(model.embed(batch), batch).mask.sum())
    for item in range(items):
        left = classifier.instances(_deleted(classifier, instances.split, row, item))
        after = probabilities(model(left.batch(np.array([0]))).logits)[0]
        assert scores[row, item].item() == pytest.approx(0.5 * (after - before).abs().sum().item(), abs=1e-5)


@pytest.mark.parametrize("pooling", ["last", "mean", "max"])
@pytest.mark.parametrize("encoder", ["lstm", "bilstm", "cnn"])
def test_leave_one_out_without_attention(encoder, pooling, toy_classifier, toy_split):
    classifier, instances = case_of(
        {"encoder": encoder, "pooling": pooling}, TASKS[0], toy_classifier, toy_split
    )
    batch = instances.batch(np.arange(6))
    before = probabilities(classifier.model(batch).logits)
    scores = EXPLAINERS.get("leave_one_out")(classifier.model, batch, seed=0)
    for item in range(int(batch.tokens.mask[2].sum())):
        left = classifier.instances(_deleted(classifier, instances.split, 2, item))
        after = probabilities(classifier.model(left.batch(np.array([0]))).logits)[0]
        assert scores[2, item].item() == pytest.approx(0.5 * (after - before[2]).abs().sum().item(), abs=1e-5)


def test_leave_one_out_of_the_only_item_leaves_the_bias_to_decide(toy_classifier, toy_split):
    classifier = toy_classifier(encoder="average")
    batch = classifier.instances(toy_split()).batch(np.array([1]))  # "dull"
    bias = torch.sigmoid(classifier.model.decoder.output.bias)[0]
    before = probabilities(classifier.model(batch).logits)[0, 1]
    score = EXPLAINERS.get("leave_one_out")(classifier.model, batch, seed=0)
    assert score[0, 0].item() == pytest.approx((before - bias).abs().item(), abs=1e-6)


def test_the_gradient_is_a_directional_derivative_with_attention_held(toy_classifier, toy_split):
    """Scaling one word's embedding by 1 + t moves the decision by t · (∂ŷ/∂e · e)."""
    classifier = toy_classifier(classes=3)
    model = classifier.model.double()
    batch = classifier.instances(toy_split(classes=3)).batch(np.array([3]))
    embedded = model.embed(batch).detach()
    weights = model.attend(model.encode(embedded, batch)).detach()
    classes = decided(model, batch)
    held, free = (EXPLAINERS.get(name)(model, batch, seed=0)[0] for name in ("gradient", "gradient_attached"))
    for item in range(embedded.shape[1]):
        ends = {"held": [], "free": []}
        for t in (1e-5, -1e-5):
            moved = embedded.clone()
            moved[:, item] *= 1 + t
            states = model.encode(moved, batch)
            ends["held"].append(probability_of(model.decode(states, weights), classes).item())
            ends["free"].append(probability_of(model.decode(states, model.attend(states)), classes).item())
        assert held[item].item() == pytest.approx(abs(ends["held"][0] - ends["held"][1]) / 2e-5, rel=1e-4)
        assert free[item].item() == pytest.approx(abs(ends["free"][0] - ends["free"][1]) / 2e-5, rel=1e-4)


def test_gradients_of_weights_are_their_derivatives(toy_classifier, toy_split):
    classifier = toy_classifier(heads=2)
    model = classifier.model.double()
    batch = classifier.instances(toy_split()).batch(np.array([0]))
    states = model.encode(model.embed(batch), batch)
    weights = model.attend(states).detach()
    classes = decided(model, batch)
    gradient = EXPLAINERS.get("weight_gradient")(model, batch, seed=0)[0]
    product = EXPLAINERS.get("weight_product")(model, batch, seed=0)[0]
    for item in range(weights.shape[-1]):
        slopes = []
        for head in range(2):
            up, down = weights.clone(), weights.clone()
            up[0, head, item] += 1e-6
            down[0, head, item] -= 1e-6
            ends = [probability_of(model.decode(states, w), classes).item() for w in (up, down)]
            slopes.append((ends[0] - ends[1]) / 2e-6)
        assert gradient[item].item() == pytest.approx(sum(slopes), abs=1e-6)
        expected = sum(weights[0, head, item].item() * slope for head, slope in enumerate(slopes))
        assert product[item].item() == pytest.approx(expected, abs=1e-6)


def test_integrated_gradients_are_complete(case):
    """Shares add up to the decision's probability less that of zero embeddings."""
    classifier, instances = case
    model, batch = classifier.model, instances.batch(np.arange(6))
    shares = EXPLAINERS.get("integrated_gradients")(model, batch, seed=0)
    classes = decided(model, batch)
    zero = torch.zeros_like(model.embed(batch))
    states = model.encode(zero, batch)
    empty = probability_of(model.decode(states, model.attend(states)), classes)
    full = probability_of(model(batch).logits, classes)
    torch.testing.assert_close(shares.sum(1), (full - empty).detach(), rtol=0, atol=2e-3)


def _captum(model, batch):
    """captum's own call on the embeddings of one text, with its default rule and 50 steps; by item."""
    from captum.attr import IntegratedGradients

    classes, embedded = decided(model, batch), model.embed(batch).detach()

    def probability_at(points):
        rows = torch.zeros(len(points), dtype=torch.long)
        states = model.encode(points, batch.take(rows))
        return probability_of(model.decode(states, model.attend(states)), classes[rows])

    shares = IntegratedGradients(probability_at).attribute(embedded, n_steps=50).sum(-1).to(embedded.dtype)
    return sum_by_item(shares, item_of(model, batch), model.encode(embedded, batch))[0].detach()


def _same_as_captum(classifier, instances):
    model = classifier.model
    batch = instances.batch(np.arange(6))
    shares = EXPLAINERS.get("integrated_gradients")(model, batch, seed=0)
    for row in range(6):
        expected = _captum(model, instances.batch(np.array([row])))
        if model.architecture.pooling == "max" and not model.encoder.contextual:
            # Which of several equal states is the largest is a matter of rounding: add up those of one word.
            same = batch.tokens.ids[row, : len(expected)] == batch.tokens.ids[row, : len(expected), None]
            expected, shares[row, : len(expected)] = (
                same.float() @ part[: len(expected)] for part in (expected, shares[row])
            )
        torch.testing.assert_close(shares[row, : len(expected)], expected, rtol=0, atol=1e-5)


def _sharpened(classifier, factor):
    """Make decisions turn on single words, so that the path is steep and few steps do not do."""
    with torch.no_grad():
        classifier.model.embedding.weight *= factor
        for parameter in classifier.model.decoder.parameters():
            parameter.mul_(factor)


@pytest.mark.parametrize("factor", [1, 4])
def test_integrated_gradients_are_captums(case, factor):
    _sharpened(case[0], factor)
    _same_as_captum(*case)


@pytest.mark.parametrize("factor", [1, 4])
@pytest.mark.parametrize("encoder", ["rnn", "lstm", "gru", "bilstm", "bigru", "average", "cnn", "none"])
@pytest.mark.parametrize(
    "options",
    [
        {"pooling": "mean"},
        {"pooling": "max"},
        {"pooling": "last", "decoder": "mlp"},
        {"heads": 3, "decoder": "mlp", "activation": "tanh"},
        {"attention": "dot", "heads": 2},
        {"normaliser": "sparsemax"},
        {"temperature": 0.5, "activation": "tanh"},
    ],
    ids=lambda options: "-".join(map(str, options.values())),
)
def test_integrated_gradients_are_captums_whatever_the_stages(
    encoder, options, factor, toy_classifier, toy_split
):
    classifier, instances = case_of({"encoder": encoder, **options}, TASKS[1], toy_classifier, toy_split)
    _sharpened(classifier, factor)
    _same_as_captum(classifier, instances)


def test_long_texts_are_integrated_and_shortened_in_blocks(toy_classifier, toy_split, monkeypatch):
    """The bounds on memory change no score."""
    from heedful.explainers import integrated_gradients
    from heedful.models.shortcuts import leave_one_out

    classifier, instances = case_of({"encoder": "bilstm"}, TASKS[0], toy_classifier, toy_split)
    batch, names = instances.batch(np.arange(6)), ("integrated_gradients", "leave_one_out")
    before = [EXPLAINERS.get(name)(classifier.model, batch, seed=0) for name in names]
    monkeypatch.setattr(integrated_gradients, "_TOKENS", 40)
    monkeypatch.setattr(leave_one_out, "_STATES", 30)
    monkeypatch.setattr(leave_one_out, "MAX_TOKENS", 10)
    for name, expected in zip(names, before, strict=True):
        found = EXPLAINERS.get(name)(classifier.model, batch, seed=0)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", SLOW)
@pytest.mark.parametrize("hierarchical", [False, True])
def test_surrogates_find_the_only_word_that_matters(name, hierarchical, toy_classifier, toy_split):
    classifier = toy_classifier(encoder="average", hierarchical=hierarchical)
    model = classifier.model
    with torch.no_grad():  # make one word decide
        word = classifier.vocabulary.words.index("dull" if not hierarchical else "great")
        model.embedding.weight *= 0.01
        model.embedding.weight[word] *= 3000
        model.decoder.output.bias.fill_(0.0)
    text = "a fine dull film" if not hierarchical else "A film. So great. It holds up."
    batch = classifier.batch([text])
    scores = EXPLAINERS.get(name)(model, batch, seed=0)[0]
    assert int(scores.abs().argmax()) == (2 if not hierarchical else 1)
    torch.testing.assert_close(scores, EXPLAINERS.get(name)(model, batch, seed=0)[0], rtol=0, atol=0)


def test_kernel_shap_is_near_the_shapley_values_it_estimates(toy_classifier):
    """By brute force over all subsets of four items."""
    from itertools import permutations

    from heedful.explainers.reread import probabilities_without

    classifier = toy_classifier(encoder="bilstm")
    model, batch = classifier.model, classifier.batch(["wonderful acting and script"])
    with torch.no_grad():
        model.embedding.weight *= 4
        model.decoder.output.weight *= 6
    classes = decided(model, batch)
    exact = np.zeros(4)
    orders = list(permutations(range(4)))
    for order in orders:
        keep = torch.zeros(5, 4, dtype=torch.bool)
        for place, item in enumerate(order, start=1):
            keep[place:, item] = True
        values = probabilities_without(model, batch, torch.zeros(5, dtype=torch.long), keep)[:, classes[0]]
        exact[list(order)] += (values[1:] - values[:-1]).numpy() / len(orders)
    scores = EXPLAINERS.get("kernel_shap")(model, batch, seed=0)[0]
    np.testing.assert_allclose(scores.numpy(), exact, atol=0.02)


def test_models_without_attention_have_all_explainers_but_those_of_weights(toy_classifier, toy_split):
    classifier = toy_classifier(encoder="cnn", pooling="max")
    batch = classifier.instances(toy_split()).batch(np.arange(6))
    for name in ("gradient", "leave_one_out", "integrated_gradients", "random"):
        assert EXPLAINERS.get(name)(classifier.model, batch, seed=0).isfinite().all()
    for name in ("attention", "weight_gradient", "weight_product"):
        with pytest.raises(BadInput, match="has no attention"):
            EXPLAINERS.get(name)(classifier.model, batch, seed=0)


def test_explain_points_into_the_text(toy_classifier):
    text = "Fine, a WARM script"
    (explained,) = explain(toy_classifier(), [text], "leave_one_out")
    assert [text[i.start : i.end] for i in explained.items] == ["Fine", ",", "a", "WARM", "script"]
    with pytest.raises(BadInput, match="no explainer named 'gradeint': did you mean gradient"):
        explain(toy_classifier(), [text], "gradeint")


def test_no_gradient_is_left_on_the_model(case):
    classifier, instances = case
    for name in GENERAL:
        if name not in SLOW:
            EXPLAINERS.get(name)(classifier.model, instances.batch(np.arange(3)), seed=0)
    assert all(p.grad is None for p in classifier.model.parameters())


def test_the_function_is_not_hidden_by_a_package_of_its_name(toy_classifier):
    import heedful
    import heedful.audits.running.run  # brings every explainer along

    assert heedful.explain(toy_classifier(), ["a fine film"], "gradient")[0].items


@pytest.mark.parametrize("hierarchical", [False, True])
def test_the_only_item_of_a_text_has_the_whole_shapley_value(toy_classifier, hierarchical):
    classifier = toy_classifier(hierarchical=hierarchical)
    batch = classifier.batch(["dull ."] if hierarchical else ["dull"])
    scores = EXPLAINERS.get("kernel_shap")(classifier.model, batch, seed=0)
    assert scores.shape == (1, 1)
    lost = EXPLAINERS.get("leave_one_out")(classifier.model, batch, seed=0)
    torch.testing.assert_close(scores.abs(), lost.abs(), atol=1e-6, rtol=0)


@pytest.mark.parametrize("shape", [{}, {"encoder": "cnn", "pooling": "max"}, {"hierarchical": True}])
def test_word_masks_are_the_same_importance_in_every_text(shape, toy_classifier):
    classifier = toy_classifier(word_mask="word", **shape)
    with torch.no_grad():
        classifier.model.word_mask.output.weight *= 5
    texts = ["a fine film", "film", "the film is a fine warm film. So warm."]
    batch = classifier.batch(texts)
    scores = EXPLAINERS.get("word_mask")(classifier.model, batch, seed=0)
    alone = EXPLAINERS.get("word_mask")(classifier.model, classifier.batch(["film"]), seed=0)
    torch.testing.assert_close(scores[1, 0], alone[0, 0])
    assert ((scores >= 0) & (scores < 1)).all()
    explained = classifier.model.importance(batch)
    if classifier.model.unit == "sentence":
        first = batch.tokens.sentence_of[2] == 0
        torch.testing.assert_close(scores[2, 0], explained[2, first].mean())
    else:
        assert torch.equal(scores, explained)


def test_a_model_without_word_masks_has_no_importance_of_words(toy_classifier, foreign):
    plain = toy_classifier(encoder="none", attention="dot")
    for classifier in (plain, foreign(plain)):
        batch = plain.batch(["a fine film"])
        with pytest.raises(BadInput, match=r"has no word masks.*train one with --word-mask word"):
            EXPLAINERS.get("word_mask")(classifier.model, batch, seed=0)


@pytest.mark.parametrize("name", [name for name in EXPLAINERS if is_mirrored(name)])
def test_of_two_classes_one_gains_what_the_other_loses(toy_classifier, name):
    classifier = toy_classifier(encoder="bilstm", seed=1)
    batch = classifier.batch(["a dull plot", "warm and funny and slow"])
    one, other = (
        EXPLAINERS.get(name)(classifier.model, batch, seed=0, classes=torch.full((2,), number))
        for number in (0, 1)
    )
    assert one.abs().max() > 0
    torch.testing.assert_close(one, -other, atol=1e-6, rtol=1e-4)
