"""Weights drawn anew stage by stage, on copies: the model that is asked about stays as it is."""

from __future__ import annotations

import json
from itertools import chain, combinations

import numpy as np
import pytest
import torch
import transformers

from heedful.models.encoders.transformer import transformer_config
from heedful.models.model import Architecture, AttentionModel
from heedful.models.redrawn import STAGES, Redrawn, stages_with_weights

SHAPES = (
    {"encoder": "bilstm"},
    {"encoder": "average", "heads": 2},
    {"encoder": "none"},
    {"encoder": "bigru", "hierarchical": True},
    {"encoder": "bilstm", "query": True, "classes": 3},
)
OF = {
    "decoder": "decode",
    "attention": "attend",
    "encoder": "encode",
    "query_encoder": "encode",
    "embedding": "embed",
}


def weights(model):
    return {name: value.clone() for name, value in model.state_dict().items()}


def stage_of(name):
    return "embed" if "word_embeddings" in name else OF[name.partition(".")[0]]


@pytest.fixture
def tiny_bert():
    """A tiny BERT without its words."""
    torch.manual_seed(0)
    small = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    bert = transformers.BertModel(
        transformers.BertConfig(vocab_size=13, max_position_embeddings=40, pad_token_id=0, **small)
    )
    config = json.loads(json.dumps(transformer_config(bert)))
    return AttentionModel(
        Architecture(encoder="hf:tiny", vocabulary_size=13, classes=2, transformer=config)
    ).eval()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_exactly_the_stages_named_are_drawn_and_the_original_stays(toy_classifier, shape):
    model = toy_classifier(**shape).model
    before, state = weights(model), torch.get_rng_state()
    able = stages_with_weights(model)
    drawn = Redrawn(model, seed=0)
    for stages in chain.from_iterable(combinations(STAGES, size) for size in range(5)):
        mixed = drawn.model(stages)
        for name, value in mixed.state_dict().items():
            changed = stage_of(name) in stages
            assert torch.equal(value, before[name]) != changed, (stages, name)
    assert able == tuple(stage for stage in STAGES if any(stage_of(name) == stage for name in before))
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert torch.equal(state, torch.get_rng_state())
    assert not model.training


def test_a_transformer_keeps_or_loses_its_pieces_apart_from_its_layers(tiny_bert):
    model = tiny_bert
    before = weights(model)
    drawn = Redrawn(model, seed=0)
    assert stages_with_weights(model) == STAGES
    for stages in (["encode"], ["embed"], ["encode", "embed"], ["decode", "attend"]):
        mixed = drawn.model(stages)
        moved = {
            stage_of(name)
            for name, value in mixed.state_dict().items()
            if not torch.equal(value, before[name])
        }
        assert moved == set(stages)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_vectors_are_dealt_out_anew_and_padding_keeps_its_own(toy_classifier):
    table = toy_classifier(encoder="none").model
    old, new = table.embedding.weight, Redrawn(table, seed=3).model(["embed"]).embedding.weight
    assert torch.equal(old[0], new[0])
    rows = [{tuple(row) for row in values.tolist()} for values in (old, new)]
    assert rows[0] == rows[1]
    assert (old != new).any(1).double().mean() > 0.8


def test_weights_are_drawn_as_a_new_model_draws_them_and_never_as_training_did(toy_classifier):
    """A seed of training draws where the model began, and a model that hardly moved from there would look unchanged."""
    model = toy_classifier(encoder="bilstm", hidden=40, embedding_size=30).model
    spreads = []
    for seed in range(3):
        mixed = Redrawn(model, seed=seed).model(STAGES)
        torch.manual_seed(seed)
        begun = AttentionModel(model.architecture)
        for name, value in begun.encoder.state_dict().items():
            assert not torch.equal(value, mixed.encoder.state_dict()[name])
            spreads.append((value.std().item(), mixed.encoder.state_dict()[name].std().item()))
    assert np.mean(np.array(spreads), axis=0) == pytest.approx([spreads[0][0]] * 2, rel=0.05)


def test_the_same_seed_draws_the_same_and_another_others(toy_classifier):
    model = toy_classifier(encoder="bilstm").model
    one, same, other = (weights(Redrawn(model, seed=seed).model(STAGES)) for seed in (1, 1, 2))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not any(torch.equal(one[name], other[name]) for name in one)


def test_double_precision_stays_and_changed_models_run(toy_classifier):
    classifier = toy_classifier(encoder="average")
    model = classifier.model.double()
    mixed = Redrawn(model, seed=0).model(STAGES)
    batch = classifier.batch(["a fine film", "the plot is thin"])
    assert mixed(batch).logits.dtype == torch.float64
    assert not torch.equal(mixed(batch).weights, model(batch).weights)
    assert torch.equal(Redrawn(model, seed=0).model(["decode"])(batch).weights, model(batch).weights)
