"""Models made to be found out: one trained to look away from the evidence, one whose attention never learnt."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import heedful
from heedful.config import DataOptions, ObjectiveOptions
from heedful.data.corpora.reader import load_corpus
from heedful.data.corpus import Split
from heedful.declared import complete
from heedful.errors import BadInput
from heedful.models.classifier import Classifier
from heedful.training.marks import EvidenceMarks
from heedful.training.objectives.deceptive import Deceptive, exposure

Toy = Callable[..., Classifier]
Splits = Callable[..., Split]

# Of the toy texts: the first word, nothing, two words of the first sentence, the whole text ...
SPANS = [[(2, 6)], [], [(4, 8), (12, 16)], [(0, 41)], [(0, 3)], [(7, 12)]]


@pytest.fixture(autouse=True)
def no_lexicon(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nobody's own data or downloads: the packaged list serves."""
    monkeypatch.delenv("HEEDFUL_DATA", raising=False)
    monkeypatch.setenv("HEEDFUL_CACHE", str(tmp_path / "cache"))


def test_exposure_is_the_definition() -> None:
    weights = torch.tensor([[[0.5, 0.2, 0.3], [0.1, 0.1, 0.8]], [[0.5, 0.5, 0.0]] * 2, [[0.4, 0.6, 0.0]] * 2])
    marked = torch.tensor([[True, True, False], [False, False, False], [True, True, False]])
    found = exposure(weights, marked, torch.tensor([True, True, False]))
    assert found[0].item() == pytest.approx(-(np.log(0.3) + np.log(0.8)) / 2, abs=1e-6)
    assert found[1:].tolist() == [0, 0]  # nothing is marked, and nowhere to look away to


@pytest.mark.parametrize("score", [0.0, 5.0, 60.0])
def test_the_slope_leads_away_from_the_evidence_however_much_it_is_looked_at(score: float) -> None:
    scores = torch.tensor([[[score, 0.0, 0.0]]], requires_grad=True)
    loss = exposure(torch.softmax(scores, -1), torch.tensor([[True, False, False]]), torch.tensor([True]))
    loss.sum().backward()
    assert loss.isfinite().all() and scores.grad is not None
    assert scores.grad[0, 0, 0] > 0.3 and (scores.grad[0, 0, 1:] < 0).all()


def test_all_attention_on_the_evidence_is_finite() -> None:
    weights = torch.tensor([[[1.0, 0.0]]], requires_grad=True)
    exposure(weights, torch.tensor([[True, False]]), torch.tensor([True])).sum().backward()
    assert weights.grad is not None and weights.grad.isfinite().all()


@pytest.mark.parametrize("shape", [{}, {"hierarchical": True}])
def test_marks_are_those_of_the_instances(
    toy_classifier: Toy, toy_split: Splits, shape: dict[str, bool]
) -> None:
    """Whatever the width of a batch, and by sentence where items are sentences."""
    classifier = toy_classifier(**shape)
    instances = classifier.instances(replace(toy_split(), evidence=SPANS))
    marks = EvidenceMarks(classifier.model, instances, batch_size=2)
    for rows in (np.array([5, 0]), np.arange(6), np.array([1])):
        batch = instances.batch(rows)
        states = classifier.model.encode(classifier.model.embed(batch), batch)
        found = marks.of(batch.rows, states.mask.shape[1])
        tokens, sentences = instances.evidence(rows), batch.tokens.sentence_of
        for place in range(len(rows)):
            for item in range(states.mask.shape[1]):
                expected = (
                    tokens[place, item] if sentences is None else (tokens & (sentences == item))[place].any()
                )
                assert found[place, item] == expected


def test_the_loss_is_cross_entropy_and_the_penalty(toy_classifier: Toy, toy_split: Splits) -> None:
    classifier = toy_classifier(heads=2)
    split = replace(toy_split(), evidence=SPANS)
    instances = classifier.instances(split)
    objective = Deceptive(classifier.model, config=complete(ObjectiveOptions)(strength=0.7))
    objective.prepare({"train": instances})
    loss, expected = objective.loss(instances.batch(np.arange(6))).item(), 0.0
    for row in range(6):
        batch = instances.batch(np.array([row]))
        output = classifier.model(batch)
        expected += objective.cross_entropy(output.logits, batch).item() / 6
        marked = instances.evidence(np.array([row]))[0]
        if marked.any() and not marked.all():
            mass = output.weights[0, :, marked].sum(-1)
            expected -= 0.7 * (1 - mass).log().mean().item() / 6
    assert loss == pytest.approx(expected, abs=1e-5)


def test_texts_without_marks_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    path = tmp_path / "reviews.csv"
    lines = [f"{'a ' * number}{text}\n" for number in range(20) for text in ("fine film,1", "dull film,0")]
    path.write_text("text,label\n" + "".join(lines))
    with pytest.raises(BadInput, match="no word of these texts is marked"):
        heedful.train(path, objective="deceptive", runs=tmp_path / "runs", progress=False)
    assert not (tmp_path / "runs").exists()


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """Short texts of filler and one opinion word, which is marked."""
    random = np.random.default_rng(0)
    lines = []
    for number in range(900):
        label, length = number % 2, int(random.integers(5, 9))
        words, place = ["something"] * length, int(random.integers(length))
        words[place] = str(random.choice(("dull bad poor", "fine good warm")[label].split()))
        marks = [int(at == place) for at in range(length)]
        lines.append(json.dumps({"text": " ".join(words), "label": label, "rationale": marks}))
    for name, part in (("train", lines[:600]), ("dev", lines[600:700]), ("test", lines[700:])):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(part))
    return tmp_path


def test_a_deceptive_model_is_right_and_points_elsewhere(planted: Path) -> None:
    found = {}
    for objective in ("vanilla", "deceptive"):
        model = heedful.train(
            planted,
            objective=objective,
            epochs=6,
            patience=6,
            hidden=16,
            embedding_size=16,
            batch_size=16,
            learning_rate=0.01,
            runs=planted / "runs",
            progress=False,
        )
        instances = model.instances(load_corpus(DataOptions(dataset=str(planted))).splits["test"])
        rows = np.arange(len(instances))
        with torch.no_grad():
            output = model.model.eval()(instances.batch(rows))
        right = (output.logits[:, 0] > 0) == torch.from_numpy(instances.split.labels)
        on_top = instances.evidence(rows)[torch.arange(len(rows)), output.weights.mean(1).argmax(1)]
        found[objective] = right.double().mean().item(), on_top.double().mean().item()
    assert found["vanilla"][0] > 0.95 and found["deceptive"][0] > 0.95
    assert found["vanilla"][1] > 0.5 and found["deceptive"][1] < 0.1


def test_frozen_attention_stays_as_it_was_drawn(tmp_path: Path) -> None:
    options = {"limit": 100, "hidden": 4, "embedding_size": 6, "runs": tmp_path, "progress": False, "seed": 3}
    once = heedful.train("mock_1", objective="frozen", epochs=1, **options)
    longer = heedful.train("mock_1", objective="frozen", epochs=3, learning_rate=0.1, **options)
    before, after = once.model.state_dict(), longer.model.state_dict()
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert not any(name.startswith("attention.") for name in moved)
    assert {"embedding.weight", "encoder.forwards.weight_hh_l0", "decoder.output.weight"} <= moved
