"""Classifiers in folders: what loads, and one sentence for everything that does not."""

from __future__ import annotations

import json
import shlex
import shutil

import polars as pl
import pytest
from safetensors.torch import load_file, save_file

import heedful
from heedful.errors import BadInput, HeedfulError
from heedful.loading import find_model, load
from heedful.reports.material import Material


@pytest.fixture
def folder(network, tokenizer, tmp_path):
    """A classifier as transformers saves it."""
    where = tmp_path / "my-classifier"
    names = {0: "bad", 1: "fine", 2: "good"}
    module = network("Bert", id2label=names, label2id={name: number for number, name in names.items()})
    module.save_pretrained(where)
    tokenizer().save_pretrained(where)
    return where


@pytest.fixture
def texts(tmp_path):
    rows = ["the film is warm and funny", "this dull story about a dog", "far better than expected ."] * 2
    path = tmp_path / "texts.csv"
    path.write_text(
        "text,label\n"
        + "".join(f"{text},{label}\n" for text, label in zip(rows, ["good", "bad", "fine"] * 2, strict=True))
    )
    return path


def rewrite(folder, **settings):
    """Change the settings of a saved model."""
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))


def test_a_folder_is_found_with_its_labels_and_kept_beside_the_data(folder, texts):
    found = find_model(folder, data=str(texts))
    assert found.labels == ("bad", "fine", "good")
    assert (found.name, found.home, found.trained) == ("my-classifier", texts.parent, None)


def test_it_says_what_the_pipeline_says(folder):
    from transformers import pipeline

    theirs = pipeline("text-classification", model=str(folder), top_k=None)("A fine film!")[0]
    (ours,) = load(folder).predict(["A fine film!"])
    assert ours.probabilities == pytest.approx({said["label"]: said["score"] for said in theirs}, abs=1e-5)


@pytest.mark.parametrize(
    "task, more, reason",
    [
        ("text-classification", {"function_to_apply": "sigmoid"}, "applies sigmoid to its logits"),
        ("zero-shot-classification", {}, "is for zero-shot-classification"),
    ],
)
def test_a_pipeline_that_asks_something_else_is_refused(task, more, reason, folder):
    from transformers import pipeline

    with pytest.raises(BadInput, match=reason):
        heedful.explain(pipeline(task, model=str(folder), **more), ["A fine film!"])


def test_pieces_are_joined_to_words(folder):
    (said,) = load(folder).predict(["Nobody expected joyless plot"])
    assert ["Nobody expected joyless plot"[item.start : item.end] for item in said.items] == [
        "Nobody",
        "expected",
        "joyless",
        "plot",
    ]
    assert sum(item.weight for item in said.items) == pytest.approx(1)


def test_a_folder_a_pipeline_and_a_model_with_its_tokenizer_are_audited_alike(folder, texts):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, pipeline

    network, tokenizer = (
        AutoModelForSequenceClassification.from_pretrained(folder),
        AutoTokenizer.from_pretrained(folder),
    )
    ways = [(folder, None), (pipeline("text-classification", model=str(folder)), None), (network, tokenizer)]
    results = [
        heedful.audit(model, texts, tokenizer=given, only=["permutation"], progress=False)
        for model, given in ways
    ]
    first, *others = (result.to_frame("permutation") for result in results)
    assert all(other.equals(first) for other in others)
    special = results[0].summaries["sharpness"].number("special_share")
    assert special.estimate is not None and 0 < special.estimate < 1
    assert "such as [CLS]" in " ".join(results[0].summaries["sharpness"].notes)


@pytest.mark.parametrize("labels", [["GOOD", "Bad", "fine"], [2, 0, 1], ["2", "0", "1"]])
def test_labels_are_names_in_capitals_or_not_or_numbers(folder, labels):
    """And a column is found by its usual name, with labels or without."""
    model = load(folder)
    frame = pl.DataFrame(
        {"sentence": ["the film is warm", "a dull story", "far better than expected"], "label": labels}
    )
    result = heedful.audit(model, frame, only=["sharpness"], progress=False)
    assert result.frames["predictions"]["label"].to_list() == ["good", "bad", "fine"]
    alone = heedful.audit(model, frame.drop("label"), only=["sharpness"], progress=False)
    assert alone.to_frame("sharpness").equals(result.to_frame("sharpness"))
    with pytest.raises(BadInput, match=r"not among the classes of the model .*--label-names"):
        heedful.audit(model, frame.with_columns(label=pl.lit("awful")), only=["sharpness"], progress=False)


def test_texts_longer_than_the_positions_are_cut_counted_and_said(folder):
    long = ["the film is warm and funny " * 20, "a fine film"]
    result = heedful.audit(folder, long, only=["sharpness"], progress=False)
    assert "1 texts are longer than the model reads, and are cut after 64 tokens." in result.about.notes


def test_the_fingerprint_follows_weights_and_words(folder):
    first = load(folder).fingerprint()
    assert load(folder).fingerprint() == first
    weights = load_file(folder / "model.safetensors")
    weights["classifier.bias"] = weights["classifier.bias"] + 1
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    assert load(folder).fingerprint() != first


def refused(folder, **options):
    with pytest.raises(BadInput) as error:
        find_model(folder, **options)
    return str(error.value)


@pytest.mark.parametrize(
    "settings, reason",
    [
        (
            {"architectures": ["BertForMaskedLM"]},
            "a BertForMaskedLM, which has no head that gives a text a label",
        ),
        ({"problem_type": "multi_label_classification"}, "it gives a text several labels"),
        ({"problem_type": "regression"}, "it gives a number and no label"),
        ({"id2label": {"0": "score"}, "label2id": {"score": 0}}, "it gives a number and no label"),
        ({"model_type": "of-my-own", "auto_map": {"AutoConfig": "a.B"}}, "brings code of its own"),
    ],
)
def test_what_is_no_classifier_of_texts_is_refused(folder, settings, reason):
    rewrite(folder, **settings)
    assert reason in refused(folder)


ODD = [None, True, -1, 0, 1.5, 10**18, "x", [None], {"a": [1]}]


def test_whatever_a_config_says_it_is_read_or_refused_in_a_sentence(folder):
    """The libraries beneath believe a config, and raise whatever comes of that."""
    valid = json.loads((folder / "config.json").read_text())
    refusals = 0
    for name in valid:
        for odd in ODD:
            (folder / "config.json").write_text(json.dumps(valid | {name: odd}))
            try:
                load(folder).predict(["A fine film!"])
            except HeedfulError as error:
                refusals += 1
                assert "\n" not in str(error), (name, odd)
    assert refusals > len(valid)


def test_weights_that_are_no_numbers_are_refused(folder):
    weights = load_file(folder / "model.safetensors")
    weights["classifier.bias"][0] = float("nan")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(BadInput, match=r"are no numbers \(classifier.bias has NaN or infinity\)"):
        load(folder)


def test_a_head_that_was_never_trained_is_refused(folder):
    weights = load_file(folder / "model.safetensors")
    left = {name: tensor for name, tensor in weights.items() if not name.startswith("classifier")}
    save_file(left, folder / "model.safetensors", metadata={"format": "pt"})
    assert "a network without a trained head (classifier.bias is not in its weights)" in refused(folder)


@pytest.mark.parametrize(
    "settings",
    [
        {"architectures": ["BertWithGatesForSequenceClassification"]},
        {"auto_map": {"AutoModelForSequenceClassification": "mine.Gated"}},
    ],
)
def test_weights_of_another_network_of_the_same_kind_are_refused(folder, settings):
    """Transformers loads what fits its own class, says the rest in a warning, and gives numbers of neither network."""
    weights = load_file(folder / "model.safetensors")
    rewrite(folder, **settings)
    load(folder)  # all weights have their place
    save_file(
        weights | {"gates.weight": weights["classifier.weight"].clone()},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    assert "has no place for some of its weights (gates.weight)" in refused(folder)


def test_a_missing_tokenizer_and_one_of_another_vocabulary_are_refused(folder, tmp_path):
    for file in folder.glob("tokenizer*"):
        file.rename(tmp_path / file.name)
    assert "There is no tokenizer for" in refused(folder)
    rules = json.loads((tmp_path / "tokenizer.json").read_text())
    rules["model"]["vocab"] |= {
        f"word{number}": len(rules["model"]["vocab"]) + number for number in range(20)
    }
    (folder / "tokenizer.json").write_text(json.dumps(rules))
    shutil.copy(tmp_path / "tokenizer_config.json", folder)
    assert "give the tokenizer that it was trained with" in refused(folder)


def test_damaged_weights_and_a_model_without_its_tokenizer_are_refused(folder, network):
    (folder / "model.safetensors").write_bytes(b"nothing")
    assert "Cannot load the classifier" in refused(folder)
    with pytest.raises(BadInput, match="without its tokenizer"):
        heedful.explain(network("Bert"), ["a film"])


def test_a_real_classifier_knows_an_insult_and_attends_to_it(real_classifier):
    model = load(real_classifier)
    rude, kind = model.predict(["You are a complete idiot!", "What a lovely day for a walk."])
    assert (rude.label, kind.label) == ("toxic", "not-toxic")
    assert model.model.route == "rows"
    (scored,) = heedful.explain(model, ["You are a complete idiot!"], "integrated_gradients")
    assert max(scored.items, key=lambda item: item.weight).start == len("You are a complete ")


@pytest.mark.parametrize("name", ["{}", "hf:{}"])
def test_what_to_do_next_names_it_as_it_was_named(folder, texts, tmp_path, monkeypatch, name):
    """Its own name is the last part of where it lies, by which no command finds it from elsewhere."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    found = heedful.audit(name.format(folder), str(texts), only=["sharpness"], progress=False)
    words = shlex.split(Material.of(found).called)
    assert words == [name.format(folder)]
    assert find_model(words[0]).fingerprint() == find_model(folder).fingerprint()
    named = find_model(folder, label_names=("a b", "c", "d"))
    assert shlex.split(shlex.join(named.called)) == [str(folder), "--label-names", "a b,c,d"]
    assert load(folder).name == "my-classifier"


def test_rows_without_text_or_label_are_left_out_and_counted_if_that_is_asked_for(folder, texts):
    texts.write_text(texts.read_text() + ",good\nthe plot is long and dull,\n")
    with pytest.raises(BadInput, match=r"Row 7 of .* has no text: .*--skip-bad-rows"):
        heedful.audit(folder, texts, only=["sharpness"], progress=False)
    result = heedful.audit(folder, texts, only=["sharpness"], skip_bad_rows=True, progress=False)
    assert result.about.texts == 6
    assert "Rows without text or label that were left out: 2." in result.about.notes
    own = [[1.0] * 4] * 6
    with pytest.raises(BadInput, match="Scores of your own are one for every row"):
        heedful.audit(folder, texts, only=["sharpness"], scores=own, skip_bad_rows=True, progress=False)
