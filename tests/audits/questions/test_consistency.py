"""Consistency under attack: by hand for single texts, and for explainers that speak for every class."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon
from scipy.stats import kendalltau

import heedful
from heedful.errors import BadInput
from heedful.explainers.explainer import EXPLAINERS, reads_layers, speaks_for_classes


def ask(classifier, files, source="attention", **options):
    asked = files(classifier) | options
    return heedful.audit(classifier, asked.pop("dataset"), only=["consistency"], source=source, **asked)


def sharp(classifier):
    classifier.model.decoder.output.weight.data *= 6
    if classifier.model.attention is not None:
        classifier.model.attention.similarity.vector.data *= 10
    return classifier


def scores(classifier, text, source):
    """Scores of the words of one text, a row for each class that the source speaks for."""
    if source == "attention" or not speaks_for_classes(source):
        (found,) = heedful.explain(classifier, [text], source)
        return np.array([[item.weight for item in found.items]])
    batch = classifier.batch([text])
    rows = [
        EXPLAINERS.get(source)(classifier.model, batch, seed=0, classes=torch.tensor([number]))
        for number in range(len(classifier.labels))
    ]
    return torch.cat(rows).numpy()


@pytest.mark.parametrize("source", ["attention", "leave_one_out", "gradient", "integrated_gradients"])
def test_every_text_by_hand(toy_classifier, files, source):
    classifier = sharp(toy_classifier(encoder="bilstm", seed=2))
    found = ask(classifier, files, source)
    rows, texts = found.to_frame("consistency"), found.to_frame("predictions")["text"].to_list()
    assert {"successful", "skipped"} <= set(rows["status"])
    for text, row in zip(texts, rows.iter_rows(named=True), strict=True):
        before, after = (scores(classifier, t, source) for t in (text, row["attacked"]))
        taus = [kendalltau(a, b).statistic for a, b in zip(before, after, strict=True)]
        assert row["tau"] == pytest.approx(np.nanmean(taus), nan_ok=True, abs=1e-9)
        for k in (1, 2):
            tops = [[set(np.argsort(-r, kind="stable")[:k]) for r in part] for part in (before, after)]
            shares = [len(a & b) / min(k, len(text.split())) for a, b in zip(*tops, strict=True)]
            assert row[f"top_{k}"] == pytest.approx(np.mean(shares))
        labels = [classifier.predict([t])[0].label for t in (text, row["attacked"])]
        assert row["same_prediction"] == (labels[0] == labels[1])
        changed = [
            i for i, (a, b) in enumerate(zip(text.split(), row["attacked"].split(), strict=True)) if a != b
        ]
        assert row["replaced"] == changed
        if source == "attention":
            assert row["attacked_weights"] == pytest.approx(after[0].tolist(), abs=1e-6)
            assert row["jsd"] == pytest.approx(jensenshannon(before[0], after[0]) ** 2, abs=1e-6)


def test_several_words_in_the_place_of_one_are_added_up(toy_classifier, files, tmp_path):
    """By hand: "film" became "it's", which the model reads as two words."""
    classifier = sharp(toy_classifier(encoder="bilstm", seed=0))
    words = tmp_path / "several.json"
    words.write_text('{"film": ["it\'s"]}', encoding="utf-8")
    texts = ["a fine film up", "warm film is old", "film and a plot", "the old film is warm"]
    asked = files(classifier, texts) | {"attack_synonyms": str(words)}
    found = heedful.audit(classifier, asked.pop("dataset"), only=["consistency"], source="attention", **asked)
    rows = found.to_frame("consistency")
    changed = 0
    for text, row in zip(texts, rows.iter_rows(named=True), strict=True):
        before, after = (scores(classifier, t, "attention")[0] for t in (text, row["attacked"]))
        if row["attacked"] != text:
            place = text.split().index("film")
            assert row["attacked"].split()[place] == "it's" and len(after) == len(before) + 1
            after = np.array([*after[:place], after[place] + after[place + 1], *after[place + 2 :]])
            changed += 1
        assert row["tau"] == pytest.approx(kendalltau(before, after).statistic, abs=1e-9)
        assert row["jsd"] == pytest.approx(jensenshannon(before, after) ** 2, abs=1e-6)
        assert row["attacked_weights"] == pytest.approx(after.tolist(), abs=1e-6)
        assert row["same_reason"] == (before.argmax() == after.argmax())
        for k in (1, 2, 3):
            tops = [set(np.argsort(-part, kind="stable")[:k]) for part in (before, after)]
            assert row[f"top_{k}"] == pytest.approx(len(tops[0] & tops[1]) / k)
    assert changed


def test_the_reason_is_the_top_word_of_the_predicted_class(toy_classifier, files):
    classifier = sharp(toy_classifier(encoder="bilstm", classes=3, seed=2))
    found = ask(classifier, files, "integrated_gradients")
    rows, texts = found.to_frame("consistency"), found.to_frame("predictions")["text"].to_list()
    for text, row in zip(texts, rows.iter_rows(named=True), strict=True):
        decided = classifier.labels.index(classifier.predict([text])[0].label)
        tops = [
            scores(classifier, t, "integrated_gradients")[decided].argmax() for t in (text, row["attacked"])
        ]
        assert row["same_reason"] == (tops[0] == tops[1])
    assert (rows["same_reason"] != rows["top_1"]).any()


def test_texts_that_are_left_alone_are_the_same(toy_classifier, files):
    classifier = sharp(toy_classifier(encoder="lstm", pooling="max", seed=2))
    found = ask(classifier, files, "integrated_gradients")
    rows = found.to_frame("consistency")
    same = rows.filter(rows["attacked"] == found.to_frame("predictions")["text"])
    assert len(same) and (same["tau"].fill_nan(1) == 1).all() and (same["same_both"] == 1).all()
    assert same["jsd"].abs().max() < 1e-6
    assert same["tau_successful"].is_nan().all()


def test_batches_change_nothing(toy_classifier, files):
    classifier = sharp(toy_classifier(encoder="bilstm", seed=2))
    one, many = (ask(classifier, files, batch_size=size).to_frame("consistency") for size in (1, 64))
    for name in ("tau", "top_3", "jsd", "sharpness_after"):
        assert one[name].to_list() == pytest.approx(many[name].to_list(), nan_ok=True, abs=1e-6)


def test_sentences_of_a_hierarchical_network_keep_their_places(toy_classifier, files):
    classifier = sharp(toy_classifier(encoder="bigru", hierarchical=True, seed=1))
    texts = ["a fine film. warm old plot.", "dull film. great script. up it.", "fine. dull."]
    asked = files(classifier, texts)
    found = heedful.audit(classifier, asked.pop("dataset"), only=["consistency"], **asked)
    assert found.to_frame("consistency")["top_3"].is_between(0, 1).all()


def test_attacked_texts_are_kept_with_the_run_and_found_again(toy_classifier, files, tmp_path):
    classifier = sharp(toy_classifier(encoder="bilstm", seed=2))
    classifier.save_pretrained(tmp_path / "run")
    loaded = heedful.load(tmp_path / "run")
    ask(loaded, files)
    (kept,) = (tmp_path / "run" / "attacks").glob("toy-*/rows.parquet")
    before = kept.stat().st_mtime_ns
    ask(loaded, files, source="gradient")
    assert kept.stat().st_mtime_ns == before
    assert len(list((tmp_path / "run" / "attacks").iterdir())) == 1


def test_an_audit_goes_by_what_its_files_hold(toy_classifier, files, tmp_path):
    classifier = sharp(toy_classifier(encoder="bilstm", seed=2))
    first = ask(classifier, files, folder=tmp_path / "audit").to_frame("consistency")
    (tmp_path / "copy.json").write_bytes((tmp_path / "synonyms.json").read_bytes())
    again = ask(
        classifier, files, folder=tmp_path / "audit", attack_synonyms=str(tmp_path / "copy.json")
    ).to_frame("consistency")
    assert again.equals(first)
    (tmp_path / "copy.json").write_text('{"film": ["plot"]}', encoding="utf-8")
    with pytest.raises(BadInput, match=r"holds another audit \(attack_synonyms differ\)"):
        ask(classifier, files, folder=tmp_path / "audit", attack_synonyms=str(tmp_path / "copy.json"))


def test_an_explainer_asked_for_the_decided_class_says_what_it_says_unasked(toy_classifier):
    classifier = sharp(toy_classifier(encoder="bilstm", classes=3, seed=2))
    batch = classifier.batch(["a fine film", "the plot is thin and old"])
    classes = classifier.model(batch).logits.argmax(-1)
    for name in [n for n in EXPLAINERS if speaks_for_classes(n) and not reads_layers(n)]:
        explain = EXPLAINERS.get(name)
        asked = explain(classifier.model, batch, seed=0, classes=classes)
        torch.testing.assert_close(asked, explain(classifier.model, batch, seed=0))
        other = explain(classifier.model, batch, seed=0, classes=(classes + 1) % 3)
        assert not torch.allclose(asked, other), name
