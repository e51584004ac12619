"""Certified training: its bound holds for every combination of substitutes, and training makes it tight."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import torch

import heedful
from heedful.config import ObjectiveOptions
from heedful.declared import complete
from heedful.errors import BadInput
from heedful.measures.erasure import classes as per_class
from heedful.models.worst_logits import boxes_of, can_be_bounded, worst_logits
from heedful.training.objectives.certified import Certified, choices_of

TEXTS = ["a fine film", "dull", "the plot is thin", "warm"]
SHAPES = [
    {"encoder": "cnn", "pooling": "max", "widths": (2, 3)},
    {"encoder": "cnn", "pooling": "mean", "activation": "tanh"},
    {"encoder": "average", "pooling": "max"},
    {"encoder": "average", "pooling": "mean", "classes": 3},
    {"encoder": "none", "pooling": "max", "classes": 4},
]


@pytest.fixture
def synonyms(tmp_path: Path) -> Path:
    path = tmp_path / "synonyms.txt"
    path.write_text(
        "fine warm wonderful\nfilm script\ndull thin\nplot film acting\nthin dull\nwarm fine\n",
        encoding="utf-8",
    )
    return path


def readings(classifier, batch, choices):
    """Logits of every combination of substitutes, for each text by itself."""
    found = []
    for row in range(len(batch)):
        one = batch.take(torch.tensor([row]))
        real = one.tokens.mask[0]
        options = [choices[i].unique().tolist() if there else [int(i)] for i, there in zip(one.tokens.ids[0], real, strict=True)]  # fmt: skip
        logits = []
        for ids in product(*options):
            tokens = replace(one.tokens, ids=torch.tensor([ids]))
            logits.append(per_class(classifier.model(replace(one, tokens=tokens)).logits)[0])
        found.append(torch.stack(logits))
    return found


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "-".join(map(str, s.values())))
def test_no_combination_of_substitutes_is_worse_than_the_bound(toy_classifier, synonyms, shape):
    classifier = toy_classifier(seed=2, **shape)
    assert can_be_bounded(classifier.model)
    batch = classifier.batch(TEXTS)
    labels = torch.arange(len(TEXTS)) % shape.get("classes", 2)
    batch = replace(batch, labels=labels)
    choices = choices_of(classifier.vocabulary, str(synonyms))
    with torch.no_grad():
        worst = per_class(worst_logits(classifier.model, batch, boxes_of(classifier.model, batch.tokens.ids, choices, share=1.0)))  # fmt: skip
        alone = per_class(worst_logits(classifier.model, batch, boxes_of(classifier.model, batch.tokens.ids, choices, share=0.0)))  # fmt: skip
        own = per_class(classifier.model(batch).logits)
        tried = readings(classifier, batch, choices)
    moved = False
    for row, label in enumerate(labels.tolist()):
        bound = worst[row] - worst[row, label]
        leads = tried[row] - tried[row][:, [label]]
        assert (leads <= bound + 1e-6).all()
        moved |= bool((leads.amax(0) > own[row] - own[row, label] + 1e-6).any())
        # A box of one point says what the model says.
        assert alone[row] - alone[row, label] == pytest.approx(own[row] - own[row, label], abs=1e-5)
    assert moved  # substitutes matter to this model


def test_neither_padding_nor_companions_change_the_bound(toy_classifier, synonyms):
    classifier = toy_classifier(seed=2, encoder="cnn", pooling="max")
    choices = choices_of(classifier.vocabulary, str(synonyms))

    def bound(batch):
        with torch.no_grad():
            return worst_logits(classifier.model, batch, boxes_of(classifier.model, batch.tokens.ids, choices, share=1.0))  # fmt: skip

    together = bound(classifier.batch(TEXTS))
    alone = torch.cat([bound(classifier.batch([text])) for text in TEXTS])
    assert together.numpy() == pytest.approx(alone.numpy(), abs=1e-6)


def test_words_have_the_substitutes_of_the_file_and_themselves_first(toy_classifier, synonyms):
    vocabulary = toy_classifier(encoder="none").vocabulary
    choices = choices_of(vocabulary, str(synonyms))
    ids = {word: place for place, word in enumerate(vocabulary.words)}
    assert choices[:, 0].tolist() == list(range(len(vocabulary)))
    assert set(choices[ids["fine"]].tolist()) == {ids["fine"], ids["warm"], ids["wonderful"]}
    assert set(choices[ids["wonderful"]].tolist()) == {ids["wonderful"]}
    assert set(choices[0].tolist()) == {0}


def test_boxes_and_their_share_of_the_loss_grow(toy_classifier, synonyms, tmp_path: Path):
    base = toy_classifier(encoder="cnn", pooling="max", seed=3)
    base.save_pretrained(tmp_path / "base")
    model = toy_classifier(encoder="cnn", pooling="max").model
    config = complete(ObjectiveOptions)(base=str(tmp_path / "base"), substitutes=str(synonyms), certainty=0.5)
    objective = Certified(model, config=config)
    objective.prepare({})
    batch = base.batch(TEXTS)
    clean = float(objective.cross_entropy(model(batch).logits, batch).detach())
    losses = []
    for epoch in (0, 4, 9, 19):
        objective.begin_epoch(epoch)
        losses.append(float(objective.loss(batch).detach()))
        means = objective.epoch_means()
        share = objective.grown * 0.5
        assert losses[-1] == pytest.approx((1 - share) * means["surprise"] + share * means["worst"], abs=1e-6)
        assert means["surprise"] == pytest.approx(clean, abs=1e-6)
    assert clean < losses[0] < losses[1] < losses[2] == losses[3]
    objective.loss(batch).backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for n, p in model.named_parameters() if "bias" not in n)  # fmt: skip


def test_training_makes_texts_certain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("heedful.attacks.published.pwws.nltk_stop_words", frozenset)
    good, bad, rest = (
        ["good", "great", "fine"],
        ["bad", "poor", "awful"],
        ["film", "plot", "cast", "scene", "tale"],
    )
    rows = [f"{a} {w} {b},{label}" for a in rest for b in rest for words, label in ((good, "pos"), (bad, "neg")) for w in words]  # fmt: skip
    data, listed = tmp_path / "films.csv", tmp_path / "synonyms.txt"
    data.write_text("text,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    # Substitutes that never change a label, but are far from each other where embeddings are drawn at random.
    groups = [good, bad, rest[:3]]
    listed.write_text("\n".join(" ".join([w, *(o for o in g if o != w)]) for g in groups for w in g) + "\n", encoding="utf-8")  # fmt: skip
    shape = {"encoder": "average", "pooling": "max", "hidden": 8, "embedding_size": 8, "learning_rate": 0.02}
    certain = {}
    for objective, more in (("vanilla", {}), ("certified", {"substitutes": str(listed)})):
        model = heedful.train(str(data), runs=tmp_path / "runs", objective=objective, epochs=12, progress=False, **shape, **more)  # fmt: skip
        found = heedful.audit(
            model, str(data), only=["robustness"], attacks=("pwws",), attack_synonyms=str(listed),
            source="gradient", progress=False,
        ).to_frame("robustness")  # fmt: skip
        assert found["accuracy"].mean() == 1
        certain[objective] = found["certified"].mean()
    assert certain["certified"] > 0.95 > certain["vanilla"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"encoder": "lstm", "pooling": "max"}, "needs bounds of all states"),
        ({"encoder": "cnn"}, "needs bounds of all states"),
        ({"encoder": "cnn", "pooling": "max"}, "give --substitutes FILE"),
        ({"encoder": "cnn", "pooling": "max", "substitutes": "nowhere.txt"}, "no file nowhere.txt"),
    ],
)
def test_what_cannot_be_bounded_is_refused_before_anything_is_written(tmp_path: Path, options, sentence):
    data = tmp_path / "films.csv"
    rows = [f"{w} film {n},{label}\n" for n in range(20) for w, label in (("good", "pos"), ("bad", "neg"))]
    data.write_text("text,label\n" + "".join(rows), encoding="utf-8")
    with pytest.raises(BadInput, match=sentence):
        heedful.train(str(data), runs=tmp_path / "runs", objective="certified", progress=False, **options)
    assert not (tmp_path / "runs").exists()
