"""All layers of a network: what is seen is what the library itself reports, and what is changed is changed everywhere."""

from __future__ import annotations

import pytest
import torch
import yaml
from tests.models.huggingface.conftest import TEXTS, make_classifier

from heedful.audits.running.compare_explainers import EXPLAINERS as SHORT
from heedful.audits.running.compare_explainers import OF_LAYERS as LONG
from heedful.audits.running.compare_explainers import compare_explainers
from heedful.audits.running.run import audit
from heedful.data.corpora.given import as_data
from heedful.errors import BadInput
from heedful.explainers.explainer import EXPLAINERS, can_explain, reads_layers
from heedful.explainers.layer_attention import where_read
from heedful.models.stages import Layered, output_of, probabilities
from heedful.reports.beside import beside

KINDS = ["Bert", "DistilBert", "GPT2", "Llama", "Deberta", "ModernBert", "ModernBert-mean"]
OF_LAYERS = [name for name in EXPLAINERS if reads_layers(name)]


@pytest.fixture(params=KINDS)
def classifier(request):
    return make_classifier(request.param)


@pytest.fixture
def bert():
    return make_classifier("Bert")


def test_weights_are_those_that_the_library_reports(bert):
    batch = bert.batch(TEXTS)
    layers = bert.model.layers(batch)
    module = bert.model.network.module
    before = module.config._attn_implementation
    module.set_attn_implementation("eager")
    with torch.no_grad():
        given = module(batch.tokens.ids, attention_mask=batch.tokens.present.long(), output_attentions=True)
    module.set_attn_implementation(before)
    real = batch.tokens.present
    assert len(layers.weights) == len(given.attentions)
    for ours, theirs in zip(layers.weights, given.attentions, strict=True):
        pairs = (real[:, None, :, None] & real[:, None, None]).expand_as(ours)
        assert ours[pairs].numpy() == pytest.approx(theirs[pairs].numpy(), abs=1e-6)
    assert layers.read.tolist() == [[place == 0 for place in range(real.shape[1])]] * len(real)


def test_slopes_are_those_of_small_changes(bert):
    model, batch = bert.model.exact(), bert.batch(TEXTS[:1])
    classes = torch.tensor([1])
    found = model.layers(batch, classes)
    states = model.encode(model.embed(batch), batch)
    own = model.attend(states)
    share = 1 - states.fixed
    step = torch.zeros_like(own)
    item = int(states.mask[0].nonzero()[1, 0])
    step[0, 2, item] = 1e-6
    up, down = (probabilities(model.decode(states, own + sign * step))[0, 1] for sign in (1, -1))
    fixed = (1 - (found.weights[-1][0, 2, 0] * ~batch.tokens.mask[0]).sum()).item()
    # The words' share is what decode is given in parts of one.
    assert found.slopes[-1][0, 2, 0, item].item() == pytest.approx(
        float((up - down).detach()) / 2e-6 / fixed, rel=1e-3
    )
    assert share.shape == (1,)


def test_own_weights_in_every_layer_give_the_own_answer(classifier):
    batch = classifier.batch(TEXTS)
    model = classifier.model
    assert isinstance(model, Layered)
    every = model.in_every_layer()
    states = every.encode(every.embed(batch), batch)
    own = every.attend(states)
    assert own.shape[1] == 1
    with torch.no_grad():
        plain = model.logits(batch)
        assert every.decode(states, own).numpy() == pytest.approx(plain.numpy(), abs=2e-5)
        alike = (states.mask / states.mask.sum(1, keepdim=True))[:, None]
        last = model.decode(
            model.encode(model.embed(batch), batch), alike.expand(-1, model.place.weights.heads, -1)
        )
        everywhere = every.decode(states, alike)
    assert (everywhere - plain).abs().max() > 1e-4
    assert (everywhere - last).abs().max() > 1e-4
    assert not any("forward" in part.__dict__ for part in model.network.module.modules())


def test_a_word_without_weight_is_read_nowhere():
    """What it is then changes nothing: nobody reads what it becomes, and without special tokens words share all there is."""
    classifier = make_classifier("Llama")
    model, batch = classifier.model.in_every_layer(), classifier.batch(TEXTS[:1])
    embedded, answers = model.embed(batch), []
    for factor in (1.0, 5.0):
        moved = embedded.clone()
        moved[:, 2] *= factor
        states = model.encode(moved, batch)
        own = model.attend(states).clone()
        plain = model.decode(states, own)
        own[..., 2] = 0  # other words keep their shares
        answers.append((plain.detach(), model.decode(states, own / own.sum(-1, keepdim=True)).detach()))
    assert answers[0][1].numpy() == pytest.approx(answers[1][1].numpy(), abs=1e-4)
    assert (answers[0][0] - answers[1][0]).abs().max() > 1e-2


def test_what_is_knocked_out_is_masked_in_all_layers(bert):
    batch = bert.batch(TEXTS[:2])
    gone = torch.zeros(3, batch.tokens.ids.shape[1], dtype=torch.bool)
    gone[0, 2] = gone[2, 3] = True
    found = bert.model.knocked_out(batch, torch.tensor([0, 1, 1]), gone)
    module = bert.model.network.module
    for row, (text, hidden) in enumerate(zip((0, 1, 1), gone, strict=True)):
        mask = batch.tokens.present[[text]] & ~hidden
        with torch.no_grad():
            alone = module(batch.tokens.ids[[text]], attention_mask=mask.long()).logits
        assert found[[row]].numpy() == pytest.approx(alone.numpy(), abs=1e-5)


def test_a_zero_value_changes_what_reads_it(bert):
    batch = bert.batch(TEXTS[:2])
    turned = bert.model.without_values(batch)
    layers = bert.model.layers(batch)
    assert len(turned) == len(layers.weights)
    real = batch.tokens.present
    for each in turned:
        assert each.shape == (2, real.shape[1], real.shape[1])
        assert (each >= -1e-6).all()
        assert each[0][:, ~real[0]].abs().max() < 1e-6  # padding has nothing to say
        assert (each[real[:, :, None] & real[:, None]] > 1e-7).any()


@pytest.mark.parametrize("name", OF_LAYERS)
def test_scores_depend_on_no_companion(classifier, name):
    explainer = EXPLAINERS.get(name)
    together = explainer(classifier.model, classifier.batch(TEXTS), seed=0)
    mask = classifier.batch(TEXTS).tokens.mask
    assert together.shape == mask.shape
    assert together[~mask].abs().max() == 0
    assert together.isfinite().all() and together.abs().sum() > 0
    for row, text in enumerate(TEXTS):
        alone = explainer(classifier.model, classifier.batch([text]), seed=0)[0]
        size = float(together[row].abs().max().detach())
        assert together[row, : len(alone)].detach().numpy() == pytest.approx(
            alone.detach().numpy(), abs=1e-4 * size + 1e-7
        )


def test_rollout_by_hand(bert):
    batch = bert.batch(TEXTS[:1])
    layers = bert.model.layers(batch)
    size = batch.tokens.ids.shape[1]
    total = torch.eye(size)
    for weights in layers.weights:
        total = (weights[0].mean(0) + torch.eye(size)) / 2 @ total
    expected = total[0] * batch.tokens.mask[0]
    found = EXPLAINERS.get("rollout")(bert.model, batch, seed=0)[0]
    assert found.numpy() == pytest.approx(expected.numpy(), abs=1e-6)
    relevance, deep = torch.eye(size), bert.model.layers(batch, probabilities(output_of(bert.model, batch).logits).argmax(-1))  # fmt: skip
    for weights, slopes in zip(deep.weights, deep.slopes, strict=True):
        relevance = relevance + (weights[0] * slopes[0]).clamp(min=0).mean(0) @ relevance
    found = EXPLAINERS.get("gradient_rollout")(bert.model, batch, seed=0)[0]
    assert found.numpy() == pytest.approx((relevance[0] * batch.tokens.mask[0]).numpy(), abs=1e-6)
    assert where_read(relevance[None], deep, batch)[0].numpy() == pytest.approx(found.numpy(), abs=1e-6)


def test_they_are_for_models_of_layers_alone(toy_classifier, bert):
    toy = toy_classifier(encoder="bilstm").model
    assert OF_LAYERS and all(can_explain(name, bert.model) for name in OF_LAYERS)
    assert not any(can_explain(name, toy) for name in OF_LAYERS)


def test_a_comparison_leaves_out_what_cannot_be_asked_of_a_network_and_says_why(tmp_path):
    """No module of this network is a layer, so that no layer's values can be zero; everything else is compared."""
    classifier = make_classifier("SqueezeBert")
    policy = tmp_path / "policy.yaml"
    rule = {"measure": "rationale.sufficiency", "show": 0.0, "forbid": 1.0, "reason": "enough"}
    sharp = {"measure": "sharpness.sharpness", "show": 0.0, "forbid": 0.0, "reason": "flat"}
    policy.write_text(
        yaml.safe_dump({"version": 2, "name": "mine", "least_texts": 1, "rules": [sharp, rule]})
    )
    texts = as_data(TEXTS)
    found = audit(classifier, texts, policy=policy, only=["rationale"], folder=tmp_path / "out")
    compared = compare_explainers(found, classifier, texts, policy=policy)
    assert compared is not None
    assert [column.source for column in compared.columns] == [
        "attention", *SHORT, *(s for s in LONG if s != "value_zeroing")
    ]  # fmt: skip
    (reason,) = compared.silent.values()
    assert "could not be told apart" in reason
    assert f"Not compared: value zeroing; {reason}." in beside(compared).notes
    with pytest.raises(BadInput, match="This cannot be asked of this model"):
        EXPLAINERS.get("value_zeroing")(classifier.model, classifier.batch(TEXTS[:1]), seed=0)
