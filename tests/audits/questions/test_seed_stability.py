"""Other seeds: found or trained, compared text by text, with heads in any order."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
import yaml
from scipy import stats
from scipy.spatial.distance import jensenshannon

import heedful
from heedful.audits.audit import AUDITS, BINS
from heedful.audits.policy import Rule
from heedful.audits.questions import seed_stability
from heedful.audits.running import run as running
from heedful.config import AuditOptions
from heedful.data.words.vocabulary import Vocabulary
from heedful.declared import complete
from heedful.errors import BadInput, Diverged, HeedfulError
from heedful.models.classifier import Classifier
from heedful.output.bars import Bars
from heedful.output.terminal import Screen
from heedful.runs import list_runs

NAME = "seed_stability"


def run(classifier, texts, **options):
    return heedful.audit(classifier, texts, progress=False, only=[NAME], **options)


@pytest.fixture
def trained(monkeypatch, tmp_path, model):
    """Give a function that makes a model with a run, and lets every other seed be an untrained toy."""

    def make(*, seed=0, **shape):
        asked = []

        def train(config, *, runs):
            assert runs == tmp_path
            asked.append(config.seed)
            return model(seed=config.seed, **shape)

        monkeypatch.setattr(seed_stability, "train", train)
        classifier = model(seed=seed, **shape)
        classifier.run = tmp_path / "run"
        classifier.run.mkdir(exist_ok=True)
        (classifier.run / "config.yaml").write_text(yaml.safe_dump({"dataset": "films", "seed": seed}))
        return classifier, asked

    return make


@pytest.mark.parametrize("shape", [{}, {"encoder": "average"}, {"classes": 3}], ids=str)
def test_seeds_are_compared_text_by_text(trained, model, many_texts, shape):
    classifier, asked = trained(**shape)
    found = run(classifier, many_texts, top_k=2)
    rows, summary = found.to_frame(NAME), found.summaries[NAME]
    assert asked == [1, 2, 3]
    others = [model(seed=seed, **shape) for seed in asked]
    texts = found.to_frame("predictions")["text"]
    for row, text in zip(rows.iter_rows(named=True), texts, strict=True):
        own = classifier.model(classifier.batch([text]))
        distances, moved = [], []
        for other in others:
            theirs = other.model(other.batch([text]))
            distances.append(jensenshannon(own.weights[0, 0].tolist(), theirs.weights[0, 0].tolist()) ** 2)
            p, q = (list(c.predict([text])[0].probabilities.values()) for c in (classifier, other))
            moved.append(np.abs(np.subtract(p, q)).sum() / 2)
        assert [row[f"jsd_{seed}"] for seed in asked] == pytest.approx(distances, rel=1e-3, abs=1e-6)
        assert row["jsd"] == pytest.approx(np.mean(distances), rel=1e-3, abs=1e-6)
        assert row["jsd_max"] == pytest.approx(max(distances), rel=1e-3, abs=1e-6)
        assert row["tvd"] == pytest.approx(np.mean(moved), abs=1e-5)
        assert row["other_seed"] == asked[int(np.argmax([row[f"jsd_{seed}"] for seed in asked]))]
        furthest = others[asked.index(row["other_seed"])]
        assert row["other_weights"] == pytest.approx(
            furthest.model(furthest.batch([text])).weights[0, 0].tolist(), abs=1e-5
        )
    bins = [n for n in summary.numbers if n.name == "jsd_max" and n.group.startswith("largest weight")]
    assert len(bins) == len(BINS)
    assert sum(n.count for n in bins) == len(rows)
    for label in rows["predicted"].unique():
        mean = rows.filter(pl.col("predicted") == label)["jsd_max"].mean()
        assert summary.number("jsd_max", f"class {label}").estimate == pytest.approx(mean)
    assert summary.number("jsd_max").estimate >= summary.number("jsd").estimate
    assert summary.number("f1").estimate is not None


def test_intervals_speak_of_the_seeds_and_two_of_them_give_none(trained, many_texts):
    classifier, _ = trained()
    found = run(classifier, many_texts)
    rows, summary = found.to_frame(NAME), found.summaries[NAME]
    for name in ("jsd", "relative_jsd", "tvd"):
        means = [rows[f"{name}_{seed}"].drop_nans().mean() for seed in (1, 2, 3)]
        number = summary.number(name)
        assert number.estimate == pytest.approx(np.mean(means))
        half = stats.t.ppf(0.975, 2) * stats.sem(means)  # of seeds alone; texts come on top
        assert number.low <= max(0, number.estimate - half) + 1e-12
        assert number.high >= min(AUDITS.get(NAME).measures[name].high, number.estimate + half) - 1e-12
        assert number.low >= 0
        one = summary.number(name, "seed 1")
        assert one.low <= one.estimate <= one.high
    assert summary.number("f1").low < summary.number("f1").estimate < summary.number("f1").high
    label = rows["predicted"][0]
    part = rows.filter(pl.col("predicted") == label)
    means = [part[f"jsd_{seed}"].mean() for seed in (1, 2, 3)]
    of_class = summary.number("jsd", f"class {label}")
    assert of_class.high - of_class.low >= stats.t.ppf(0.975, 2) * stats.sem(means)
    for seeds in ((1,), (1, 2)):
        few = run(classifier, many_texts, seeds=seeds).summaries[NAME]
        for name in ("jsd", "relative_jsd", "flipped", "f1"):
            assert few.number(name).estimate is not None
            assert (few.number(name).low, few.number(name).high) == (None, None)
        assert few.number("sharpness").low is not None
        assert any("one or two other seeds" in note for note in few.notes)
        assert "(no interval)" in few.finding and "unknown" not in few.finding


def test_a_rule_about_seeds_is_not_passed_by_two_of_them(trained, many_texts):
    classifier, _ = trained()
    rule = Rule(measure=f"{NAME}.relative_jsd", show=2.0, forbid=2.0, reason="Any heatmap passes.")
    outcomes = [
        rule.judge(
            run(classifier, many_texts, seeds=seeds).summaries[NAME].number("relative_jsd"), least_texts=1
        )
        for seeds in ((1, 2), (1, 2, 3))
    ]
    assert outcomes == ["not measured", "good"]


def test_swapped_heads_are_the_same_attention(trained, model, many_texts, monkeypatch):
    classifier, _ = trained(heads=2)
    twin = model(heads=2)
    attention = twin.model.attention.similarity
    read = seed_stability.read_batch

    def swapped(reader, batch, *, seed, exact):
        found = read(reader, batch, seed=seed, exact=exact)
        object.__setattr__(found, "attended", found.weights.flip(1))
        return found

    assert attention.vector.shape[0] == 2
    monkeypatch.setattr(seed_stability, "train", lambda config, runs: twin)
    monkeypatch.setattr(seed_stability, "read_batch", swapped)
    rows = run(classifier, many_texts, seeds=(5,)).to_frame(NAME)
    assert rows["jsd"].max() < 1e-9
    assert rows["top_k_overlap"].min() == 1


def test_which_seeds(trained, many_texts):
    for seed, options, wanted in (
        (0, {}, [1, 2, 3]),
        (2, {}, [1, 3, 4]),
        (1, {"quick": True}, [2, 3]),
        (0, {"seeds": "7,9"}, [7, 9]),
        (2, {"seeds": "0,1"}, [0, 1]),
    ):
        classifier, asked = trained(seed=seed)
        summary = run(classifier, many_texts, limit=5, **options).summaries[NAME]
        assert asked == wanted
        assert ("Quick: 2 seeds." in summary.notes) == bool(options.get("quick"))
    classifier, _ = trained(seed=4)
    with pytest.raises(BadInput, match="Seed 4 is the model's own"):
        run(classifier, many_texts, seeds=(3, 4))


def test_an_identical_model_is_perfectly_steady_and_flat_ones_are_not_judged(
    trained, model, many_texts, monkeypatch
):
    classifier, _ = trained()
    monkeypatch.setattr(seed_stability, "train", lambda config, runs: model())
    found = run(classifier, many_texts)
    assert found.to_frame(NAME)["relative_jsd"].drop_nans().max() < 1e-9
    assert found.summaries[NAME].number("flipped").estimate == 0
    for part in (classifier, flat := model(seed=1)):
        part.model.attention.similarity.vector.data.zero_()
    monkeypatch.setattr(seed_stability, "train", lambda config, runs: flat)
    rows = run(classifier, many_texts).to_frame(NAME)
    assert rows["jsd"].max() < 1e-12 and rows["relative_jsd"].is_nan().all()


def test_a_seed_that_diverges_is_reported_and_not_averaged_in(trained, model, many_texts, monkeypatch):
    classifier, _ = trained()

    def train(config, *, runs):
        if config.seed != 2:
            raise Diverged("The loss is not a number.")
        return model(seed=2)

    monkeypatch.setattr(seed_stability, "train", train)
    found = run(classifier, many_texts)
    assert "Seed 1 diverged and is not averaged in: The loss is not a number." in found.summaries[NAME].notes
    assert found.to_frame(NAME)["jsd"].to_list() == found.to_frame(NAME)["jsd_2"].to_list()
    with pytest.raises(HeedfulError, match="Every seed diverged"):
        run(classifier, many_texts, seeds=(1, 3))


def test_what_cannot_be_compared_is_refused(trained, model, many_texts, monkeypatch, toy_classifier):
    classifier, _ = trained()
    other = model(seed=1)
    other.vocabulary = Vocabulary.learn(["quite other words"])
    monkeypatch.setattr(seed_stability, "train", lambda config, runs: other)
    with pytest.raises(BadInput, match="has another vocabulary than the model"):
        run(classifier, many_texts)
    with pytest.raises(BadInput, match="needs the run in which this model was trained"):
        run(toy_classifier(), many_texts)


@pytest.mark.parametrize("source", ["gradient", "leave_one_out"])
def test_explainers(trained, many_texts, source):
    classifier, _ = trained(encoder="average")
    rows = run(classifier, many_texts, source=source, limit=8).to_frame(NAME)
    assert rows["jsd"].drop_nans().max() > 0
    assert rows["jsd_max"].drop_nans().min() >= 0


def test_neither_batch_nor_companions_matter(trained, many_texts):
    classifier, _ = trained(heads=2)
    whole = run(classifier, many_texts).to_frame(NAME)
    for options in ({"batch_size": 1}, {"batch_size": 7}, {"limit": 9}):
        other = run(classifier, many_texts, **options).to_frame(NAME)
        same = whole.filter(pl.col("row").is_in(other["row"].implode()))
        for name, kind in whole.schema.items():
            if kind.is_float():
                wanted = pytest.approx(same[name].to_list(), abs=1e-6, rel=1e-4, nan_ok=True)
                assert other[name].to_list() == wanted, name


def test_from_end_to_end(tmp_path, many_texts):
    """Seeds are trained beside the run, announced, and found again."""
    small = {"encoder": "average", "hidden": 4, "embedding_size": 5, "epochs": 1, "min_words": 1}
    classifier = heedful.train(str(many_texts), runs=tmp_path / "runs", progress=False, **small)
    before = {name: tensor.clone() for name, tensor in classifier.model.state_dict().items()}
    printed = io.StringIO()
    found = running.audit(
        classifier, only=[NAME], seeds=(3, 4), watcher=Bars(Screen(file=printed, width=200))
    )
    assert "Training the model with 2 other seeds (3, 4)" in printed.getvalue()
    assert found.to_frame(NAME)["jsd"].max() > 0
    runs = list_runs(tmp_path / "runs")
    assert sorted(yaml.safe_load((r.folder / "config.yaml").read_text())["seed"] for r in runs) == [0, 3, 4]
    times = {r.folder: (r.folder / "metrics.json").stat().st_mtime_ns for r in runs}
    again = running.audit(Classifier.from_pretrained(Path(classifier.run)), only=[NAME], seeds=(3, 4))
    assert again.to_frame(NAME).equals(found.to_frame(NAME))
    assert {
        r.folder: (r.folder / "metrics.json").stat().st_mtime_ns for r in list_runs(tmp_path / "runs")
    } == times
    assert all(torch.equal(tensor, before[name]) for name, tensor in classifier.model.state_dict().items())
    assert NAME not in running.audit(classifier, permutations=2, draws=1).summaries
    titles = [
        chart.title for chart in AUDITS.get(NAME)(complete(AuditOptions)()).charts(found.to_frame(NAME))
    ]
    assert titles == ["The heatmap with other seeds", "Steadiness beside sharpness"]


def test_checkpoints_of_ones_own_take_the_place_of_trained_ones(toy_classifier, tmp_path):
    model = toy_classifier(encoder="average", seed=0)
    data = tmp_path / "texts.csv"
    data.write_text(
        "text\na fine film\nthe plot is thin\nnobody laughed\nwarm film and dull\n", encoding="utf-8"
    )
    folders = []
    for seed in (1, 2, 3):
        folders.append(str(tmp_path / f"seed-{seed}"))
        toy_classifier(encoder="average", seed=seed).save_pretrained(folders[-1])
    found = heedful.audit(model, str(data), only=["seed_stability"], checkpoints=folders, progress=False)
    summary = found.summaries["seed_stability"]
    assert summary.finding.startswith("Another checkpoint (the mean of 3)")
    assert {"checkpoint 1", "checkpoint 3"} <= {number.group for number in summary.numbers}
    rows = found.to_frame("seed_stability")
    assert rows["jsd_max"].min() > 0
    with pytest.raises(BadInput, match=r"needs the run .* or other checkpoints of it \(--checkpoints\)"):
        heedful.audit(model, str(data), only=["seed_stability"], progress=False)


@pytest.mark.parametrize(
    ("shape", "sentence"),
    [({"seed": 0}, "compared with itself"), ({"classes": 3, "seed": 1}, "has 3 classes and the model 2")],
)
def test_checkpoints_are_other_models_of_the_same_classes(toy_classifier, tmp_path, shape, sentence):
    data = tmp_path / "texts.csv"
    data.write_text("text\na fine film\nthe plot is thin\n", encoding="utf-8")
    toy_classifier(encoder="average", **shape).save_pretrained(tmp_path / "other")
    model = toy_classifier(encoder="average", seed=0)
    with pytest.raises(BadInput, match=sentence):
        heedful.audit(
            model, str(data), only=["seed_stability"], checkpoints=[str(tmp_path / "other")], progress=False
        )
