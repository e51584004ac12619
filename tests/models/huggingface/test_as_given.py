"""What is audited is what the owner of a network runs: another way to compute its attention must not be another network."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.models.huggingface.conftest import READ, make_network, make_tokenizer

from heedful.errors import BadInput
from heedful.models.huggingface import self_check
from heedful.models.huggingface.classifier_folder import classify_with
from heedful.models.stages import output_of


def test_what_the_plain_implementation_computes_otherwise_is_read_as_its_owner_runs_it(
    split, hold_to_contract
):
    """With linear biases Falcon's plain attention adds them twice; its users run the fast one."""
    module = make_network("Falcon", READ["Falcon"] | {"alibi": True})
    made = classify_with(module, make_tokenizer(special=False, side="left"))
    instances = made.instances(split)
    hold_to_contract(made.model, instances)
    batch = instances.batch(np.arange(4))
    found = output_of(made.model, batch).logits
    for row in range(4):
        ids = batch.tokens.ids[row : row + 1][:, batch.tokens.present[row]]
        with torch.no_grad():
            expected = module(ids, attention_mask=torch.ones_like(ids)).logits
        torch.testing.assert_close(found[row : row + 1], expected, rtol=1e-5, atol=1e-5)


def test_what_gives_other_logits_in_its_parts_is_refused(split, monkeypatch):
    made = classify_with(make_network("Bert"), make_tokenizer())
    monkeypatch.setattr(self_check, "_as_given", lambda network, read: read() + 1e-3 * read().abs().max())
    with pytest.raises(BadInput, match="it gives other logits where its attention is computed in its parts"):
        made.instances(split)


def test_where_companions_make_a_difference_texts_of_one_length_are_read_together(split, monkeypatch):
    """Rounding may be larger on a user's texts than on those that a network was tried on."""
    made = classify_with(make_network("Bert"), make_tokenizer())
    assert made.model.network.side == "right"
    right = type(made.model.network).read

    def noisy(network, inputs):
        longest = inputs.ids.shape[1]
        return right(network, inputs) + 1e-3 * (longest - inputs.present.sum(1, keepdim=True))

    monkeypatch.setattr(type(made.model.network), "read", noisy)
    made.instances(split)
    assert made.model.network.side == "none"
