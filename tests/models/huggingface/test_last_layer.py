"""Classifiers of transformers as they are: every kind keeps the contract of the stages, or is refused with its reason."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from heedful.errors import BadInput
from heedful.models.huggingface.classifier_folder import classify_with
from heedful.models.stages import output_of


def test_every_kind_keeps_the_contract(kind, classifier, split, hold_to_contract):
    made = classifier(kind)
    hold_to_contract(made.model, made.instances(split))


def test_every_kind_says_what_its_network_says(kind, network, classifier, split):
    made, plain = classifier(kind), network(kind)
    batch = made.instances(split).batch(np.arange(4))
    for row in range(4):
        ids = batch.tokens.ids[row : row + 1][:, batch.tokens.present[row]]
        with torch.no_grad():
            expected = plain(ids, attention_mask=torch.ones_like(ids)).logits
        torch.testing.assert_close(
            output_of(made.model, batch).logits[row : row + 1], expected, rtol=1e-5, atol=1e-5
        )


def test_what_cannot_be_audited_is_refused_with_the_reason(unfit, tokenizer):
    network, reason = unfit
    with pytest.raises(BadInput, match=reason) as refused:
        classify_with(network, tokenizer())
    assert str(refused.value).count(".") == 1


@pytest.mark.parametrize(
    "kind, side, read_from",
    [("GPT2", "left", "right"), ("Llama", "left", "left"), ("GPT2", "right", "right")],
)
def test_texts_are_filled_up_where_a_text_alone_gets_the_same(
    kind, side, read_from, network, tokenizer, split
):
    """Rotations do not mind where a text begins, and positions that are counted from the left do."""
    module = network(kind, pad_token_id=None)
    made = classify_with(module, tokenizer(special=False, pad=False, side=side))
    assert made.model.network.side == read_from
    assert made.model.network.pad == 3  # the end of a text, where there is no padding
    made.instances(split)


def test_a_gate_between_experts_is_not_taken_for_attention(network, tokenizer, split):
    """A softmax over the two experts of a token gives as many numbers as a text of two tokens has weights."""
    shape = {
        "hidden_size": 24,
        "num_hidden_layers": 2,
        "kv_channels": 6,
        "intermediate_size": 40,
        "num_local_experts": 2,
    }
    module = network("JetMoe", {"vocab_size": 64, "num_labels": 3, "pad_token_id": 0} | shape)
    made = classify_with(module, tokenizer(special=False))
    made.instances(split)
    assert made.model.place.weights.query is not None


def test_the_last_layer_is_run_with_a_row_for_every_variant_where_one_place_is_read(kind, classifier):
    """No module of these two is a layer of tokens: their whole network runs."""
    assert classifier(kind).model.route == ("whole" if kind in ("XLM", "SqueezeBert") else "rows")


def test_a_shorter_way_that_is_wrong_is_not_taken(classifier, monkeypatch):
    from heedful.models.huggingface.passes import Passes

    right = Passes.head
    monkeypatch.setattr(Passes, "head", lambda self, states, ids: right(self, states, ids) + 1e-3)
    assert classifier("Bert").model.route == "layer"


def test_a_network_whose_numbers_are_not_its_own_is_refused(classifier, split, monkeypatch):
    from heedful.models.huggingface import last_layer

    made = classifier("ModernBert-mean")
    right = last_layer.with_weights
    monkeypatch.setattr(last_layer, "with_weights", lambda *given: right(*given) * 0.99)
    with pytest.raises(BadInput, match="its own weights do not give its own logits"):
        made.instances(split)


def test_every_text_is_told_how_much_lies_on_special_tokens(classifier, split):
    made = classifier("Bert", attn_implementation="eager")
    batch = made.instances(split).batch(np.arange(4))
    with torch.no_grad():
        found = made.model.module(
            batch.tokens.ids, attention_mask=batch.tokens.present.long(), output_attentions=True
        )
    states = made.model.encode(made.model.embed(batch), batch)
    row = found.attentions[-1][:, :, 0]
    torch.testing.assert_close(states.fixed, (row * ~batch.tokens.mask[:, None]).sum(-1).mean(1))
    words = row * batch.tokens.mask[:, None]
    torch.testing.assert_close(made.model.attend(states), words / words.sum(-1, keepdim=True))
    assert ((states.fixed > 0) & (states.fixed < 1)).all()
