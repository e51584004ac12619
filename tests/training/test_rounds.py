"""Rounds of attack and training: each a run whose base is the round before, found again, and safe to interrupt."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import yaml

from heedful.data.attacked import AttackedTexts
from heedful.data.corpus import Split
from heedful.data.words.substitution import changes_between, replace_words, word_spans
from heedful.errors import BadInput
from heedful.models.classifier import Classifier
from heedful.runs import Run, list_runs
from heedful.training import rounds as module
from heedful.training.rounds import NothingFound, attack_texts, train_rounds
from heedful.training.train import resolve, train

SMALL = {
    "encoder": "cnn",
    "pooling": "max",
    "widths": (3,),
    "hidden": 6,
    "embedding_size": 8,
    "epochs": 3,
    "learning_rate": 1e-2,
}
SYNONYMS = {"superb": "grand", "awful": "dire", "film": "movie"}


class Swap:
    """Replaces words by a list, as long as the model does not change its mind."""

    name = "swap, all words"

    def __init__(self, dies_after: int | None = None) -> None:
        self.calls: list[int] = []
        self.dies_after = dies_after

    def __call__(self, texts, labels, classifier) -> AttackedTexts:
        if self.dies_after is not None and len(self.calls) >= self.dies_after:
            raise KeyboardInterrupt
        self.calls.append(len(texts))
        rows = [self._attack(text, label, classifier) for text, label in zip(texts, labels, strict=True)]
        attacked, statuses, changes = map(list, zip(*rows, strict=True))
        return AttackedTexts(
            np.arange(len(texts)), list(texts), attacked, np.array(labels), statuses, changes
        )

    def _attack(self, text, label, classifier):
        right = classifier.labels[label]
        if classifier.predict([text])[0].label != right:
            return text, "skipped", []
        (spans,) = word_spans(classifier.batch([text]).tokens)
        new = {i: SYNONYMS[w] for i, (a, b) in enumerate(spans) if (w := text[a:b]) in SYNONYMS}
        other, moved = replace_words(text, spans, new)
        flips = classifier.predict([other])[0].label != right
        return other, "successful" if flips else "failed", changes_between(spans, moved, list(new))


@pytest.fixture
def reviews(tmp_path) -> str:
    path = tmp_path / "reviews.csv"
    random = np.random.default_rng(1)
    rows = [
        f"{' '.join(random.choice(['a', 'the', 'so', 'film', 'grand', 'dire'], 4))} {'superb' if i % 2 else 'awful'} film,{i % 2}"
        for i in range(120)
    ]
    path.write_text("text,label\n" + "\n".join(rows))
    return str(path)


@pytest.mark.parametrize("objective", ["augmented", "flat"])
def test_every_round_is_a_run_whose_base_is_the_round_before(reviews, objective, tmp_path):
    config = resolve({"dataset": reviews, "objective": objective, **SMALL})
    done = train_rounds(config, Swap(), rounds=2, runs=tmp_path / "runs")
    assert [r.number for r in done] == [0, 1, 2]
    assert len({r.run for r in done}) == len(list_runs(tmp_path / "runs")) == 3
    masks = [r.classifier.model.architecture.word_mask for r in done]
    assert masks == (["none", "word", "word"] if objective == "flat" else ["none"] * 3)
    for before, after in pairwise(done):
        saved = yaml.safe_load((after.run / "config.yaml").read_text())
        assert (Path(saved["base"]), Path(saved["attacked"])) == (before.run, after.attacked)
        kept = AttackedTexts.read(after.run / "attacked.parquet")
        assert kept.fingerprint == AttackedTexts.read(after.attacked).fingerprint
        metrics = Run(after.run).metrics()
        assert len(kept) == metrics["sizes"]["train"]
        # The latest model was attacked: what it says of the texts is what the statuses say.
        said = [p.label for p in before.classifier.predict(kept.originals)]
        right = [before.classifier.labels[label] == s for label, s in zip(kept.labels, said, strict=True)]
        assert [status != "skipped" for status in kept.statuses] == right
    assert {"surprise", "attacked_surprise"} <= set(metrics["history"][0]["train"])
    assert done[-1].attacked != done[-2].attacked


def test_rounds_are_found_again_and_more_may_follow(reviews, tmp_path):
    config = resolve({"dataset": reviews, "objective": "flat", **SMALL})
    first = train_rounds(config, Swap(), rounds=1, runs=tmp_path)
    stamps = [(r.run / "model.safetensors").stat().st_mtime_ns for r in first]
    again = Swap()
    more = train_rounds(config, again, rounds=2, runs=tmp_path)
    assert [r.run for r in more[:2]] == [r.run for r in first]
    assert [(r.run / "model.safetensors").stat().st_mtime_ns for r in more[:2]] == stamps
    assert sum(again.calls) == len(AttackedTexts.read(more[2].attacked))  # round 2 alone
    # Another objective begins with the same base and the same attacked texts.
    other = Swap()
    plain = train_rounds(
        config.model_copy(update={"objective": "augmented", "word_mask": "none"}),
        other,
        rounds=1,
        runs=tmp_path,
    )
    assert (plain[0].run, plain[1].attacked) == (first[0].run, first[1].attacked)
    assert plain[1].run != first[1].run
    assert not other.calls


def test_an_interrupted_attack_goes_on_where_it_was(reviews, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_PART", 25)
    config = resolve({"dataset": reviews, "objective": "augmented", **SMALL})
    with pytest.raises(KeyboardInterrupt):
        train_rounds(config, Swap(dies_after=2), rounds=1, runs=tmp_path / "runs")
    (folder,) = (tmp_path / "runs").glob("*/attacked/*/")
    (folder / ".partial-killed").write_bytes(b"half")
    rest = Swap()
    done = train_rounds(config, rest, rounds=1, runs=tmp_path / "runs")
    whole = train_rounds(config, (undisturbed := Swap()), rounds=1, runs=tmp_path / "others")
    assert undisturbed.calls == [25, 25, *rest.calls]
    assert done[1].run.name == whole[1].run.name
    for name in ("model.safetensors", "metrics.json", "attacked.parquet"):
        assert (done[1].run / name).read_bytes() == (whole[1].run / name).read_bytes()
    assert not list(done[1].attacked.parent.glob("part-*")) and not list(folder.glob(".partial-*"))


def test_parts_change_nothing(reviews, tmp_path, monkeypatch):
    config = resolve({"dataset": reviews, **SMALL})
    model = train(config, runs=tmp_path)
    texts = Split(["a superb film", "awful", "the film"] * 4, np.array([1, 0, 1] * 4))
    rows = [0, 1, 2, 5, 6, 11]
    one = AttackedTexts.read(attack_texts(Swap(), model, texts, rows=rows))
    monkeypatch.setattr(module, "_PART", 4)
    (model.run / "attacked").rename(tmp_path / "elsewhere")
    two = AttackedTexts.read(attack_texts(Swap(), model, texts, rows=rows))
    assert one.fingerprint == two.fingerprint
    assert two.rows.tolist() == rows
    assert two.originals == [texts.texts[row] for row in rows]


class Sparse(Swap):
    """Knows no substitute for texts without "grand", and says so where there are none."""

    def __call__(self, texts, labels, classifier):
        found = super().__call__(texts, labels, classifier)
        if not any("grand" in text for text in texts):
            raise NothingFound("There is nothing.", found)
        return found


def test_some_parts_may_have_no_substitute_and_all_together_must(reviews, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_PART", 1)
    latest = train(resolve({"dataset": reviews, **SMALL, "epochs": 1}), runs=tmp_path / "runs")
    texts = Split(["a film", "a grand film", "the film"], np.array([0, 1, 0]))
    kept = attack_texts(Sparse(), latest, texts, rows=range(3))
    assert AttackedTexts.read(kept).originals == texts.texts
    before = sorted(path for path in latest.run.rglob("*"))
    with pytest.raises(BadInput, match="There is nothing"):
        attack_texts(Sparse(), latest, texts.take(np.array([0, 2])), rows=range(2))
    assert sorted(path for path in latest.run.rglob("*")) == before


def test_some_texts_are_attacked_others_in_every_round(reviews, tmp_path):
    config = resolve({"dataset": reviews, "objective": "augmented", **SMALL})
    done = train_rounds(config, Swap(), rounds=2, limit=20, runs=tmp_path)
    first, second = (AttackedTexts.read(r.attacked).rows.tolist() for r in done[1:])
    assert len(first) == len(second) == 20
    assert first == sorted(first) != second


def test_a_given_base_is_round_zero(reviews, tmp_path):
    base = train(resolve({"dataset": reviews, **SMALL, "seed": 5}), runs=tmp_path)
    config = resolve({"dataset": reviews, "objective": "augmented", "base": str(base.run), **SMALL})
    done = train_rounds(config, Swap(), rounds=1, runs=tmp_path)
    assert done[0].run == base.run
    assert len(list_runs(tmp_path)) == 2


def test_other_attacked_texts_are_another_run(reviews, tmp_path):
    config = resolve({"dataset": reviews, "objective": "augmented", **SMALL})
    _, trained = train_rounds(config, Swap(), rounds=1, runs=tmp_path)
    texts = AttackedTexts.read(trained.attacked)
    other = tmp_path / "other.parquet"
    texts.write(other)
    given = config.model_copy(update={"base": Run(trained.run).config()["base"], "attacked": str(other)})
    assert train(given, runs=tmp_path).run == trained.run  # the same texts elsewhere
    replace(
        texts, attacked=[*texts.attacked[:-1], texts.originals[-1]], changes=[*texts.changes[:-1], []]
    ).write(other)
    assert train(given, runs=tmp_path).run != trained.run


@pytest.mark.parametrize(
    "options, rounds, said",
    [
        ({"objective": "vanilla"}, 1, "vanilla does not train on attacked texts: use augmented or flat"),
        ({"objective": "flat"}, 0, "ask for 1 or more"),
        ({"objective": "flat", "dataset": "babi_1_generated", "limit": 30}, 1, "has a query beside each"),
    ],
)
def test_rounds_that_cannot_be_are_refused(reviews, options, rounds, said, tmp_path):
    config = resolve({"dataset": reviews, **SMALL, **options})
    with pytest.raises(BadInput, match=said):
        train_rounds(config, Swap(), rounds=rounds, runs=tmp_path)


def test_a_loaded_round_reads_as_it_was_trained(reviews, tmp_path):
    config = resolve({"dataset": reviews, "objective": "flat", **SMALL})
    last = train_rounds(config, Swap(), rounds=1, runs=tmp_path)[-1]
    texts = ["a superb film", "the awful film"]
    loaded = Classifier.from_pretrained(last.run)
    assert [p.probabilities for p in loaded.predict(texts)] == [
        p.probabilities for p in last.classifier.predict(texts)
    ]
