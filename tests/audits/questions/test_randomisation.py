"""Weights drawn anew and labels shuffled: what is compared, what must change, and what must not."""

from __future__ import annotations

import io
import json

import numpy as np
import polars as pl
import pytest
import torch
import yaml
from scipy.spatial.distance import jensenshannon
from scipy.stats import kendalltau

import heedful
from heedful.audits.audit import AUDITS
from heedful.audits.questions import randomisation
from heedful.audits.questions.randomisation import DRAWS, WordHeatmap, alone_condition, compare_heatmaps
from heedful.audits.running import run as running
from heedful.audits.subject.words import Words
from heedful.config import AuditOptions
from heedful.data.words.vocabulary import Vocabulary
from heedful.declared import complete
from heedful.errors import BadInput, Diverged
from heedful.models.redrawn import STAGES, Redrawn
from heedful.output.bars import Bars
from heedful.output.terminal import Screen
from heedful.runs import list_runs

NAME = "randomisation"


def run(classifier, texts, **options):
    return heedful.audit(classifier, texts, progress=False, only=[NAME], **options)


def words(*counts):
    mask = torch.arange(max(counts))[None] < torch.tensor(counts)[:, None]
    return Words(torch.where(mask, torch.arange(max(counts))[None], -1), mask)


def test_likeness_by_hand():
    """Four words, of which two change places; the same again; three words; flat; and one word."""
    first = torch.tensor([[0.4, 0.3, 0.2, 0.1]] * 2 + [[0.5, 0.3, 0.2, 0.0], [0.25] * 4, [1.0, 0, 0, 0]])
    second = torch.tensor(
        [[0.4, 0.1, 0.2, 0.3], [0.4, 0.3, 0.2, 0.1], [0.2, 0.3, 0.5, 0], [0.4, 0.3, 0.2, 0.1], [1.0, 0, 0, 0]]
    )
    found = compare_heatmaps(WordHeatmap(first, first), WordHeatmap(second, second), words(4, 4, 3, 4, 1))
    # 4 3 2 1 and 4 1 2 3: of six pairs three turn around.
    assert found.similarity.tolist() == pytest.approx([0, 1, -1, np.nan, np.nan], nan_ok=True)
    assert found.top.tolist() == pytest.approx([2 / 3, 1, np.nan, np.nan, np.nan], nan_ok=True)
    for row in range(5):
        far = jensenshannon(first[row], second[row]) ** 2
        assert found.jsd[row].item() == pytest.approx(far, abs=1e-7)


@pytest.mark.parametrize("source", ["attention", "gradient"])
@pytest.mark.parametrize("shape", [{"encoder": "bilstm"}, {"encoder": "average", "heads": 2}], ids=str)
def test_every_condition_text_by_text(model, many_texts, shape, source):
    """Models changed by hand, read one text at a time."""
    classifier = model(**shape)
    found = run(classifier, many_texts, source=source, limit=8, seed=2)
    rows, summary = found.to_frame(NAME), found.summaries[NAME]
    exact = classifier.model.double() if not classifier.model.encoder.contextual else classifier.model
    drawn = [Redrawn(exact, seed=DRAWS * 2 + draw) for draw in range(DRAWS)]
    conditions = {stage: STAGES[: place + 1] for place, stage in enumerate(STAGES)}
    conditions |= {alone_condition(stage): (stage,) for stage in STAGES[1:]}
    score = heedful.explainers.explainer.EXPLAINERS.get(source)
    for row, text in zip(rows.iter_rows(named=True), found.to_frame("predictions")["text"], strict=True):
        batch = classifier.batch([text])
        own = score(exact, batch, seed=2)[0].double().numpy()
        for condition, stages in conditions.items():
            others = [score(one.model(stages), batch, seed=2)[0].double().numpy() for one in drawn]
            taus = [kendalltau(_tied(own), _tied(other)).statistic for other in others]
            assert row[f"similarity_{condition}"] == pytest.approx(np.nanmean(taus), abs=1e-9, nan_ok=True)
            assert row[f"similarity_{condition}_draws"] == pytest.approx(taus, abs=1e-9, nan_ok=True)
            far = [jensenshannon(np.abs(own), np.abs(other)) ** 2 for other in others]
            assert row[f"jsd_{condition}"] == pytest.approx(np.nanmean(far), abs=1e-6)
            if len(own) > 3:
                tops = [_top(own) & _top(other) for other in others]
                assert row[f"top_{condition}"] == pytest.approx(np.mean([len(t) / 3 for t in tops]))
                assert row["top_by_chance"] == pytest.approx(3 / len(own))
            else:
                assert np.isnan(row[f"top_{condition}"]) and np.isnan(row["top_by_chance"])
        assert row["similarity_after"] == pytest.approx(row["similarity_embed"], nan_ok=True)
        for stage in STAGES:
            assert row[f"changed_by_{stage}"] == pytest.approx(
                1 - row[f"similarity_{alone_condition(stage)}"]
            )
    assert summary.number("similarity_after").estimate == pytest.approx(rows["similarity_after"].mean())
    for stage, group in (
        ("attend", "decode + attend"),
        ("embed", "decode + attend + encode + embed"),
        ("encode_alone", "encode alone"),
    ):
        estimate = summary.number("similarity_after", group).estimate
        assert estimate == pytest.approx(rows[f"similarity_{stage}"].mean())


def _tied(scores):
    return np.round(scores / np.abs(scores).max(), 6)


def _top(scores):
    return set(np.argsort(-_tied(scores), kind="stable")[:3].tolist())


def test_nothing_drawn_changes_nothing(model, many_texts, monkeypatch):
    monkeypatch.setattr(randomisation, "redraw", lambda model, seed: _Nothing(model, seed=seed))
    found = run(model(encoder="bilstm"), many_texts)
    rows = found.to_frame(NAME)
    assert rows["similarity_after"].drop_nans().to_list() == pytest.approx([1.0] * len(rows))
    assert rows["top_after"].drop_nans().min() == 1
    assert rows["jsd_after"].max() < 1e-12
    assert found.summaries[NAME].number("changed_by_attend").estimate == pytest.approx(0)


class _Nothing(Redrawn):
    def model(self, stages):
        return super().model(())


def test_attention_forgets_with_attend_and_never_notices_the_decoder(model, many_texts):
    classifier = model(encoder="bilstm")
    before = {name: value.clone() for name, value in classifier.model.state_dict().items()}
    found = run(classifier, many_texts)
    numbers = found.summaries[NAME]
    assert numbers.number("changed_by_decode").estimate == pytest.approx(0, abs=1e-12)
    for stage in ("attend", "encode", "embed"):
        assert numbers.number(f"changed_by_{stage}").estimate > 0.2
    assert abs(numbers.number("similarity_after").estimate) < 0.6
    assert all(torch.equal(value, before[name]) for name, value in classifier.model.state_dict().items())
    gradient = run(classifier, many_texts, source="gradient", limit=12).summaries[NAME]
    assert gradient.number("changed_by_decode").estimate > 0


def test_a_heatmap_that_follows_places_survives(model, many_texts, monkeypatch):
    """Scores that come from the text alone stay whatever the model has learnt."""

    def early(classifier, batch, *, seed):
        with torch.no_grad():
            mask = classifier.encode(classifier.embed(batch), batch).mask
        return mask / (1.0 + torch.arange(mask.shape[1]))

    kept = randomisation.Reading._raw_scores
    monkeypatch.setattr(
        randomisation.Reading,
        "_raw_scores",
        lambda self, name: early(self.model, self.batch, seed=0) if name == "random" else kept(self, name),
    )
    found = run(model(encoder="bilstm"), many_texts, source="random").summaries[NAME]
    assert found.number("similarity_after").estimate == 1
    assert found.number("top_after").estimate == 1
    assert found.number("top_by_chance").estimate < 0.6


def test_flat_attention_has_no_order_and_is_counted(model, many_texts):
    classifier = model(encoder="bilstm")
    classifier.model.attention.similarity.vector.data.zero_()
    found = run(classifier, many_texts)
    summary, texts = found.summaries[NAME], len(found.to_frame(NAME))
    assert summary.number("similarity_after").estimate is None
    assert summary.number("similarity_after").missing == texts
    assert summary.number("top_after").estimate is None
    assert summary.number("jsd_after").count == texts
    assert any(
        note.startswith(f"For {texts} of {texts} texts the words have no order") for note in summary.notes
    )
    assert AUDITS.get(NAME)(complete(AuditOptions)()).charts(found.to_frame(NAME)) == []


def test_a_stage_without_weights_is_left_out_and_said(model, many_texts):
    found = run(model(encoder="none"), many_texts)
    summary = found.summaries[NAME]
    assert "The stage encode of this model has no weights to draw." in summary.notes
    assert summary.number("changed_by_encode").estimate is None
    groups = {number.group for number in summary.numbers if number.name == "similarity_after"}
    assert groups == {
        "all",
        "decode",
        "decode + attend",
        "decode + attend + embed",
        "attend alone",
        "embed alone",
    }


def test_sub_words_are_joined(pieces, tmp_path):
    texts = tmp_path / "texts.csv"
    texts.write_text("text\n" + "a fine filmmaker made a dull film\n" * 2 + "great filmmaker\n")
    rows = run(pieces, str(texts)).to_frame(NAME)
    assert rows["items"].to_list() == [9, 9, 4]
    assert rows["top_by_chance"].to_list() == pytest.approx([3 / 7, 3 / 7, np.nan], nan_ok=True)
    assert rows["similarity_after"].is_not_nan().all()


def test_intervals_speak_of_draws_too(model, many_texts):
    found = run(model(encoder="bilstm"), many_texts)
    number = found.summaries[NAME].number("similarity_after")
    draws = np.array(found.to_frame(NAME)["similarity_embed_draws"].to_list())
    means = np.nanmean(draws, axis=0)
    assert number.estimate == pytest.approx(means.mean())
    assert number.high - number.low >= 0.99 * 2 * 4.3027 * means.std(ddof=1) / np.sqrt(DRAWS)
    for number in found.summaries[NAME].numbers:
        about = AUDITS.get(NAME).measures[number.name]
        if number.estimate is not None:
            assert about.low <= number.low <= number.estimate <= number.high <= about.high


def test_batches_and_companions_change_nothing_and_seeds_do(model, many_texts):
    classifier = model(encoder="average")
    whole, small, few, again, other = (
        run(classifier, many_texts, **options).to_frame(NAME)
        for options in ({}, {"batch_size": 3}, {"limit": 9}, {}, {"seed": 1})
    )
    assert whole.equals(again)
    assert whole["similarity_after"].to_list() != other["similarity_after"].to_list()
    for part in (small, few):
        same = whole.filter(pl.col("row").is_in(part["row"].implode()))
        for name, kind in whole.schema.items():
            if kind.is_float():
                assert part[name].to_list() == pytest.approx(same[name].to_list(), abs=1e-6, nan_ok=True)


def test_own_scores_cannot_be_drawn_anew(model, many_texts):
    classifier = model(encoder="average")
    texts = pl.read_csv(many_texts)["text"].to_list()
    scores = [[1.0] * len(p.items) for p in heedful.explain(classifier, texts, "attention")]
    with pytest.raises(BadInput, match="your own scores are given for the texts as they are"):
        run(classifier, many_texts, scores=scores)
    assert NAME not in heedful.audit(classifier, many_texts, progress=False, limit=3).summaries


@pytest.fixture
def trained(monkeypatch, tmp_path, model):
    """Give a function that makes a model with a run, beside which another one counts as trained on shuffled labels."""

    def make(other, **config):
        asked = []

        def train(config, *, runs):
            asked.append((config.label_seed, config.seed, runs))
            if isinstance(other, Exception):
                raise other
            return other

        monkeypatch.setattr(randomisation, "train", train)
        classifier = model(encoder="average")
        classifier.run = tmp_path / "run"
        classifier.run.mkdir(exist_ok=True)
        (classifier.run / "config.yaml").write_text(yaml.safe_dump({"dataset": "films", **config}))
        return classifier, asked

    return make


def test_shuffled_labels_are_compared_text_by_text(trained, model, many_texts, tmp_path):
    other = model(encoder="average", seed=5)
    classifier, asked = trained(other, seed=4)
    found = run(classifier, many_texts, seed=7)
    assert asked == [(7, 4, tmp_path)]
    summary = found.summaries[NAME]
    for row, text in zip(
        found.to_frame(NAME).iter_rows(named=True), found.to_frame("predictions")["text"], strict=True
    ):
        one, two = (
            c.model.double()(c.batch([text])).weights[0, 0].detach().numpy() for c in (classifier, other)
        )
        tau = kendalltau(_tied(one), _tied(two)).statistic
        assert row["similarity_shuffled_labels"] == pytest.approx(tau, abs=1e-9, nan_ok=True)
    assert summary.number("similarity_shuffled_labels").estimate is not None
    assert "trained on shuffled labels τ is" in summary.finding
    assert len(AUDITS.get(NAME)(complete(AuditOptions)()).charts(found.to_frame(NAME))) == 2


def test_without_shuffled_labels_it_is_said_why(trained, model, many_texts):
    classifier, asked = trained(model(encoder="average"))
    off = run(classifier, many_texts, limit=4, shuffled_labels=False).summaries[NAME]
    assert "Nothing was trained on shuffled labels (--no-shuffled-labels)." in off.notes
    based, _ = trained(model(encoder="average"), base="runs/other", objective="seat")
    assert any(
        "a base that has seen the labels" in note
        for note in run(based, many_texts, limit=4).summaries[NAME].notes
    )
    noise, _ = trained(model(encoder="average"), label_seed=3)
    assert any(
        "labels that were shuffled" in note for note in run(noise, many_texts, limit=4).summaries[NAME].notes
    )
    alone_in_memory = run(model(encoder="average"), many_texts, limit=4).summaries[NAME]
    assert any("needs the run that the model was trained in" in note for note in alone_in_memory.notes)
    assert asked == []
    for summary in (off, alone_in_memory):
        number = summary.number("similarity_shuffled_labels")
        assert (number.estimate, number.missing) == (None, summary.instances)
        assert summary.number("similarity_after").estimate is not None
        assert "shuffled" not in summary.finding


def test_a_model_that_diverges_on_noise_is_left_out_and_mistakes_are_not(trained, model, many_texts):
    classifier, _ = trained(Diverged("The loss is not a number."))
    notes = run(classifier, many_texts, limit=4).summaries[NAME].notes
    assert "Trained on shuffled labels, the model diverged: The loss is not a number." in notes
    classifier, _ = trained(BadInput("There is no such dataset."))
    with pytest.raises(BadInput, match="no such dataset"):
        run(classifier, many_texts, limit=4)
    other = model(encoder="average")
    other.vocabulary = Vocabulary.learn(["quite other words"])
    classifier, _ = trained(other)
    with pytest.raises(BadInput, match="has another vocabulary than the model"):
        run(classifier, many_texts, limit=4)


def test_from_end_to_end(tmp_path, many_texts):
    """The model of shuffled labels is trained beside the run, announced, named apart, and found again."""
    small = {"encoder": "average", "hidden": 4, "embedding_size": 5, "epochs": 1, "min_words": 1}
    classifier = heedful.train(str(many_texts), runs=tmp_path / "runs", progress=False, **small)
    printed = io.StringIO()
    found = running.audit(classifier, only=[NAME], watcher=Bars(Screen(file=printed, width=200)))
    assert "Training the model on shuffled labels, or finding it, in" in printed.getvalue()
    runs = list_runs(tmp_path / "runs")
    assert sorted(
        str(yaml.safe_load((r.folder / "config.yaml").read_text())["label_seed"]) for r in runs
    ) == ["0", "None"]
    noise = next(r for r in runs if r.folder != classifier.run)
    assert (
        "The labels of train are shuffled with seed 0."
        in json.loads((noise.folder / "metrics.json").read_text())["notes"]
    )
    times = {r.folder: (r.folder / "metrics.json").stat().st_mtime_ns for r in runs}
    again = running.audit(heedful.load(classifier.run), only=[NAME])
    assert again.to_frame(NAME).equals(found.to_frame(NAME))
    assert {
        r.folder: (r.folder / "metrics.json").stat().st_mtime_ns for r in list_runs(tmp_path / "runs")
    } == times
