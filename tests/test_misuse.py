"""What Python hands over that is none of what was asked for: one sentence, of one kind of error."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import heedful
from heedful.errors import BadInput

TEXTS = ["a fine film. It holds up well!", "dull"]
NAN = math.nan


def probabilities(texts):
    return [[0.4, 0.6]] * len(texts)


MISUSE = {
    "no runs": (lambda: heedful.compare([]), "No run is given: name two or more"),
    "runs that are none": (lambda: heedful.compare(None), "A list of runs is needed, and this is a NoneType"),
    "one run": (lambda: heedful.compare("a-run"), "A list of runs is needed: put the one into brackets"),
    "runs of nothing": (lambda: heedful.compare([None, 3]), "A run is given by its name or folder"),
    "no model": (lambda: heedful.audit(None), "Give a model or a predict function"),
    "a number as model": (lambda: heedful.audit(3, TEXTS), "this is a int"),
    "an object as model": (lambda: heedful.audit(object(), TEXTS), "this is a object"),
    "explain nothing": (lambda: heedful.explain(None, TEXTS), "this is a NoneType"),
    "no texts": (lambda: heedful.explain(probabilities, None), "this is a NoneType"),
    "texts of numbers": (lambda: heedful.explain(probabilities, [3]), "Text 1 is a int"),
    "an explainer of number": (
        lambda: heedful.explain(probabilities, TEXTS, 3),
        "Of explainers the name is given",
    ),
    "attack nothing": (lambda: heedful.attack(None, TEXTS), "A model is"),
    "attack no texts": (lambda: heedful.attack(probabilities, None), "No data are given"),
    "load nothing": (lambda: heedful.load(None), "A run is given by its name or folder"),
    "train nothing": (lambda: heedful.train(None), "No dataset is given: name one"),
    "train a zero": (lambda: heedful.train("a\0b"), "ends a name"),
    "config of number": (lambda: heedful.train("x", config=3), "A config is given by its name or folder"),
    "words of nothing": (lambda: heedful.words(None), "A list of texts is needed"),
    "words of a text": (lambda: heedful.words("text"), "put the one into brackets"),
    "words of numbers": (lambda: heedful.words([3]), "Text 1 is a int"),
    "NaN as an option": (lambda: heedful.train("x", learning_rate=NAN), "must be a finite number"),
    "probabilities of NaN": (
        lambda: heedful.audit(predict=lambda texts: [[NAN, NAN]] * len(texts), data=TEXTS),
        "probabilities that are no numbers (NaN)",
    ),
    "policy of number": (lambda: heedful.audit(probabilities, TEXTS, policy=3), "A policy is given by"),
    "labels of number": (
        lambda: heedful.audit(probabilities, TEXTS, labels=3),
        "A list of labels is needed",
    ),
    "a report of an object": (
        lambda: heedful.report(object()),
        "A list of audits is needed, and this is a object",
    ),
    "a column of number": (
        lambda: heedful.audit(probabilities, {"text": 3}),
        "A list of values of text is needed",
    ),
    "a column of one text": (
        lambda: heedful.audit(probabilities, {"text": "ab", "label": "01"}),
        "A list of values of text is needed: put the one into brackets",
    ),
    "audits of a function": (
        lambda: heedful.audit(probabilities, TEXTS, only=lambda: 3),
        "A list of audits is needed, and this is a function",
    ),
    "half a character as policy": (
        lambda: heedful.audit(probabilities, TEXTS, policy="\ud800"),
        "half a character",
    ),
    "audits of number": (
        lambda: heedful.audit(probabilities, TEXTS, only=[3]),
        "Of audits the name is given",
    ),
}


@pytest.mark.parametrize(("call", "said"), MISUSE.values(), ids=MISUSE)
def test_misuse_is_one_sentence(call, said):
    with pytest.raises(BadInput) as refused:
        call()
    assert said in str(refused.value) and "\n" not in str(refused.value)
    assert str(refused.value).encode()


COUNTS = [9, 1]
SCORES = {
    "NaN": [[NAN] * n for n in COUNTS],
    "infinite": [[math.inf] * n for n in COUNTS],
    "one NaN of numpy": [np.array([1.0] * 8 + [NAN]), np.ones(1)],
    "by place": [[(0, 1, NAN)], [(0, 4, 1.0)]],
    "immense": [[1e308] * n for n in COUNTS],
    "of 401 digits": [[10**401] * n for n in COUNTS],
    "a tensor": torch.full((2, 9), NAN),
    "complex": [[1j] * n for n in COUNTS],
    "words": ["aaaaaaaaa", "a"],
    "nothing": [None, None],
    "a number": 3,
}


@pytest.mark.parametrize("scores", SCORES.values(), ids=SCORES)
def test_scores_that_are_none_give_no_verdict(toy_classifier, scores):
    with pytest.raises(BadInput, match=r"no finite numbers|A list of scores"):
        heedful.audit(toy_classifier(), TEXTS, scores=scores, only=["sharpness"], progress=False)


def test_scores_that_are_some_are_audited(toy_classifier):
    given = [np.arange(9.0), [1]]
    assert heedful.audit(toy_classifier(), TEXTS, scores=given, only=["sharpness"], progress=False).summaries


@pytest.mark.parametrize("character", ["\ud800", "\udce9"])
def test_half_a_character_in_a_text_is_read(toy_classifier, character):
    (found,) = toy_classifier().predict([f"fine {character} film"])
    assert found.label in ("class 0", "class 1")


def test_an_immense_text_is_refused(toy_classifier):
    with pytest.raises(BadInput, match="Text 1 has a text of 5,000,000 characters"):
        toy_classifier().predict(["x" * 5_000_000])
    with pytest.raises(BadInput, match="half a character"):
        heedful.audit(predict=probabilities, data=TEXTS, label_names=["half \ud83d", "whole"])
