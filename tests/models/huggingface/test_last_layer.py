"""Classifiers of transformers as they are: every kind keeps the contract of the stages, or is refused with its reason."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from heedful.errors import BadInput
from heedful.models.huggingface.pretrained import classify_with
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
