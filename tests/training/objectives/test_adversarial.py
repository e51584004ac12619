"""Adversarial training: every perturbation makes its text harder, stays where it may, and leaves no trace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

import heedful
from heedful.config import ObjectiveOptions
from heedful.data.corpus import Split
from heedful.data.instances import Batch
from heedful.declared import complete
from heedful.models.classifier import Classifier
from heedful.models.model import AttentionModel
from heedful.training.loop import Trainer
from heedful.training.objectives import word_iat
from heedful.training.objectives.attention_iat import combined, score_contrast
from heedful.training.objectives.attention_rp import directions
from heedful.training.objectives.objective import OBJECTIVES, Objective
from heedful.training.objectives.perturbed import CleanPass, Perturbed, unit
from heedful.training.objectives.vanilla import Vanilla
from heedful.training.objectives.word_iat import WordIAT, nearest_words, towards

Toy = Callable[..., Classifier]
Splits = Callable[..., Split]
Make = Callable[..., tuple[Perturbed, Batch]]

UPHILL = ["word_at", "word_iat", "attention_at", "attention_iat"]
EVERY = [*UPHILL, "attention_rp"]
ON_SCORES = ["attention_at", "attention_iat", "attention_rp"]
SHAPES = {
    "binary": {"encoder": "bilstm"},
    "many": {"encoder": "cnn", "classes": 3, "attention": "dot"},
    "heads": {"encoder": "average", "heads": 2, "decoder": "mlp"},
    "sparse": {"encoder": "gru", "normaliser": "entmax15", "temperature": 2.0},
    "pair": {"encoder": "bilstm", "query": True, "classes": 3},
    "candidates": {"encoder": "average", "query": True, "classes": 5},
    "hierarchical": {"encoder": "bigru", "hierarchical": True},
}


@pytest.fixture
def make(toy_classifier: Toy, toy_split: Splits) -> Make:
    """Give a function that makes an objective of a model in double precision, and a batch of all toy texts."""

    def build(
        name: str, shape: str = "binary", *, seed: int = 0, weights: Tensor | None = None, **options: object
    ) -> tuple[Perturbed, Batch]:
        classifier = toy_classifier(seed=seed, **SHAPES[shape])
        model = classifier.model.double()
        classes = model.architecture.classes
        split = toy_split(query=model.architecture.query, classes=classes)
        if shape == "candidates":
            split = replace(split, candidates=[[row % 5, (row + 2) % 5] for row in range(len(split))])
        if model.architecture.attention == "additive":
            model.attention.similarity.vector.data *= 10  # untrained attention hardly differs between items
        config = complete(ObjectiveOptions)(**{"neighbours": 4, **options})  # type: ignore[arg-type]
        objective = OBJECTIVES.get(name)(model, weights, config)
        assert isinstance(objective, Perturbed)
        instances = classifier.instances(split)
        objective.prepare({"train": instances})
        objective.begin_epoch(0)
        return objective, instances.batch(np.arange(len(split)))

    return build


def text_losses(logits: Tensor, batch: Batch) -> Tensor:
    """Cross-entropy of each text, written out."""
    if logits.shape[-1] == 1:
        logits = torch.cat([torch.zeros_like(logits), logits], -1)
    return -torch.log_softmax(logits, -1)[torch.arange(len(logits)), batch.labels]


def steep(clean: CleanPass) -> Tensor:
    """Which texts have a gradient that is more than rounding: not those of one item, or of equal ones."""
    (gradient,) = torch.autograd.grad(
        text_losses(clean.logits, clean.batch).sum(), clean.at, retain_graph=True
    )
    return gradient.masked_fill(~clean.mask, 0.0).flatten(1).norm(dim=1) > 1e-12


def sizes(objective: Perturbed, clean: CleanPass) -> Tensor:
    """The radius of each text in the units of what is perturbed, text by text."""
    if not hasattr(objective, "lengths"):
        return torch.full((len(clean.at),), objective.radius, dtype=clean.at.dtype)
    real = clean.batch.tokens.mask
    return torch.stack(
        [
            objective.radius * torch.sqrt((e[keep] ** 2).mean())
            for e, keep in zip(clean.at.detach(), real, strict=True)
        ]
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", UPHILL)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_small_perturbation_raises_the_loss_of_every_text(
    make: Make, name: str, shape: str, seed: int
) -> None:
    objective, batch = make(name, shape, seed=seed, radius=1e-4)
    clean = objective.read(batch)
    shift = objective.perturbation(clean)
    rise = (text_losses(objective.reread(clean, shift), batch) - text_losses(clean.logits, batch)).detach()
    hilly = steep(clean)
    assert hilly.sum() >= 3 and (rise[hilly] > 0).all()
    # As the linear approximation says it must: by slope · shift.
    (gradient,) = torch.autograd.grad(text_losses(clean.logits, batch).sum(), clean.at)
    assert torch.allclose(rise, (gradient * shift).sum((1, 2)), rtol=1e-2, atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", EVERY)
def test_a_perturbation_stays_in_its_ball_and_on_real_items(make: Make, name: str, shape: str) -> None:
    objective, batch = make(name, shape, radius=0.7)
    clean = objective.read(batch)
    shift = objective.perturbation(clean).detach()
    assert shift.shape == clean.at.shape and shift.isfinite().all()
    assert not shift[~clean.mask.expand_as(shift)].any()
    norms, allowed = shift.flatten(1).norm(dim=1), sizes(objective, clean)
    moved = norms > 0
    assert moved.any()
    if name == "word_iat":  # the ball is one of α; the directions of a word may point the same way
        assert (norms <= allowed * objective.config.neighbours**0.5 + 1e-9).all()
    elif name == "attention_iat":
        assert (norms <= allowed + 1e-9).all()
    else:
        assert torch.allclose(norms[moved], allowed[moved])


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("shape", ["binary", "pair", "heads", "hierarchical"])
def test_a_perturbation_belongs_to_its_text(make: Make, name: str, shape: str) -> None:
    objective, batch = make(name, shape)
    clean = objective.read(batch)
    hilly, together = steep(clean), objective.perturbation(clean).detach()
    backwards = batch.take(torch.arange(len(batch)).flip(0))
    turned = objective.perturbation(objective.read(backwards)).flip(0)
    assert hilly.sum() >= 3 and torch.allclose(turned[hilly], together[hilly], atol=1e-9)
    for row in hilly.nonzero()[:, 0].tolist():
        width = int(batch.tokens.present[row].sum())
        one = batch.take(torch.tensor([row]))
        cut = {
            key: getattr(one.tokens, key)[:, :width]
            for key in ("ids", "mask", "present", "offsets", "word_of")
        }
        if one.tokens.sentence_of is not None:
            cut["sentence_of"] = one.tokens.sentence_of[:, :width]
        alone = objective.perturbation(objective.read(replace(one, tokens=replace(one.tokens, **cut))))[0]
        there = together[row][: alone.shape[0], : alone.shape[1]]
        assert torch.allclose(alone, there, atol=1e-9)


@pytest.mark.parametrize("weights", [None, [1.0, 3.0]], ids=["even", "weighted"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", EVERY)
def test_only_the_loss_reaches_the_parameters(
    make: Make, name: str, sparse: bool, weights: list[float] | None
) -> None:
    given = None if weights is None else torch.tensor(weights, dtype=torch.float64)
    objective, batch = make(name, weights=given, adversarial=0.5, radius=2.0)
    model = objective.model
    model.embedding.sparse = sparse
    clean = objective.read(batch)
    shift = objective.perturbation(clean).detach()
    assert all(p.grad is None for p in model.parameters())
    loss = objective.loss(batch)
    assert all(p.grad is None for p in model.parameters())
    loss.backward()  # type: ignore[no-untyped-call]
    found = {name: p.grad.to_dense().clone() for name, p in model.named_parameters()}

    model.zero_grad()
    expected = written_out(model, batch, shift, on_scores=name in ON_SCORES, weights=given)
    assert loss.item() == pytest.approx(expected.item(), abs=1e-12)
    expected.backward()  # type: ignore[no-untyped-call]
    for key, p in model.named_parameters():
        assert torch.allclose(found[key], p.grad.to_dense(), atol=1e-10), key


def written_out(
    model: AttentionModel, batch: Batch, shift: Tensor, *, on_scores: bool, weights: Tensor | None
) -> Tensor:
    """CleanPass + 0.5 · perturbed loss, the shift a constant of the input or of the scores."""
    noisy = batch if on_scores else replace(batch, tokens=batch.tokens.shifted(shift))
    states = model.encode(model.embed(noisy), noisy)
    scores = model.score(states) + (shift if on_scores else 0)
    perturbed = model.decode(states, model.normalise(scores, states.mask))
    w = 1.0 if weights is None else weights[batch.labels]
    each = [w * text_losses(logits, batch) for logits in (model(batch).logits, perturbed)]
    return (each[0] + 0.5 * each[1]).mean()


@pytest.mark.parametrize("name", EVERY)
def test_gradients_from_before_are_left_as_they_are(make: Make, name: str) -> None:
    objective, batch = make(name)
    for p in objective.model.parameters():
        p.grad = torch.full_like(p, 7.0)
    objective.loss(batch)
    assert all((p.grad == 7.0).all() for p in objective.model.parameters())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", EVERY)
def test_a_flat_loss_gives_no_perturbation_and_no_nan(make: Make, name: str, shape: str) -> None:
    objective, batch = make(name, shape)
    objective.model.decoder.output.weight.data.zero_()
    clean = objective.read(batch)
    if name in UPHILL:
        assert not objective.perturbation(clean).any()
    loss = objective.loss(batch)
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.isfinite()
    gradients = [p.grad.to_dense() for p in objective.model.parameters() if p.grad is not None]
    assert gradients and all(gradient.isfinite().all() for gradient in gradients)


@pytest.mark.parametrize("name", EVERY)
def test_frozen_words_and_texts_without_any(make: Make, name: str) -> None:
    objective, batch = make(name)
    objective.model.embedding.weight.requires_grad_(False)
    tokens = batch.tokens
    blank = torch.zeros_like(tokens.mask)
    blank[1:] = tokens.mask[1:]  # nothing is left of the first text
    loss = objective.loss(replace(batch, tokens=replace(tokens, mask=blank, present=blank)))
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.isfinite() and objective.model.embedding.weight.grad is None
    trained = [p.grad for p in objective.model.parameters() if p.requires_grad]
    assert all(g is not None and g.isfinite().all() for g in trained)


@pytest.mark.parametrize("name", EVERY)
def test_nothing_is_added_where_the_weight_is_zero(make: Make, name: str) -> None:
    objective, batch = make(name, adversarial=0.0)
    assert objective.loss(batch).item() == Vanilla(objective.model).loss(batch).item()
    assert set(type(objective).options) - {"neighbours"} == {"radius", "adversarial"}


def test_words_can_be_perturbed_without_attention(toy_classifier: Toy, toy_split: Splits) -> None:
    classifier = toy_classifier(encoder="cnn", pooling="max")
    objective = OBJECTIVES.get("word_at")(classifier.model)
    batch = classifier.instances(toy_split()).batch(np.arange(6))
    assert objective.loss(batch).item() > 2 * Vanilla(classifier.model).loss(batch).item()


def pairwise(scores: Tensor, slope: Tensor, radius: float, *, own_length: bool) -> Tensor:
    """Attention iAT of one text and head as it is written: all pairs, and α by a gradient at 0.

    `own_length` divides each item's differences by their own length, as printed; else all by the longest.
    """
    d = scores[None, :] - scores[:, None]
    lengths = d.norm(dim=1, keepdim=True)
    d = d / (lengths if own_length else lengths.max())
    alpha = torch.zeros_like(d, requires_grad=True)
    (g,) = torch.autograd.grad((slope * (alpha * d).sum(1)).sum(), alpha)
    return (radius * g / g.norm() * d).sum(1)


@settings(max_examples=30)
@given(st.integers(2, 9), st.integers(0, 10_000))
def test_iat_without_pairs_is_iat_with_all_pairs(items: int, seed: int) -> None:
    random = torch.Generator().manual_seed(seed)
    scores, slope = torch.randn(2, items, generator=random, dtype=torch.float64) * 3
    mask = torch.ones(1, 1, items + 2, dtype=torch.bool)
    mask[..., items:] = False
    padded = [nn.functional.pad(x, (0, 2), value=v)[None, None] for x, v in ((scores, 5.0), (slope, 0.0))]
    found = 0.7 * combined(padded[1], score_contrast(padded[0], mask))[0, 0]
    assert torch.allclose(found[:items], pairwise(scores, slope, 0.7, own_length=False), atol=1e-9)
    assert not found[items:].any()
    # Differences divided by their own length, as printed, are lost on the way: what comes out is attention AT.
    printed = pairwise(scores, slope, 0.7, own_length=True)
    assert torch.allclose(printed, 0.7 * slope / slope.norm(), atol=1e-9)


def test_contrast_by_hand() -> None:
    scores = torch.tensor([[[0.0, 1.0, 3.0, 50.0]]])
    mask = torch.tensor([[[True, True, True, False]]])
    # Squared differences: 1 + 9, 1 + 4, 9 + 4.
    assert torch.allclose(score_contrast(scores, mask), torch.tensor([[[10 / 13, 5 / 13, 1.0, 0.0]]]))
    assert not score_contrast(torch.full((1, 1, 4), 2.5), mask).any()  # no differences, no direction


@pytest.mark.parametrize("shape", ["binary", "many", "heads", "pair"])
def test_iat_is_neither_at_nor_its_opposite(make: Make, shape: str) -> None:
    shifts = []
    for name in ("attention_at", "attention_iat"):
        objective, batch = make(name, shape)
        shifts.append(objective.perturbation(objective.read(batch)).detach().flatten(1))
    varied = [0, 2, 3]  # texts of three words or more; two kinds of items differ from each other alike
    at, iat = (shift[varied] for shift in shifts)
    cosine = nn.functional.cosine_similarity(at, iat)
    assert (cosine > 0).all() and (cosine < 1 - 1e-4).all()


def test_random_directions_are_those_of_the_text_and_the_epoch(make: Make) -> None:
    objective, batch = make("attention_rp", "heads", radius=0.3)
    clean = objective.read(batch)

    def drawn(seed: int) -> Tensor:
        torch.manual_seed(seed)
        torch.rand(7)  # what else is drawn in an epoch does not matter
        return objective.perturbation(clean)

    assert torch.equal(drawn(3), drawn(3))
    assert not torch.allclose(drawn(3), drawn(4))
    heads = drawn(3).unbind(1)
    assert not torch.allclose(heads[0], heads[1])


def test_random_directions_are_even() -> None:
    mask = torch.ones(4000, 1, 3, dtype=torch.bool)
    found = directions(torch.arange(4000), mask, 2, seed=0).flatten(1)  # on the sphere in six dimensions
    assert torch.allclose(found.norm(dim=1), torch.ones(4000, dtype=torch.float64))
    assert found.mean(0).abs().max() < 0.03
    assert (found.T @ found / 4000 - torch.eye(6) / 6).abs().max() < 0.02


@settings(max_examples=20)
@given(st.integers(1, 4), st.integers(1, 5), st.floats(-35, 30))
def test_unit_vectors_of_any_size(a: int, b: int, exponent: float) -> None:
    vectors = torch.randn(3, a, b, generator=torch.Generator().manual_seed(a * b)) * 10.0**exponent
    vectors[1] = 0
    norms = unit(vectors).flatten(1).norm(dim=1)
    assert torch.allclose(norms, torch.tensor([1.0, 0.0, 1.0]), atol=1e-4)


@pytest.mark.parametrize("shape", ["binary", "many", "pair"])
def test_word_iat_is_what_it_says(make: Make, shape: str) -> None:
    objective, batch = make("word_iat", shape, radius=0.5)
    assert isinstance(objective, WordIAT) and objective.nearest is not None
    clean = objective.read(batch)
    found, allowed = objective.perturbation(clean), sizes(objective, clean)
    table = objective.model.embedding.weight.detach()
    for row in range(len(batch)):
        keep = batch.tokens.mask[row]
        e = clean.at.detach()[row, keep]
        d = table[objective.nearest[batch.tokens.ids[row, keep]]] - e[:, None]
        d = d / d.norm(dim=-1, keepdim=True)
        alpha = torch.zeros(d.shape[:2], dtype=torch.float64, requires_grad=True)
        one = batch.take(torch.tensor([row]))
        moved = objective.reread(
            objective.read(one),
            nn.functional.pad((alpha[..., None] * d).sum(1), (0, 0, 0, len(keep) - len(e)))[None],
        )
        (g,) = torch.autograd.grad(text_losses(moved, one).sum(), alpha)
        expected = ((allowed[row] * g / g.norm())[..., None] * d).sum(1)
        assert torch.allclose(found[row, keep], expected, atol=1e-9)


def test_directions_can_be_held_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    random = torch.Generator().manual_seed(0)
    table, slope = (torch.randn(n, 5, generator=random) for n in (40, 23))
    words = torch.arange(2, 40)
    near = nearest_words(table, words, words, 6)
    here = torch.randint(2, 40, (23,), generator=random)
    whole = towards(slope, table[here], near[here], table)
    monkeypatch.setattr(word_iat, "_NUMBERS", 70)
    assert torch.equal(nearest_words(table, words, words, 6), near)
    parts = towards(slope, table[here], near[here], table)
    assert all(torch.allclose(a, b, atol=1e-6) for a, b in zip(whole, parts, strict=True))


@settings(max_examples=20)
@given(st.integers(1, 12), st.integers(1, 15), st.integers(0, 10_000))
def test_nearest_words_by_sorting_all(words: int, neighbours: int, seed: int) -> None:
    table = torch.randn(words + 3, 4, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    known = torch.arange(1, words + 2)  # 0 and the last row are no words of the texts, 1 is no target
    targets = known[1:]
    found = nearest_words(table, known, targets, neighbours)
    count = min(neighbours, len(targets) - 1)
    assert found.shape == (len(table), max(count, 0))
    for word in known.tolist():
        cosine = {
            int(t): float(nn.functional.cosine_similarity(table[word], table[t], dim=0))
            for t in targets
            if t != word
        }
        best = sorted(cosine, key=lambda t: -cosine[t])[:count]
        assert found[word].tolist() == best
    for other in (0, words + 2):
        assert set(found[other].tolist()) <= {other}


@pytest.mark.parametrize("trained", [True, False])
def test_nearest_words_are_found_anew_in_each_epoch(make: Make, trained: bool) -> None:
    objective, batch = make("word_iat")
    assert isinstance(objective, WordIAT)
    table = objective.model.embedding.weight
    table.requires_grad_(trained)
    seen = []
    for epoch in range(2):
        objective.begin_epoch(epoch)
        for half in torch.arange(6).split(3):  # type: ignore[no-untyped-call]
            objective.loss(batch.take(half))
            seen.append(objective.nearest)
            torch.nn.init.normal_(table)
    assert seen[0] is seen[1] and seen[2] is seen[3]
    assert (seen[1] is not seen[2]) == trained
    assert trained == (not torch.equal(seen[1], seen[2]))


@pytest.mark.parametrize("name", EVERY)
def test_special_pieces_of_a_transformer_stay_where_they_are(
    bert: str, pieces: list[str], reviews: str, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Perturbed] = []
    fit = Trainer.fit
    monkeypatch.setattr(
        Trainer, "fit", lambda self, *a, **k: (kept.append(self.objective), fit(self, *a, **k))[1]
    )
    classifier = heedful.train(
        reviews, encoder=bert, objective=name, epochs=1, runs=tmp_path / "runs", progress=False
    )
    objective = kept[0]
    split = Split(["a fine film", "bad xyz"], np.array([1, 0]))
    batch = classifier.instances(split).batch(np.arange(2))
    shift = objective.perturbation(objective.read(batch)).detach()
    moved = shift.abs().sum(2 if name.startswith("word") else 1) > 0
    assert torch.equal(moved, batch.tokens.mask)
    assert batch.tokens.mask[0].tolist() == [False, True, True, True, False]
    if isinstance(objective, WordIAT):
        towards_these = {pieces[i] for i in objective.targets}
        assert towards_these == {"a", "fine", "film", "##s", "dull", "bad", "##ly", "made"}
        real = objective.nearest[objective.words]
        assert real.shape[1] == 7 and not {int(i) for i in real.flatten()} & {0, 1, 2, 3, 4}


@pytest.mark.parametrize("name", ["word_iat", "attention_rp"])
def test_an_interrupted_run_goes_on_as_if_nothing_had_happened(
    reviews: str, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {
        "objective": name,
        "epochs": 3,
        "embedding_size": 8,
        "hidden": 4,
        "learning_rate": 0.05,
        "patience": None,
        "progress": False,
    }
    whole = heedful.train(reviews, runs=tmp_path / "whole", **options)
    end_epoch = Trainer.end_epoch

    def mortal(self: Trainer, epoch: int, *rest: object) -> None:
        end_epoch(self, epoch, *rest)  # type: ignore[arg-type]
        if epoch == 0:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "end_epoch", mortal)
        with pytest.raises(KeyboardInterrupt):
            heedful.train(reviews, runs=tmp_path / "cut", **options)
    again = heedful.train(reviews, runs=tmp_path / "cut", **options)
    files = [(run / "model.safetensors").read_bytes() for run in (whole.run, again.run)]
    assert files[0] == files[1]


def test_every_objective_is_listed_with_what_it_does() -> None:
    assert set(EVERY) <= set(OBJECTIVES)
    assert all(issubclass(OBJECTIVES.get(name), Objective) for name in EVERY)
    assert all("radius" in OBJECTIVES.get(name).options for name in EVERY)
