"""SEAT and steady: what they minimise, what they train, and that the vanilla model stays as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import heedful
from heedful.config import ObjectiveOptions
from heedful.data.corpus import Split
from heedful.data.instances import Batch
from heedful.declared import complete
from heedful.errors import BadInput
from heedful.measures.divergence import jsd, kl, sharpness, tvd
from heedful.measures.overlap import top_k_loss
from heedful.models.classifier import Classifier
from heedful.models.model import probabilities
from heedful.training.objectives.anchored import Anchored
from heedful.training.objectives.objective import OBJECTIVES
from heedful.training.objectives.seat import Seat
from heedful.training.objectives.stability_only import StabilityOnly
from heedful.training.objectives.steady import Steady
from heedful.training.train import resolve, train

Toy = Callable[..., Classifier]
Splits = Callable[..., Split]
SHAPES = [
    {},
    {"encoder": "average"},
    {"heads": 2},
    {"query": True},
    {"hierarchical": True},
    {"encoder": "cnn", "normaliser": "sparsemax"},
    {"classes": 3},
    {"decoder": "mlp"},
    {"classes": 3, "query": True, "heads": 2},
]


def made(
    kind: type[Anchored],
    toy: Toy,
    splits: Splits,
    folder: Path,
    shape: dict[str, object] | None = None,
    **options: object,
) -> tuple[Anchored, Classifier]:
    """Give an objective over an untrained base, and the model it trains."""
    shape = shape or {}
    toy(**shape).save_pretrained(folder)
    model = toy(seed=1, **shape)
    split = splits(query=bool(shape.get("query")), classes=int(shape.get("classes", 2)))  # type: ignore[call-overload]
    objective = kind(model.model, config=complete(ObjectiveOptions)(base=str(folder), **options))  # type: ignore[arg-type]
    objective.prepare({"train": (instances := model.instances(split))})
    objective.instances = instances  # type: ignore[attr-defined]
    return objective, model


def whole(objective: Anchored):  # type: ignore[no-untyped-def]
    instances = objective.instances  # type: ignore[attr-defined]
    return instances.batch(torch.arange(len(instances)).numpy())


def noisy(model: Classifier, batch: Batch, radius: float) -> Batch:
    """Give the batch with the noise that is drawn at every evaluation."""
    size = model.model.embed(batch).shape
    drawn = torch.randn(size, generator=torch.Generator().manual_seed(0))
    return replace(batch, tokens=batch.tokens.shifted(radius * drawn * batch.tokens.mask[..., None]))


def moved(model: Classifier, by: float = 0.3) -> None:
    """Move attention away from where it began."""
    with torch.no_grad():
        for parameter in model.model.attention.parameters():  # type: ignore[union-attr]
            parameter.add_(by * torch.randn_like(parameter))


@pytest.mark.parametrize("kind", [Seat, Steady])
@pytest.mark.parametrize("shape", SHAPES)
def test_begins_as_the_vanilla_model_is(
    toy_classifier: Toy, toy_split: Splits, tmp_path: Path, kind: type[Anchored], shape: dict[str, object]
) -> None:
    objective, _ = made(kind, toy_classifier, toy_split, tmp_path, shape)
    found = objective.evaluate("train", objective.instances)  # type: ignore[attr-defined]
    assert found["closeness"] == pytest.approx(0, abs=1e-5)
    assert found["top_k_loss"] == pytest.approx(0, abs=1e-6) and found["top_k_overlap"] == 1.0
    loss = objective.loss(whole(objective))
    loss.backward()  # type: ignore[no-untyped-call]
    for name, parameter in objective.trainable_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name


@pytest.mark.parametrize("part", ["attention", "all"])
@pytest.mark.parametrize("kind", [Seat, Steady])
def test_trains_what_it_says_and_never_the_base(
    toy_classifier: Toy, toy_split: Splits, tmp_path: Path, kind: type[Anchored], part: str
) -> None:
    objective, model = made(kind, toy_classifier, toy_split, tmp_path, trained=part)
    bytes_before = (tmp_path / "model.safetensors").read_bytes()
    before = {name: tensor.clone() for name, tensor in model.model.state_dict().items()}
    optimiser = torch.optim.SGD([p for _, p in objective.trainable_parameters()], lr=0.5)
    moved(model)
    objective.loss(whole(objective)).backward()  # type: ignore[no-untyped-call]
    optimiser.step()
    changed = {
        name for name, tensor in model.model.state_dict().items() if not torch.equal(tensor, before[name])
    }
    assert "embedding.weight" not in changed
    assert any(name.startswith("attention.") for name in changed)
    assert any(not name.startswith("attention.") for name in changed) == (part == "all")
    assert (tmp_path / "model.safetensors").read_bytes() == bytes_before


def test_seat_is_equation_6(toy_classifier: Toy, toy_split: Splits, tmp_path: Path) -> None:
    """Every term again, the plain way; the inner maximum by the two signs of the closed form's δ."""
    objective, model = made(Seat, toy_classifier, toy_split, tmp_path, top_k=2, radius=0.1, norm="linf")
    moved(model)
    batch, base = whole(objective), Classifier.from_pretrained(tmp_path).model.eval()
    with torch.no_grad():
        ours, theirs = model.model(batch), base(batch)
        states = model.model.encode(model.model.embed(batch), batch)
        says, kept = probabilities(ours.logits), probabilities(theirs.logits)
        slopes = states.h @ model.model.decoder.output.weight[0]  # type: ignore[union-attr]
        signs = slopes.sign() * states.mask
        ends = [
            probabilities(model.model.decode(states, ours.weights + sign * 0.1 * signs[:, None]))
            for sign in (1, -1)
        ]
        worst = torch.maximum(*(kl(says, end) for end in ends))
        top = top_k_loss(theirs.weights[:, 0], ours.weights[:, 0], k=2, mask=states.mask)
        expected = (kl(kept, says) + 1.0 * worst + 1000.0 * top).mean()
    assert objective.loss(batch).item() == pytest.approx(expected.item(), rel=1e-4)


@pytest.mark.parametrize("norm", ["linf", "l2", "l1"])
@pytest.mark.parametrize("shape", [{}, {"heads": 2}, {"query": True}])
def test_the_closed_form_is_never_below_the_search(
    toy_classifier: Toy, toy_split: Splits, tmp_path: Path, norm: str, shape: dict[str, object]
) -> None:
    options = {"radius": 0.2, "norm": norm}
    exact, model = made(Seat, toy_classifier, toy_split, tmp_path, shape, **options)
    moved(model)
    searched = Seat(
        model.model, config=complete(ObjectiveOptions)(base=str(tmp_path), inner="pgd", steps=40, **options)
    )  # type: ignore[arg-type]
    searched.train = exact.train
    batch = whole(exact)
    torch.manual_seed(0)
    found, best = (o.terms(batch, o.train)["stability"] for o in (searched, exact))
    assert (found <= best + 1e-6).all()
    assert (found > 0).all()
    assert (found > 0.5 * best).float().mean() > 0.5


@pytest.mark.parametrize("shape", [{"classes": 3}, {"decoder": "mlp"}])
def test_search_is_used_where_there_is_no_closed_form(
    toy_classifier: Toy, toy_split: Splits, tmp_path: Path, shape: dict[str, object]
) -> None:
    objective, _ = made(Seat, toy_classifier, toy_split, tmp_path, shape, radius=0.3)
    assert isinstance(objective, Seat) and not objective.exact
    assert (objective.terms(whole(objective), objective.train)["stability"] > 0).all()


def test_a_term_that_weighs_nothing_is_left_out(
    toy_classifier: Toy, toy_split: Splits, tmp_path: Path
) -> None:
    objective, model = made(Seat, toy_classifier, toy_split, tmp_path, stability=0, overlap=0)
    moved(model)
    terms = objective.terms(whole(objective), objective.train)
    assert torch.equal(objective.total(terms), terms["closeness"])
    assert terms["stability"].min() > 0 and terms["top_k_loss"].max() > 0  # still written down


def test_a_text_does_not_depend_on_its_companions(
    toy_classifier: Toy, toy_split: Splits, tmp_path: Path
) -> None:
    objective, model = made(Seat, toy_classifier, toy_split, tmp_path)
    moved(model)
    together = objective.terms(whole(objective), objective.train)
    instances = objective.instances  # type: ignore[attr-defined]
    for row in range(len(instances)):
        alone = objective.terms(instances.batch(torch.tensor([row]).numpy()), objective.train)
        for name, term in alone.items():
            assert term[0].item() == pytest.approx(together[name][row].item(), abs=1e-5), name


def test_a_base_of_another_shape_is_refused(toy_classifier: Toy, toy_split: Splits, tmp_path: Path) -> None:
    toy_classifier(hidden=4).save_pretrained(tmp_path)
    model = toy_classifier()
    objective = Seat(model.model, config=complete(ObjectiveOptions)(base=str(tmp_path)))
    with pytest.raises(BadInput, match="another shape"):
        objective.prepare({"train": model.instances(toy_split())})


def test_texts_with_no_more_items_than_k_are_counted(
    toy_classifier: Toy, toy_split: Splits, tmp_path: Path
) -> None:
    model, split = toy_classifier(), toy_split()
    model.save_pretrained(tmp_path)
    items = model.instances(split).tokens.items
    k = int(np.median(items))
    objective = Seat(model.model, config=complete(ObjectiveOptions)(base=str(tmp_path), top_k=k))
    objective.prepare({"train": model.instances(split)})
    short = int((items <= k).sum())
    assert objective.notes[0].startswith(f"{short} of {len(items)} training texts have {k} items or fewer")


@pytest.mark.parametrize("name", ["seat", "steady", "stability_only"])
def test_more_top_items_than_any_text_has_are_refused_before_anything_is_trained(
    tmp_path: Path, name: str
) -> None:
    given = {"dataset": "mock_1", "limit": 40, "objective": name, "top_k": 10_000}
    with pytest.raises(BadInput, match=r"No text has 10000 items.*: choose a smaller --top-k"):
        train(resolve(given), runs=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("name", [name for name in OBJECTIVES if OBJECTIVES.get(name).needs_attention])
def test_without_attention_nothing_is_begun(tmp_path: Path, name: str) -> None:
    base = train(
        resolve({"dataset": "mock_1", "limit": 40, "epochs": 1, "hidden": 4, "embedding_size": 6}),
        runs=tmp_path / "base",
    )
    given = {"dataset": "mock_1", "limit": 40, "objective": name, "pooling": "mean"}
    if "base" in OBJECTIVES.get(name).options:
        given["base"] = str(base.run)
    with pytest.raises(BadInput, match="--pooling attention"):
        train(resolve(given), runs=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("options", [{"decoder": "mlp"}, {"dataset": "babi_1_generated"}])
def test_a_closed_form_that_is_not_there_is_refused_before_anything_is_written(
    tmp_path: Path, options: dict[str, object]
) -> None:
    given = {"dataset": "mock_1", "limit": 40, "objective": "seat", "inner": "exact", **options}
    with pytest.raises(BadInput, match="--inner pgd"):
        train(resolve(given), runs=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("objective", ["seat", "steady", "stability_only"])
def test_a_vanilla_model_is_trained_or_found(tmp_path: Path, objective: str) -> None:
    options = {
        "dataset": "mock_1",
        "limit": 60,
        "epochs": 1,
        "hidden": 4,
        "embedding_size": 6,
        "encoder": "average",
    }
    first = train(resolve({**options, "objective": objective}), runs=tmp_path)
    names = sorted(path.name.split("-")[2] for path in tmp_path.iterdir() if path.is_dir())
    # What was renamed keeps its old name in its runs.
    assert names == sorted([OBJECTIVES.get(objective).formerly or objective, "vanilla"])
    vanilla = next(path for path in tmp_path.iterdir() if "vanilla" in path.name)
    stamp = (vanilla / "model.safetensors").stat().st_mtime_ns
    again = train(resolve({**options, "objective": objective, "top_k": 3}), runs=tmp_path)
    assert again.run != first.run
    assert (vanilla / "model.safetensors").stat().st_mtime_ns == stamp
    assert first.run is not None
    history = json.loads((first.run / "metrics.json").read_text())["history"]
    for split in ("train", "dev"):
        assert 0 <= history[0][split]["top_k_overlap"] <= 1 and history[0][split]["top_k_loss"] >= 0


def test_steady_is_trained_for_longer_and_its_vanilla_model_is_not(tmp_path: Path) -> None:
    options = {
        "dataset": "mock_1",
        "limit": 40,
        "hidden": 4,
        "embedding_size": 6,
        "encoder": "average",
        "patience": None,
    }
    vanilla = train(resolve(options), runs=tmp_path).run
    steady = train(resolve({**options, "objective": "steady"}), runs=tmp_path).run
    assert sorted(tmp_path.glob("mock*")) == sorted([vanilla, steady])  # the same vanilla model, found
    lengths = [
        len(json.loads((run / "metrics.json").read_text())["history"]) for run in (vanilla, steady) if run
    ]
    assert lengths == [8, 20]


@pytest.mark.parametrize("objective", ["seat", "steady", "stability_only"])
def test_a_transformer_can_be_made_stable(bert: str, reviews: str, tmp_path: Path, objective: str) -> None:
    made = heedful.train(
        reviews, encoder=bert, objective=objective, epochs=1, runs=tmp_path / "runs", progress=False
    )
    vanilla = heedful.load(next((tmp_path / "runs").glob("*vanilla*")))
    ours, theirs = (dict(classifier.model.named_parameters()) for classifier in (made, vanilla))
    changed = {name for name in ours if not torch.equal(ours[name], theirs[name])}
    assert any(name.startswith("attention.") for name in changed)
    assert any(name.startswith("encoder.") for name in changed) == (objective != "seat")
    assert not any(".embeddings." in name for name in changed)


@pytest.mark.parametrize("flatter", [False, True])
def test_steady_is_the_sum_that_it_says(
    toy_classifier: Toy, toy_split: Splits, tmp_path: Path, flatter: bool
) -> None:
    def sharp(*, seed: int = 0) -> Classifier:
        classifier = toy_classifier(seed=seed)
        classifier.model.attention.similarity.vector.data *= 10  # type: ignore[union-attr]
        return classifier

    objective, model = made(
        Steady, sharp, toy_split, tmp_path, radius=0.5, closeness=4, stability=3, overlap=2
    )
    moved(model)
    model.model.attention.similarity.vector.data *= 0.1 if flatter else 2  # type: ignore[union-attr]
    model.model.eval()
    batch, base = whole(objective), Classifier.from_pretrained(tmp_path).model.eval()
    with torch.no_grad():
        ours, theirs, shaken = model.model(batch), base(batch), model.model(noisy(model, batch, 0.5))
        w, v, u = ours.weights[:, 0], shaken.weights[:, 0], theirs.weights[:, 0]
        mask = batch.tokens.mask
        relative = jsd(w, v) / (sharpness(w, mask) + sharpness(v, mask)).clamp(min=1e-4)
        relative[mask.sum(1) == 1] = 0  # one item: nothing to compare
        p, q, r = (probabilities(output.logits) for output in (ours, shaken, theirs))
        lost = sharpness(u, mask) - sharpness(w, mask)
        assert bool((lost > 1e-3).any()) == flatter == (not (lost < -1e-3).any())
        expected = 4 * kl(r, p) + 3 * relative + tvd(p, q) + 2 * (jsd(w, u) + lost.abs())
        found = objective.total(objective.terms(batch, objective.train))
    assert torch.allclose(found, expected, atol=1e-5)


def test_some_words_are_read_as_unknown_by_both_models(
    toy_classifier: Toy, toy_split: Splits, tmp_path: Path
) -> None:
    objective, model = made(Steady, toy_classifier, toy_split, tmp_path, unknown=0.5)
    unknown = model.vocabulary.unknown
    batch, base = whole(objective), Classifier.from_pretrained(tmp_path).model.eval()
    torch.manual_seed(0)
    other, recorded = objective.varied(batch)
    changed = other.tokens.ids != batch.tokens.ids
    assert (other.tokens.ids[changed] == unknown).all() and not changed[~batch.tokens.mask].any()
    known = batch.tokens.mask & (batch.tokens.ids != unknown)
    assert 0.3 < changed.sum() / known.sum() < 0.7
    with torch.no_grad():
        theirs = base(other)
    assert torch.equal(recorded.probabilities, probabilities(theirs.logits))
    assert torch.equal(recorded.weights(other.rows, theirs.weights.shape[-1]), theirs.weights)
    terms = objective.terms(other, recorded)
    assert torch.allclose(terms["closeness"], torch.zeros(len(batch)), atol=1e-6)  # it begins as vanilla
    assert torch.allclose(terms["distance"], torch.zeros(len(batch)), atol=1e-6)


def test_no_word_is_unknown_where_none_should_be(
    toy_classifier: Toy, toy_split: Splits, tmp_path: Path
) -> None:
    objective, _ = made(Steady, toy_classifier, toy_split, tmp_path, unknown=0.0)
    batch = whole(objective)
    assert objective.varied(batch) == (batch, objective.train)
    seat, _ = made(Seat, toy_classifier, toy_split, tmp_path)
    assert seat.varied(batch) == (batch, seat.train)


def test_stability_only_counts_predictions_and_stability_alone(
    toy_classifier: Toy, toy_split: Splits, tmp_path: Path
) -> None:
    objective, model = made(StabilityOnly, toy_classifier, toy_split, tmp_path, radius=0.5, stability=3)
    moved(model)
    model.model.eval()
    batch, base = whole(objective), Classifier.from_pretrained(tmp_path).model.eval()
    with torch.no_grad():
        ours, theirs, shaken = model.model(batch), base(batch), model.model(noisy(model, batch, 0.5))
        close = kl(probabilities(theirs.logits), probabilities(ours.logits))
        expected = close + 3 * jsd(ours.weights[:, 0], shaken.weights[:, 0])
        found = objective.total(objective.terms(batch, objective.train))
    assert torch.allclose(found, expected, atol=1e-5)


def test_stability_alone_makes_attention_flat_and_steady_does_not(tmp_path: Path) -> None:
    """After a vanilla model that has found the one word that counts, in texts so short that a flat heatmap would do too."""
    shape = {
        "dataset": str(_reviews(tmp_path / "reviews.csv")),
        "encoder": "average",
        "hidden": 8,
        "embedding_size": 8,
        "patience": None,
    }
    learnt = train(resolve({**shape, "epochs": 10, "batch_size": 16, "learning_rate": 0.02}), runs=tmp_path)
    vanilla = _sharpness(learnt)
    assert vanilla > 0.1
    sharp = {}
    for name in ("stability_only", "steady"):
        given = {
            "objective": name,
            "base": str(learnt.run),
            "radius": 1.0,
            "epochs": 20,
            "batch_size": 8,
            "learning_rate": 0.01,
        }
        sharp[name] = _sharpness(train(resolve({**shape, **given}), runs=tmp_path))
    assert sharp["stability_only"] < 0.1 * vanilla
    assert sharp["steady"] > 0.7 * vanilla


def _reviews(path: Path) -> Path:
    """Write texts of six to eleven words, one of which tells the label."""
    telling = (("dull", "slow", "grim", "poor"), ("warm", "fine", "good", "keen"))
    rng = np.random.default_rng(0)
    lines = ["text,label"]
    for row in range(240):
        words = rng.choice(("the", "film", "we", "saw", "it", "then", "a", "plot"), size=5 + row % 6).tolist()
        words.insert(int(rng.integers(len(words) + 1)), str(rng.choice(telling[row % 2])))
        lines.append(f"{' '.join(words)},{('bad', 'good')[row % 2]}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _sharpness(classifier: Classifier) -> float:
    assert classifier.run is not None
    audited = heedful.audit(classifier, only="sharpness", keep=False, progress=False)
    return float(audited.frames["sharpness"]["sharpness"].mean())  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [Seat, Steady, StabilityOnly])
def test_dropout_is_not_taken_for_instability(
    toy_classifier: Toy, toy_split: Splits, tmp_path: Path, kind: type[Anchored]
) -> None:
    """Two passes that drop other units would differ by far more than the noise that is meant."""
    dropping = {"embedding_dropout": 0.5, "decoder_dropout": 0.5}
    objective, model = made(kind, toy_classifier, toy_split, tmp_path, dropping, radius=1e-4)
    model.model.train()
    objective.loss(whole(objective))
    seen = objective.epoch_means()
    assert seen["closeness"] < 1e-6
    assert seen.get("instability", seen.get("stability", 1.0)) < 1e-4
    assert seen.get("distance", 0.0) < 1e-6


def test_the_same_noise_at_every_evaluation(toy_classifier: Toy, toy_split: Splits, tmp_path: Path) -> None:
    objective, _ = made(Steady, toy_classifier, toy_split, tmp_path, radius=0.5)
    one, other = (objective.evaluate("train", objective.instances) for _ in range(2))  # type: ignore[attr-defined]
    assert one == other
    assert 0 < one["instability"] <= 2


def test_noise_that_is_sought_moves_more_and_is_as_long(
    toy_classifier: Toy, toy_split: Splits, tmp_path: Path
) -> None:
    options = {"radius": 0.3}
    drawn, model = made(Steady, toy_classifier, toy_split, tmp_path, **options)
    sought = Steady(
        model.model, config=complete(ObjectiveOptions)(base=str(tmp_path), noise="adversarial", **options)
    )
    sought.train = drawn.train
    model.model.eval()
    batch = whole(drawn)
    one, other = (objective._noise(batch, fresh=False) for objective in (drawn, sought))
    assert torch.allclose(one.flatten(1).norm(dim=1), other.flatten(1).norm(dim=1), rtol=1e-4)
    assert (other[~batch.tokens.mask] == 0).all()
    at_random, at_worst = (o.terms(batch, o.train)["instability"] for o in (drawn, sought))
    sharp = at_random > 0  # texts of words that nobody knows have a flat heatmap
    assert sharp.sum() >= 3 and (at_worst > at_random)[sharp].all()
    assert all(parameter.grad is None for parameter in model.model.parameters())
