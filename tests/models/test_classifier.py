"""Saving, loading and asking a classifier."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from heedful.errors import BadInput
from heedful.models.classifier import Classifier

SHAPES = [
    {},
    {"classes": 4, "query": True, "decoder": "mlp"},
    {"heads": 2, "normaliser": "entmax15"},
    {"encoder": "cnn", "pooling": "max"},
    {"encoder": "bigru", "hierarchical": True},
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_what_is_saved_comes_back_and_says_the_same(shape, toy_classifier, toy_split, tmp_path):
    classifier = toy_classifier(**shape)
    classifier.save_pretrained(tmp_path)
    loaded = Classifier.from_pretrained(tmp_path)
    split = toy_split(query=shape.get("query", False))
    assert loaded.predict(split.texts, split.queries) == classifier.predict(split.texts, split.queries)
    assert (loaded.labels, loaded.task) == (classifier.labels, classifier.task)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "model.json",
        "model.safetensors",
        "vocabulary.json",
    ]


def test_predictions_point_into_the_text(toy_classifier):
    text = "A warm script,\tZWARM film"
    (prediction,) = toy_classifier().predict([text])
    assert [text[i.start : i.end] for i in prediction.items] == ["A", "warm", "script", ",", "ZWARM", "film"]
    assert sum(i.weight for i in prediction.items) == pytest.approx(1.0)
    assert sum(prediction.probabilities.values()) == pytest.approx(1.0)
    assert prediction.probabilities[prediction.label] == max(prediction.probabilities.values())


def test_hierarchical_predictions_have_sentences_and_words(toy_classifier):
    text = "A fine film. It holds up."
    (prediction,) = toy_classifier(hierarchical=True).predict([text])
    assert [text[i.start : i.end] for i in prediction.items] == ["A fine film.", "It holds up."]
    assert sum(i.weight for i in prediction.items) == pytest.approx(1.0)
    assert [text[i.start : i.end] for i in prediction.words] == [
        "A",
        "fine",
        "film",
        ".",
        "It",
        "holds",
        "up",
        ".",
    ]
    first = sum(i.weight for i in prediction.words[:4])
    assert first == pytest.approx(prediction.items[0].weight)


def test_a_batch_of_texts_goes_through_the_stages(toy_classifier):
    classifier = toy_classifier()
    batch = classifier.batch(["a fine film", "dull"])
    assert batch.tokens.words == [["a", "fine", "film"], ["dull"]]
    states = classifier.model.encode(classifier.model.embed(batch), batch)
    weights = classifier.model.attend(states)
    assert weights.shape == (2, 1, 3)
    (first, _) = classifier.predict(["a fine film", "dull"])
    assert [i.weight for i in first.items] == pytest.approx(weights[0, 0].tolist(), abs=1e-6)


@pytest.mark.parametrize("hierarchical", [False, True])
def test_long_short_and_unknown_texts_all_work(toy_classifier, hierarchical):
    classifier = toy_classifier(hierarchical=hierarchical)
    long = " ".join(["fine"] * 10_000)
    predictions = classifier.predict(
        [long, "fine", "xyzzy plugh", "\u202eright to left\u202c 😀 e\u0301 \x00 \ud800"]
    )
    assert len(predictions) == 4
    assert all(np.isfinite(list(p.probabilities.values())).all() for p in predictions)
    assert all(sum(i.weight for i in p.items) == pytest.approx(1.0, abs=1e-4) for p in predictions)


def test_batch_size_does_not_change_predictions(toy_classifier, toy_split):
    classifier, texts = toy_classifier(), toy_split().texts
    one, many = classifier.predict(texts, batch_size=1), classifier.predict(texts, batch_size=6)
    for a, b in zip(one, many, strict=True):
        assert a.text == b.text
        assert list(a.probabilities.values()) == pytest.approx(list(b.probabilities.values()), abs=1e-5)
        assert [i.weight for i in a.items] == pytest.approx([i.weight for i in b.items], abs=1e-5)


@pytest.mark.parametrize(
    ("query", "texts", "queries", "message"),
    [
        (True, ["a"], None, "give one for every text"),
        (True, ["a", "b"], ["q"], "1 queries were given for 2 texts"),
        (False, ["a"], ["q"], "leave out the query"),
        (False, ["  "], None, "Text 1 holds no word"),
        (False, "a text", None, "list of texts"),
    ],
)
def test_what_cannot_be_predicted_is_said(toy_classifier, query, texts, queries, message):
    with pytest.raises(BadInput, match=message):
        toy_classifier(query=query).predict(texts, queries)


def _cut(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def _reshape(folder):
    tensors = load_file(folder / "model.safetensors")
    tensors["decoder.output.weight"] = torch.zeros(1, 99)
    save_file(tensors, folder / "model.safetensors")


def _drop(folder):
    tensors = load_file(folder / "model.safetensors")
    del tensors["decoder.output.bias"]
    save_file(tensors, folder / "model.safetensors")


def _described(**changed):
    """Write sizes that are not the model's."""

    def damage(folder):
        content = json.loads((folder / "model.json").read_text())
        content["architecture"] |= changed
        (folder / "model.json").write_text(json.dumps(content))

    return damage


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_cut, r"model\.safetensors is cut off or damaged"),
        (_reshape, r"decoder\.output\.weight is \(1, 99\) in the file"),
        (_drop, r"decoder\.output\.bias is missing in the file"),
        (_described(surprise=1), r"model\.json is damaged or of another version"),
        (
            _described(hidden=60_000),
            r"attention\.\S+ is \(.*\) in the file and \(.*0000.*\) in the description",
        ),
        (_described(hidden=10**18), r"hidden: input should be less than or equal to 65536"),
        (_described(hidden=10**30), r"hidden: input should be less than or equal to 65536"),
        (lambda f: (f / "model.json").write_text("{"), r"model\.json is damaged"),
        (lambda f: (f / "vocabulary.json").write_text("{}"), r"vocabulary\.json is damaged"),
        (lambda f: (f / "model.safetensors").unlink(), r"model\.safetensors is missing"),
    ],
)
def test_damaged_files_get_one_sentence(toy_classifier, tmp_path, damage, message):
    toy_classifier().save_pretrained(tmp_path)
    damage(tmp_path)
    with pytest.raises(BadInput, match=message):
        Classifier.from_pretrained(tmp_path)
