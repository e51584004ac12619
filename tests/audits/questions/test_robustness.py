"""Robustness: attacks from above, exact answers and certificates from below, and brute force between them."""

from __future__ import annotations

import itertools
import json

import polars as pl
import pytest

import heedful
from heedful.attacks.attack import ATTACKS
from heedful.attacks.attack import Attack as Assembled
from heedful.attacks.resources import own_synonyms
from heedful.attacks.searches.greedy import Greedy
from heedful.audits.questions import robustness
from heedful.errors import BadInput


def ask(classifier, files, **options):
    asked = files(classifier) | options
    return heedful.audit(classifier, asked.pop("dataset"), only=["robustness"], source="gradient", **asked)


def brute(classifier, text, synonyms):
    """The fewest substitutions that change the decision, by reading every combination."""
    words = text.split()
    options = [[word, *synonyms.get(word, [])] for word in words]
    own = classifier.predict([text])[0].label
    found = [
        sum(a != b for a, b in zip(words, chosen, strict=True))
        for chosen in itertools.product(*options)
        if classifier.predict([" ".join(chosen)])[0].label != own
    ]
    return min(found, default=float("inf"))


SHAPES = {
    "none": {"encoder": "none"},
    "average": {"encoder": "average"},
    "mean": {"encoder": "average", "pooling": "mean"},
    "many": {"encoder": "none", "classes": 3},
    "cnn": {"encoder": "cnn", "pooling": "max"},
    "heads": {"encoder": "none", "heads": 2},
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [0, 3])
def test_proofs_lie_below_attacks_and_exact_is_brute_force(toy_classifier, files, synonyms, shape, seed):
    classifier = toy_classifier(**SHAPES[shape], seed=seed)
    classifier.model.decoder.output.weight.data *= 6
    found = ask(classifier, files)
    rows = found.to_frame("robustness")
    texts = found.to_frame("predictions")["text"].to_list()
    assert (rows["certified"] <= rows["after_attack"]).all()
    assert (rows["after_attack"] <= rows["accuracy"]).all()
    for text, row in zip(texts, rows.iter_rows(named=True), strict=True):
        fewest = brute(classifier, text, synonyms)
        if row["certified"]:
            assert fewest == float("inf")
        if shape in ("none", "average", "mean", "many"):
            right = row["accuracy"] == 1
            assert row["robust"] == (right and fewest == float("inf"))
            assert row["robust"] == row["certified"]
            for k in (1, 2, 3):
                assert row[f"robust_{k}"] == (right and fewest > k)
            if right and fewest < float("inf"):
                assert row["fewest"] == fewest
        else:
            assert row["robust"] is None or row["robust"] != row["robust"]


def test_a_model_that_reads_in_context_has_attacks_and_no_proof(toy_classifier, files):
    found = ask(toy_classifier(encoder="lstm", pooling="max"), files)
    summary = found.summaries["robustness"]
    assert summary.number("certified").estimate is None
    assert summary.number("after_attack", "toy").estimate == summary.number("after_attack").estimate
    assert "nothing is proven" in summary.finding


def test_known_words_alone_leave_as_much_or_more(toy_classifier, files):
    classifier = toy_classifier(encoder="none", seed=3)
    classifier.model.decoder.output.weight.data *= 6
    both = [ask(classifier, files, known_words=known).summaries["robustness"] for known in (False, True)]
    for name in ("robust", "certified"):
        assert both[1].number(name).estimate >= both[0].number(name).estimate


def test_texts_without_labels_are_attacked_as_the_model_decides(toy_classifier, files, tmp_path):
    classifier = toy_classifier(encoder="none", seed=3)
    options = files(classifier)
    plain = tmp_path / "plain.csv"
    pl.read_csv(options.pop("dataset")).select("text").write_csv(plain)
    found = heedful.audit(classifier, plain, only=["robustness"], **options)
    assert found.summaries["robustness"].number("accuracy").estimate == 1
    assert any("taken for right" in note for note in found.summaries["robustness"].notes)


def test_what_cannot_be_attacked_is_one_sentence(toy_classifier, files, tmp_path):
    classifier = toy_classifier(encoder="none")
    with pytest.raises(BadInput, match="There is no attack named 'toi': did you mean toy"):
        ask(classifier, files, attacks=("toi",))
    with pytest.raises(BadInput, match="There is no file"):
        ask(classifier, files, attack_synonyms=str(tmp_path / "nothing.json"))
    nothing = tmp_path / "other.json"
    nothing.write_text('{"kangaroo": ["wallaby"]}', encoding="utf-8")
    with pytest.raises(BadInput, match="finds no candidate for any word"):
        ask(classifier, files, attack_synonyms=str(nothing))


def proofs(classifier, texts, synonyms, tmp_path, **options):
    """The rows of texts that are right as the model decides, whose substitutes are given."""
    path = tmp_path / "words.json"
    path.write_text(json.dumps(synonyms), encoding="utf-8")
    asked = {"attacks": ("toy",), "attack_synonyms": str(path), "progress": False} | options
    return heedful.audit(classifier, texts=texts, only=["robustness"], **asked)


def test_a_text_that_substitutes_make_too_long_is_not_proven(toy_classifier, tmp_path, toy_attack):
    for length, texts in (
        (4, ["dull film fine old"]),
        (3, ["dull film fine old"]),
        (None, ["dull film fine old"]),
    ):
        classifier = toy_classifier(encoder="none", seed=3)
        if length is not None:
            classifier.vocabulary.tokenizer.enable_truncation(length)
        found = proofs(classifier, texts, {"film": ["it's"]}, tmp_path)
        row = found.to_frame("robustness").row(0, named=True)
        assert row["uncovered"] == (length is not None)
        if length is not None:
            assert (row["robust"], row["robust_1"], row["certified"]) == (0, 0, 0)
            assert any("longer than the model reads" in note for note in found.summaries["robustness"].notes)


@pytest.mark.parametrize(
    ("text", "uncovered"), [("dull film.", True), ("dull film .", False), ("dull film", False)]
)
def test_a_substitute_that_joins_what_follows_is_not_proven(
    toy_classifier, tmp_path, toy_attack, text, uncovered
):
    found = proofs(toy_classifier(encoder="none", seed=3), [text], {"film": ["plot."]}, tmp_path)
    row = found.to_frame("robustness").row(0, named=True)
    assert row["uncovered"] == uncovered and row["certified"] <= row["robust"] <= row["after_attack"]
    notes = found.summaries["robustness"].notes
    assert any("words of their own" in note for note in notes) == uncovered


def test_nothing_is_proven_of_attacks_that_ask_the_text_as_it_is_by_now(toy_classifier, files):
    def again(options):  # a word may be replaced twice
        return Assembled(candidates=own_synonyms(options), constraints=(), search=Greedy("deletion"))

    ATTACKS.register("again", "synonyms of synonyms")(again)
    classifier = toy_classifier(encoder="none", seed=3)
    alone = ask(classifier, files, attacks=("again",))
    row = alone.to_frame("robustness")
    assert row["robust"].is_nan().all() and row["certified"].is_nan().all() and row["fewest"].is_nan().all()
    assert "nothing is proven: what these attacks may put" in alone.summaries["robustness"].finding
    both = ask(classifier, files, attacks=("toy", "again")).summaries["robustness"]
    assert both.number("robust").count == len(row)
    assert "by substitutes of toy" in both.finding
    assert any("Nothing is proven of again" in note for note in both.notes)


def test_texts_that_are_not_covered_count_as_lost_in_every_mean(toy_classifier, tmp_path, toy_attack):
    texts = [
        "dull/film old",
        "a fine film",
        "warm old plot",
        "great dull script",
        "fine/film up",
    ]  # cut otherwise
    for seed in range(4):
        found = proofs(
            toy_classifier(encoder="none", seed=seed), texts, {"film": ["plot."], "plot": ["film"]}, tmp_path
        ).summaries["robustness"]
        certified, robust, after = (found.number(n).estimate for n in ("certified", "robust", "after_attack"))
        assert certified <= robust <= after
        assert {found.number(name).count for name in ("certified", "robust", "robust_1", "after_attack")} == {
            5
        }


@pytest.mark.parametrize("wordless", ["?!", "... !", "- ;"])
def test_a_text_without_a_word_cannot_be_attacked_and_stops_nothing(toy_classifier, files, wordless):
    classifier = toy_classifier(encoder="none", seed=3)
    texts = ["a fine film", wordless, "dull film", wordless]
    asked = files(classifier, texts)
    labels = pl.read_csv(asked["dataset"])["label"].to_list()
    labels[3] = next(name for name in classifier.labels if name != labels[3])
    pl.DataFrame({"text": texts, "label": labels}).write_csv(asked["dataset"])
    found = heedful.audit(classifier, asked.pop("dataset"), only=["robustness", "consistency"], **asked)
    rows = found.to_frame("robustness")
    assert rows["accuracy"].to_list()[1::2] == [1, 0] == rows["after_attack"].to_list()[1::2]
    assert found.to_frame("consistency")["status"].to_list()[1::2] == ["failed", "skipped"]


def test_a_model_without_attention_needs_no_source_where_nothing_is_scored(toy_classifier, files):
    classifier = toy_classifier(encoder="lstm", pooling="max")
    options = files(classifier)
    found = heedful.audit(classifier, options.pop("dataset"), only=["robustness"], **options)
    assert found.summaries["robustness"].number("after_attack").count == 6
    with pytest.raises(BadInput):
        options = files(classifier)
        heedful.audit(classifier, options.pop("dataset"), only=["robustness", "consistency"], **options)


def test_what_an_attack_has_changed_is_not_robust_whatever_was_computed(toy_classifier, files, monkeypatch):
    found = robustness.attacked_rows
    won = pl.when(pl.col("status") == "failed").then(pl.lit("successful")).otherwise("status")
    monkeypatch.setattr(robustness, "attacked_rows", lambda *a: found(*a).with_columns(status=won))
    rows = ask(toy_classifier(encoder="none"), files).to_frame("robustness")
    assert rows.select("after_attack", "robust", "certified").sum().row(0) == (0, 0, 0)
