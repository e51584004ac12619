from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedful.data.corpus import Split
from heedful.errors import BadInput
from heedful.explainers.reread import probabilities_without
from heedful.models.function import classify_by, cut_words, with_words
from heedful.models.stages import Opaque, access_to

TEXTS = st.text(st.sampled_from("ai tn'.!-fé1,\n "), max_size=30)


def says_length(texts):
    p = np.array([1 / (1 + len(text)) for text in texts])
    return np.stack([p, 1 - p], axis=1)


@given(TEXTS, st.data())
def test_what_is_left_of_a_text_is_its_words_in_order(text, data):
    (spans,) = cut_words([text])
    keep = [data.draw(st.booleans()) for _ in spans]
    left = with_words(text, spans, {start for (start, _), kept in zip(spans, keep, strict=True) if kept})
    if all(keep):
        assert left == text
    kept = "".join(text[start:end] for (start, end), there in zip(spans, keep, strict=True) if there)
    assert "".join(left.split()) == "".join(kept.split()) or all(keep)


@given(TEXTS)
def test_deleting_a_word_never_joins_its_neighbours(text):
    (spans,) = cut_words([text])
    for gone in range(1, len(spans) - 1):
        left = with_words(text, spans, {start for start, _ in spans} - {spans[gone][0]})
        before, after = text[slice(*spans[gone - 1])], text[slice(*spans[gone + 1])]
        assert any(f"{before}{space}{after}" in left for space in " \n")


def test_a_function_is_read_through_the_stages_and_words_are_deleted_in_the_text():
    seen = []

    def reads(texts):
        seen.extend(texts)
        return says_length(texts)

    classifier = classify_by(reads)
    model = classifier.model
    assert isinstance(model, Opaque) and access_to(model) == "predictions"
    text = "It isn't bad, really"  # It | is | n't | bad | , | really
    instances = classifier.instances(Split([text], np.array([0])))
    batch = instances.batch(np.array([0]))
    keep = torch.tensor([[1, 1, 0, 1, 1, 1], [0, 1, 1, 0, 1, 0], [0] * 6, [1] * 6]).bool()
    found = probabilities_without(model, batch, torch.zeros(4, dtype=torch.long), keep)
    left = ["It is bad, really", "isn't ,", "", text]
    assert set(left) <= set(seen)
    assert np.allclose(found.numpy(), says_length(left))


def test_certainty_is_a_probability_too():
    classifier = classify_by(lambda texts: [[0.0, 1.0]] * len(texts))
    (found,) = classifier.predict(["a text"])
    assert found.probabilities == {"0": 0.0, "1": 1.0} and found.label == "1"


def test_noise_and_weights_are_refused():
    classifier = classify_by(says_length)
    batch = classifier.instances(Split(["a fine film"], np.array([0]))).batch(np.array([0]))
    states = classifier.model.encode(classifier.model.embed(batch), batch)
    with pytest.raises(BadInput, match="predictions alone"):
        classifier.model.decode(states, torch.ones(1, 1, 3) / 3)


def test_classes_have_the_names_that_are_given_or_that_the_function_brings():
    class Pipeline:
        classes_ = np.array(["bad", "good"])

        def predict_proba(self, texts):
            return says_length(texts)

    assert classify_by(Pipeline().predict_proba).labels == ("bad", "good")
    assert classify_by(Pipeline().predict_proba, label_names=["no", "yes"]).labels == ("no", "yes")
    assert classify_by(says_length).labels == ("0", "1")
    with pytest.raises(BadInput, match="gives 2 probabilities and 3 classes are named"):
        classify_by(says_length, label_names=["a", "b", "c"])
    with pytest.raises(BadInput, match="all different"):
        classify_by(says_length, label_names=["a", "a"])


def test_a_function_is_known_by_its_answers():
    texts = Split(["a fine film", "dull"], np.array([0, 1]))

    def fingerprint(function):
        classifier = classify_by(function, name="mine")
        classifier.instances(texts)
        return classifier.fingerprint()

    def again(texts):
        return says_length(texts)

    def other(texts):
        return says_length(texts)[:, ::-1]

    assert fingerprint(says_length) == fingerprint(again) != fingerprint(other)


def test_what_is_no_function_is_refused():
    with pytest.raises(BadInput, match="must be a function"):
        classify_by([0.5, 0.5])
