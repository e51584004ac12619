"""A model that gives no numbers gives no prediction, and no verdict."""

from __future__ import annotations

import pytest
import torch

import heedful
from heedful.errors import BadInput
from heedful.intake.finite import not_finite

TEXTS = ["a fine film", "a dull plot"]


@pytest.fixture
def spoilt(toy_classifier):
    classifier = toy_classifier()
    with torch.no_grad():
        classifier.model.decoder.output.bias.fill_(float("nan"))
    return classifier


def test_it_predicts_and_explains_nothing(spoilt):
    with pytest.raises(
        BadInput, match=r"probabilities that are no numbers \(NaN\), of 'a fine film' for one"
    ):
        spoilt.predict(TEXTS)
    with pytest.raises(BadInput, match="no numbers"):
        heedful.explain(spoilt, TEXTS)


def test_it_gets_no_verdict(spoilt):
    with pytest.raises(BadInput, match="no numbers"):
        heedful.audit(spoilt, TEXTS, only=["sharpness"], progress=False)


def test_which_weights_are_none():
    fine, spoilt = torch.ones(2), torch.tensor([1.0, float("-inf")])
    assert not_finite([("fine", fine), ("whole", torch.ones(1, dtype=torch.long))]) is None
    assert not_finite([("fine", fine), ("spoilt", spoilt)]) == "spoilt"
