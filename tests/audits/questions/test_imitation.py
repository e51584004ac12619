"""The imitation audit, on twins made by hand: what is compared, averaged, reported and left out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

import heedful
from heedful.audits.questions import imitation
from heedful.errors import HeedfulError
from heedful.measures.divergence import jsd
from heedful.models.classifier import Classifier
from heedful.training.twins import Twin

TEXTS = ["a fine film", "the plot is thin", "wonderful acting and a warm script", "the jokes are old"]


@pytest.fixture(params=[{}, {"encoder": "average"}, {"classes": 3}, {"heads": 2}], ids=str)
def base(request, toy_classifier, tmp_path) -> Classifier:
    classifier = toy_classifier(**request.param)
    classifier.save_pretrained(tmp_path / "base")
    (tmp_path / "base" / "config.yaml").write_text("dataset: films\n")
    (tmp_path / "films.csv").write_text("text\n" + "\n".join(TEXTS) + "\n")
    classifier.run = tmp_path / "base"
    classifier.options = request.param
    return classifier


def twin(folder: Path, classifier: Classifier, seed: int) -> Twin:
    classifier.save_pretrained(folder)
    metrics = {"epoch": 3, "dev": {}, "test": {"f1": seed / 10}}
    (folder / "metrics.json").write_text(json.dumps(metrics))
    return Twin(seed, folder)


def audit(base: Classifier, twins: list[Twin], monkeypatch):
    monkeypatch.setattr(imitation, "train_twins", lambda *_, **__: twins)
    data = base.run.parent / "films.csv"
    return heedful.audit(base, data, only=["imitation"], progress=False)


def test_twins_are_compared_text_by_text(base, toy_classifier, tmp_path, monkeypatch):
    others = {seed: toy_classifier(seed=seed, **base.options) for seed in (1, 2)}
    found = audit(base, [twin(tmp_path / f"twin{s}", c, s) for s, c in others.items()], monkeypatch)
    rows, summary = found.to_frame("imitation"), found.summaries["imitation"]
    for seed, other in others.items():
        for row, text in zip(rows.iter_rows(named=True), TEXTS, strict=True):
            one, two = base.model(base.batch([text])), other.model(base.batch([text]))
            p, q = (
                o.logits.softmax(-1) if o.logits.shape[-1] > 1 else o.logits.sigmoid() for o in (one, two)
            )
            moved = (p - q).abs().sum().item() / (2 if p.shape[-1] > 1 else 1)
            assert row[f"tvd_{seed}"] == pytest.approx(moved, abs=1e-5)
            if one.weights.shape[1] == 1:
                distance = jsd(one.weights[0, 0], two.weights[0, 0]).item() / np.log(2)
                assert row[f"jsd_{seed}"] == pytest.approx(distance, abs=1e-5)
        means = rows[f"tvd_{seed}"].mean() / rows[f"jsd_{seed}"].mean()
        assert summary.number("attefa", f"seed {seed}").estimate == pytest.approx(min(means, 1))
    by_seed = [summary.number("attefa", f"seed {seed}").estimate for seed in others]
    assert summary.number("attefa").estimate == pytest.approx(np.mean(by_seed))
    assert summary.number("twin_f1").estimate == pytest.approx(0.15)
    assert "Epochs chosen: 3, 3." in summary.notes


def test_a_seed_that_diverges_is_reported_and_not_averaged_in(base, toy_classifier, tmp_path, monkeypatch):
    fine = twin(tmp_path / "fine", toy_classifier(seed=1, **base.options), 1)
    found = audit(base, [fine, Twin(2, None, "The loss is not a number.")], monkeypatch)
    summary = found.summaries["imitation"]
    assert "Seed 2 diverged and is not averaged in: The loss is not a number." in summary.notes
    assert summary.number("attefa").estimate == summary.number("attefa", "seed 1").estimate
    with pytest.raises(HeedfulError, match="Every twin diverged"):
        audit(base, [Twin(2, None, "The loss is not a number.")], monkeypatch)


def test_an_identical_twin_attends_nowhere_else(base, tmp_path, monkeypatch):
    same = Classifier.from_pretrained(base.run)
    before = {name: tensor.clone() for name, tensor in base.model.state_dict().items()}
    found = audit(base, [twin(tmp_path / "same", same, 1)], monkeypatch).to_frame("imitation")
    assert found["twin_tvd"].max() < 1e-5 and found["twin_jsd"].max() < 1e-5
    assert found["elsewhere"].max() == 0
    assert all(torch.equal(tensor, before[name]) for name, tensor in base.model.state_dict().items())


def test_it_runs_only_when_it_is_named(base):
    found = heedful.audit(base, base.run.parent / "films.csv", progress=False, permutations=3)
    assert "imitation" not in found.summaries
