"""Whatever is asked of a network, and whether it succeeds or fails, the network is as it was before."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from heedful.explainers.explainer import EXPLAINERS
from heedful.models.huggingface.classifier_folder import classify_with


def marks(module):
    """Everything that an intervention could leave on a network."""
    names = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    parts = list(module.modules())
    return (
        [len(getattr(part, name)) for part in parts for name in names],
        ["forward" in part.__dict__ for part in parts],
        [part.training for part in parts],
        module.config._attn_implementation,
        [weight.requires_grad for weight in module.parameters()],
        torch.nn.functional.softmax,
        torch.nn.functional.scaled_dot_product_attention,
        torch.is_grad_enabled(),
    )


@pytest.fixture
def trained(network):
    """A network as its owner left it: in training mode, with attention computed in one piece."""
    module = network("Bert", attn_implementation="sdpa")
    return module.train()


def test_nothing_is_left_when_all_is_well(trained, tokenizer, split):
    before = marks(trained)
    assert before[3] == "sdpa"
    made = classify_with(trained, tokenizer())
    batch = made.instances(split).batch(np.arange(4))
    for name in ("attention", "gradient", "weight_gradient", "leave_one_out"):
        EXPLAINERS.get(name)(made.model, batch, seed=0)
    made.predict(["a fine film"])
    assert marks(trained) == before


@pytest.mark.parametrize("where", ["encode", "decode"])
def test_nothing_is_left_when_something_fails(trained, tokenizer, split, where, monkeypatch):
    made = classify_with(trained, tokenizer())
    batch = made.instances(split).batch(np.arange(4))
    embedded = made.model.embed(batch)
    states = made.model.encode(embedded, batch)
    weights = made.model.attend(states)
    before = marks(trained)

    def fail(*args, **kwargs):
        raise RuntimeError("out of memory")

    last = trained.bert.encoder.layer[-1].output.dense
    monkeypatch.setattr(type(last), "forward", fail)
    with pytest.raises(RuntimeError, match="out of memory"):
        made.model.encode(embedded, batch) if where == "encode" else made.model.decode(states, weights)
    monkeypatch.undo()
    assert marks(trained) == before
    assert torch.equal(made.model.decode(states, weights), made.model(batch).logits)


def test_half_precision_is_read_in_single_and_stays_half(network, tokenizer):
    module = network("Bert").to(torch.bfloat16)
    made = classify_with(module, tokenizer())
    assert next(module.parameters()).dtype == torch.bfloat16
    assert made.model.network.dtype == torch.float32
