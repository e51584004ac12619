"""Each distinct word read once gives what reading all tokens gives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from heedful.data.corpus import Split
from heedful.models.classifier import Classifier
from heedful.models.shortcuts.distinct import read_distinct, serves
from heedful.models.shorter import read

Toy = Callable[..., Classifier]
Splits = Callable[..., Split]


@pytest.mark.parametrize("encoder", ["average", "none"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("heads", [1, 3])
def test_distinct_words_give_what_all_tokens_give(
    toy_classifier: Toy, toy_split: Splits, encoder: str, classes: int, heads: int
) -> None:
    classifier = toy_classifier(encoder=encoder, classes=classes, heads=heads)
    batch = classifier.instances(toy_split(classes=classes)).batch(np.arange(6))
    assert serves(classifier.model, batch)
    plain, short = classifier.model(batch), read_distinct(classifier.model, batch)
    assert torch.allclose(plain.logits, short.logits, atol=1e-6)
    assert torch.allclose(plain.weights, short.weights, atol=1e-6)
    slopes = []
    for output in (plain, short):
        classifier.model.zero_grad()
        (output.logits.square().sum() + output.weights.square().sum()).backward()
        slopes.append([p.grad.clone() for p in classifier.model.parameters() if p.grad is not None])
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(*slopes, strict=True))


def test_words_are_not_shared_where_that_would_be_wrong(toy_classifier: Toy, toy_split: Splits) -> None:
    for options in (
        {"encoder": "bilstm"},
        {"encoder": "average", "decoder": "mlp"},
        {"encoder": "average", "query": True},
    ):
        classifier = toy_classifier(**options)
        batch = classifier.instances(toy_split(query=bool(options.get("query")))).batch(np.arange(6))
        assert not serves(classifier.model, batch)
        assert torch.equal(read(classifier.model, batch).logits, classifier.model(batch).logits)
    dropping = toy_classifier(encoder="average", embedding_dropout=0.5)
    dropping.model.train()
    assert not serves(dropping.model, dropping.instances(toy_split()).batch(np.arange(2)))
