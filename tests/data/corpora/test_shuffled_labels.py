"""Labels dealt out anew: the same texts and classes, with nothing to learn."""

from __future__ import annotations

import csv

import numpy as np

from heedful.config import DataOptions, TrainConfig
from heedful.data.corpora.loading import load_corpus, shuffled_labels
from heedful.data.corpus import Split
from heedful.declared import complete
from heedful.training import train

ROWS = [(f"text {i}", "pos" if i % 3 else "neg") for i in range(300)]


def load(tmp_path, **options):
    path = tmp_path / "reviews.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *ROWS])
    return load_corpus(DataOptions(dataset=str(path), **options))


def test_train_alone_is_shuffled_and_says_so(tmp_path):
    plain, shuffled, again, other = (load(tmp_path, label_seed=seed) for seed in (None, 1, 1, 2))
    for split in ("dev", "test"):
        assert plain.splits[split].labels.tolist() == shuffled.splits[split].labels.tolist()
    one, two = plain.splits["train"], shuffled.splits["train"]
    assert one.texts == two.texts
    assert np.bincount(one.labels).tolist() == np.bincount(two.labels).tolist()
    # Of labels dealt out at random 5 in 9 stay the same.
    assert abs((one.labels == two.labels).mean() - 5 / 9) < 0.1
    assert again.splits["train"].labels.tolist() == two.labels.tolist()
    assert other.splits["train"].labels.tolist() != two.labels.tolist()
    assert shuffled.notes == (*plain.notes, "The labels of train are shuffled with seed 1.")
    assert shuffled.fingerprint != plain.fingerprint


def test_a_sample_is_drawn_first(tmp_path):
    plain, shuffled = (load(tmp_path, label_seed=seed, limit=60) for seed in (None, 0))
    assert plain.splits["train"].texts == shuffled.splits["train"].texts
    assert len(shuffled.splits["train"]) == 60


def test_words_are_planted_by_true_labels(tmp_path):
    """Or else a planted word would tell the shuffled label, and there would be something to learn."""
    load(tmp_path)
    planted = str(tmp_path / "reviews.csv+token")
    plain, shuffled = (load_corpus(DataOptions(dataset=planted, label_seed=seed)) for seed in (None, 0))
    assert plain.splits["train"].texts == shuffled.splits["train"].texts
    stay = plain.splits["train"].labels == shuffled.splits["train"].labels
    assert 0.3 < stay.mean() < 0.7
    assert plain.splits["test"].labels.tolist() == shuffled.splits["test"].labels.tolist()


def test_an_answer_comes_from_its_own_candidates():
    able = [[i % 5, (i + 2) % 5] for i in range(200)]
    split = Split(["a b"] * 200, np.array([c[0] for c in able]), ["q"] * 200, candidates=able)
    found = shuffled_labels(split, seed=0)
    assert all(label in c for label, c in zip(found.labels, able, strict=True))
    assert 0.35 < (found.labels == split.labels).mean() < 0.65
    assert found.candidates == able


def test_runs_on_true_labels_keep_their_names(monkeypatch, tmp_path):
    """What came later is not in the name of a run that does not use it."""
    seen = []
    monkeypatch.setattr(train, "identity", lambda values: seen.append(values) or "0")
    for seed in (None, 3):
        corpus = load(tmp_path, label_seed=seed)
        train.run_name(complete(TrainConfig)(dataset="reviews", label_seed=seed), corpus, "f1")
    assert "label_seed" not in seen[0]
    assert seen[1]["label_seed"] == 3
    assert seen[0].keys() == seen[1].keys() - {"label_seed"}
