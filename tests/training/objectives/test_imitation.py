"""Twins: what they minimise, what they are compared with, and that their base stays as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import heedful
from heedful.config import ObjectiveOptions
from heedful.data.corpus import Split
from heedful.declared import complete
from heedful.errors import BadInput
from heedful.measures.divergence import jsd, tvd
from heedful.measures.heads import matched_jsd
from heedful.measures.imitation import attefa
from heedful.models.classifier import Classifier
from heedful.models.model import probabilities
from heedful.runs import Run
from heedful.training.objectives.imitation import ImitationObjective
from heedful.training.recorded import Recorded
from heedful.training.twins import seconds_per_epoch, train_twins

Toy = Callable[..., Classifier]
Splits = Callable[..., Split]


def imitation(
    base: Classifier, twin: Classifier, split: Split, folder: Path, **options: object
) -> ImitationObjective:
    base.save_pretrained(folder)
    objective = ImitationObjective(twin.model, config=complete(ObjectiveOptions)(base=str(folder), **options))  # type: ignore[arg-type]
    instances = twin.instances(split)
    objective.prepare({"train": instances})
    objective.instances = instances  # type: ignore[attr-defined]
    return objective


def swapped_heads(classifier: Classifier) -> None:
    """Exchange the two heads of a model everywhere, which changes nothing that it computes."""
    model = classifier.model
    similarity, output = model.attention.similarity, model.decoder.output  # type: ignore[union-attr]
    with torch.no_grad():
        for parameter in (similarity.project_state.weight, similarity.project_state.bias, similarity.vector):
            parameter.copy_(torch.cat(parameter.chunk(2)[::-1]))
        output.weight.copy_(torch.cat(output.weight.chunk(2, dim=1)[::-1], dim=1))


def test_an_identical_twin_differs_in_nothing(toy_classifier: Toy, toy_split: Splits, tmp_path: Path) -> None:
    objective = imitation(toy_classifier(), toy_classifier(), toy_split(), tmp_path)
    found = objective.evaluate("train", objective.instances)  # type: ignore[attr-defined]
    assert found["tvd"] == pytest.approx(0, abs=1e-6) and found["divergence"] == pytest.approx(0, abs=1e-6)
    assert attefa(np.zeros(3), np.zeros(3)) == 1.0  # nobody attends elsewhere


def test_a_twin_with_swapped_heads_attends_alike(
    toy_classifier: Toy, toy_split: Splits, tmp_path: Path
) -> None:
    base, twin = toy_classifier(heads=2), toy_classifier(heads=2)
    swapped_heads(twin)
    objective = imitation(base, twin, toy_split(), tmp_path)
    found = objective.evaluate("train", objective.instances)  # type: ignore[attr-defined]
    assert found["tvd"] == pytest.approx(0, abs=1e-6) and found["divergence"] == pytest.approx(0, abs=1e-6)


def test_the_base_is_looked_up_by_the_name_of_the_split(
    toy_classifier: Toy, toy_split: Splits, tmp_path: Path
) -> None:
    """Of two splits as long as each other, each is compared with what the base predicted for it."""
    classifier, split = toy_classifier(), toy_split()
    objective = imitation(classifier, toy_classifier(), split, tmp_path)
    turned = split.take(np.arange(len(split))[::-1].copy())
    objective.prepare({"train": classifier.instances(split), "dev": classifier.instances(turned)})
    same, other = classifier.instances(split), classifier.instances(turned)  # the same texts, other objects
    assert objective.evaluate("train", same)["tvd"] == pytest.approx(0, abs=1e-6)
    assert objective.evaluate("dev", other)["tvd"] == pytest.approx(0, abs=1e-6)
    assert objective.evaluate("dev", same)["tvd"] > 1e-3


@pytest.mark.parametrize("divergence", ["jsd", "kl"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"encoder": "average"},
        {"heads": 2},
        {"classes": 3},
        {"query": True},
        {"hierarchical": True},
        {"encoder": "cnn", "normaliser": "sparsemax"},
    ],
)
def test_no_nan_at_masked_places(
    toy_classifier: Toy, toy_split: Splits, tmp_path: Path, options: dict[str, object], divergence: str
) -> None:
    split = toy_split(query=bool(options.get("query")), classes=int(options.get("classes", 2)))  # type: ignore[call-overload]
    objective = imitation(
        toy_classifier(**options), toy_classifier(seed=1, **options), split, tmp_path, divergence=divergence
    )
    batch = objective.instances.batch(np.arange(len(split)))  # type: ignore[attr-defined]
    loss = objective.loss(batch)
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.isfinite()
    gradients = [p.grad.to_dense() for p in objective.model.parameters() if p.grad is not None]
    assert gradients and all(gradient.isfinite().all() for gradient in gradients)


def test_the_loss_is_that_of_equation_4(toy_classifier: Toy, toy_split: Splits, tmp_path: Path) -> None:
    base, twin = toy_classifier(), toy_classifier(seed=1)
    objective = imitation(base, twin, toy_split(), tmp_path, strength=0.5)
    batch = objective.instances.batch(np.arange(6))  # type: ignore[attr-defined]
    theirs, ours = base.model(batch), twin.model(batch)
    half = (torch.sigmoid(theirs.logits) - torch.sigmoid(ours.logits)).abs()[:, 0] / 2  # TVD of one sigmoid
    distance = jsd(theirs.weights[:, 0], ours.weights[:, 0]) / np.log(2)
    assert objective.loss(batch).item() == pytest.approx(
        (half / 0.5 - 0.5 * distance).mean().item(), abs=1e-6
    )


@given(st.integers(1, 4), st.integers(1, 6), st.integers(0, 10_000))
def test_both_terms_lie_between_0_and_1(heads: int, items: int, seed: int) -> None:
    random = torch.Generator().manual_seed(seed)

    def weights() -> Tensor:
        return torch.softmax(5 * torch.randn(3, heads, items, generator=random, dtype=torch.float64), -1)

    p, q = weights(), weights()
    scaled = matched_jsd(p, q) / np.log(2)
    assert ((scaled >= 0) & (scaled <= 1 + 1e-12)).all()
    order = torch.randperm(heads, generator=random)
    assert torch.allclose(matched_jsd(p, p[:, order]), torch.zeros(3, dtype=torch.float64), atol=1e-12)
    assert torch.allclose(matched_jsd(p, q), matched_jsd(p, q[:, order]), atol=1e-12)
    assert ((tvd(p, q) >= 0) & (tvd(p, q) <= 1 + 1e-12)).all()


def test_matching_is_the_best_of_all(toy_classifier: Toy) -> None:
    from itertools import permutations

    p, q = (torch.softmax(torch.randn(5, 3, 7, dtype=torch.float64), -1) for _ in range(2))
    every = torch.stack([jsd(p, q[:, list(order)]).mean(1) for order in permutations(range(3))])
    assert torch.allclose(matched_jsd(p, q), every.amin(0))


@pytest.mark.parametrize("options", [{}, {"heads": 2}, {"hierarchical": True}])
def test_what_is_recorded_is_what_the_model_says(
    toy_classifier: Toy, toy_split: Splits, options: dict[str, object]
) -> None:
    classifier = toy_classifier(**options)
    instances = classifier.instances(toy_split())
    recorded = Recorded(classifier.model, instances, batch_size=2)
    batch = instances.batch(np.array([3, 0, 5]))
    output = classifier.model(batch)
    assert torch.allclose(recorded.probabilities[batch.rows], probabilities(output.logits), atol=1e-6)
    assert torch.allclose(recorded.weights(batch.rows, output.weights.shape[-1]), output.weights, atol=1e-6)


@pytest.mark.slow
def test_twins_are_trained_and_found_again_and_leave_their_base_alone(tmp_path: Path) -> None:
    base = heedful.train(
        "mock_1",
        encoder="average",
        epochs=1,
        limit=300,
        hidden=8,
        embedding_size=10,
        runs=tmp_path,
        progress=False,
    )
    assert base.run is not None
    before = (base.run / "model.safetensors").read_bytes()
    done: list[int] = []
    twins = train_twins(
        base.run, seeds=(1, 2), runs=tmp_path / "twins", done=lambda twin: done.append(twin.seed), epochs=2
    )
    assert sorted(done) == [1, 2] and [twin.seed for twin in twins] == [1, 2]
    assert (base.run / "model.safetensors").read_bytes() == before
    assert twins[0].folder is not None
    weights = (twins[0].folder / "model.safetensors").read_bytes()
    again = train_twins(base.run, seeds=(1,), runs=tmp_path / "elsewhere", epochs=2)
    assert again[0].folder is not None
    assert (again[0].folder / "model.safetensors").read_bytes() == weights


def test_a_transformer_has_twins(bert: str, reviews: str, tmp_path: Path) -> None:
    base = heedful.train(reviews, encoder=bert, epochs=1, runs=tmp_path, progress=False)
    twin = heedful.train(
        reviews, objective="imitation", base=str(base.run), epochs=2, seed=10, runs=tmp_path, progress=False
    )
    batch = twin.instances(Split(["a fine film", "bad"], np.array([1, 0]))).batch(np.arange(2))
    with torch.no_grad():
        ours, theirs = twin.model(batch).weights, base.model(batch).weights
    assert ours is not None and theirs is not None
    assert (ours[:, :, 0] == 0).all()  # [CLS] is no item
    assert 0 < float((matched_jsd(ours, theirs)).max()) < 0.6932
    assert twin.run is not None
    tested = json.loads((twin.run / "metrics.json").read_text())["test"]
    assert 0 <= tested["tvd"] <= 1 and 0 < tested["jsd"] <= 1


def test_a_twin_needs_a_base_that_reads_as_it_does(
    toy_classifier: Toy, toy_split: Splits, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match="--base"):
        heedful.train("mock_1", objective="imitation", runs=tmp_path, progress=False)
    with pytest.raises(BadInput, match="heads is 1 against the base's 2"):
        imitation(toy_classifier(heads=2), toy_classifier(), toy_split(), tmp_path / "base")


def test_the_cost_of_a_sample_is_a_share_of_the_cost_of_all(tmp_path: Path) -> None:
    lines = [json.dumps({"event": "epoch", "time": time}) for time in (100.0, 110.0, 130.0)]
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    assert seconds_per_epoch(tmp_path) == 15  # still in training
    metrics = {"epoch": 1, "dev": {}, "test": {}, "notes": [], "history": [{}] * 3, "sizes": {"train": 8000}}
    (tmp_path / "metrics.json").write_text(json.dumps(metrics))
    assert Run(tmp_path).complete
    assert seconds_per_epoch(tmp_path) == 15
    assert seconds_per_epoch(tmp_path, limit=2000) == 15 / 4
    assert seconds_per_epoch(tmp_path, limit=9000) == 15
    assert seconds_per_epoch(tmp_path / "nowhere") is None
