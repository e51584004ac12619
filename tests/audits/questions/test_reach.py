"""Reach: what brute force over one item in every head finds, exact for two classes and a linear decoder."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import heedful
from heedful.audits.subject.reading import Reading
from heedful.measures.divergence import tvd
from heedful.models.stages import output_of, probabilities, weights_of

TEXTS = ["a fine film", "the plot is thin", "nobody laughed", "warm film", "dull jokes and zzz"]


def spread(classifier, factor=6.0):
    classifier.model.decoder.output.weight.data *= factor
    return classifier


@pytest.fixture
def asked(tmp_path):
    """Give a function that audits texts."""

    def ask(classifier, texts=TEXTS, **options):
        data = tmp_path / "texts.csv"
        data.write_text("text\n" + "\n".join(texts) + "\n", encoding="utf-8")
        return heedful.audit(classifier, str(data), **options)

    return ask


def brute_force(classifier, text):
    """The largest change over every choice of one item for each head, and whether one of them changes the decision."""
    model, batch = classifier.model.exact().eval(), classifier.batch([text])
    with torch.no_grad():
        states = model.encode(model.embed(batch), batch)
        own = probabilities(output_of(model, batch).logits)
        heads, items = weights_of(model, states).shape[1:]
        tried = []
        for pick in torch.cartesian_prod(*[torch.arange(items)] * heads).view(-1, heads):
            corner = torch.nn.functional.one_hot(pick, items).double()[None]
            tried.append(probabilities(model.decode(states, corner))[0])
        found = torch.stack(tried)
    return float(tvd(found, own).max()), bool((found.argmax(-1) != own.argmax(-1)).any())


@pytest.mark.parametrize("shape", [{}, {"heads": 2}, {"heads": 3, "encoder": "bilstm"}])
def test_it_is_exact_for_two_classes_and_a_linear_decoder(toy_classifier, asked, shape):
    classifier = spread(toy_classifier(**{"encoder": "average", "seed": 3, **shape}))
    rows = asked(classifier, only=["reach"]).to_frame("reach")
    assert rows["exact"].all()
    for text, row in zip(TEXTS, rows.iter_rows(named=True), strict=True):
        largest, changes = brute_force(classifier, text)
        assert row["reach"] == pytest.approx(largest, abs=1e-5)
        assert row["decides"] == changes


@pytest.mark.parametrize("shape", [{"heads": 2, "classes": 3}, {"decoder": "mlp", "heads": 2}])
def test_elsewhere_it_is_a_lower_bound_and_says_so(toy_classifier, asked, shape):
    classifier = spread(toy_classifier(**{"encoder": "average", "seed": 3, **shape}))
    result = asked(classifier, only=["reach"])
    rows = result.to_frame("reach")
    truth = [brute_force(classifier, text)[0] for text in TEXTS]
    found = rows["reach"].to_numpy()
    assert (found <= np.array(truth) + 1e-5).all() and found.sum() > 0.9 * sum(truth)
    assert not rows["exact"].any()
    (reach,) = [n for n in result.summaries["reach"].numbers if n.name == "reach"]
    assert reach.bound == "lower" and "at least" in result.summaries["reach"].finding


def test_items_that_say_the_same_leave_nothing_to_decide(toy_classifier, asked):
    (row,) = (
        asked(toy_classifier(encoder="average"), ["warm warm"], only=["reach"])
        .to_frame("reach")
        .iter_rows(named=True)
    )
    assert row["reach"] == pytest.approx(0, abs=1e-6) and row["decides"] == 0 and row["out_of_reach"] == 1


def test_a_place_that_decides_nothing_is_the_first_thing_a_reader_learns(toy_classifier, asked):
    still = spread(toy_classifier(encoder="average"), 0.0)
    (first,) = [r for r in asked(still, TEXTS * 2).verdict.first if "decides nothing" in r]
    assert "for 100 % of the texts" in first
    moving = spread(toy_classifier(encoder="average", seed=3), 40.0)
    assert not any("decides nothing" in r for r in asked(moving).verdict.first)


def test_an_explainer_has_no_weights_to_replace(toy_classifier, asked):
    result = asked(toy_classifier(encoder="average"), source="gradient")
    assert "reach" not in result.summaries


@pytest.mark.parametrize("heads", [1, 3])
def test_time_grows_with_the_length_and_not_with_its_square(toy_classifier, asked, monkeypatch, heads):
    """Where a decoder is linear, or there is one head, no item is decoded by weights that are as long as the text."""
    asked_for = []
    decode = Reading.decode

    def counted(self, weights):
        asked_for.append(weights.shape[1])
        return decode(self, weights)

    monkeypatch.setattr(Reading, "decode", counted)
    classifier = toy_classifier(encoder="average", heads=heads)
    asked(classifier, [" ".join(["fine", "film", "dull"] * 100)], only=["reach"])
    assert max(asked_for) <= 4  # two corners for each of two classes
