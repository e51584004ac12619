"""Augmented and flat: what they minimise, term by term, and the faults of the published code that they have not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import heedful
from heedful.config import ObjectiveOptions
from heedful.data.attacked import AttackedTexts
from heedful.data.corpus import Split
from heedful.data.instances import Instances
from heedful.data.words.substitution import Change
from heedful.declared import complete
from heedful.errors import BadInput
from heedful.models.classifier import Classifier
from heedful.models.word_mask import entropy
from heedful.training.objectives.augmented import Augmented, begin_as
from heedful.training.objectives.flat import Flat
from heedful.training.pairs import Pairs
from heedful.training.train import resolve

TEXTS = ["a fine film", "dull", "wonderful acting and a warm, funny script", "the plot is thin"]
OTHERS = ["a warm film", "dull", "wonderful acting and a old, fine script", "the plot is is"]
CHANGES = [
    [Change((2, 6), (2, 6))],
    [],
    [Change((23, 27), (23, 26)), Change((29, 34), (28, 32))],
    [Change((12, 16), (12, 14))],
]
SHAPES = [
    {"encoder": "lstm", "pooling": "max"},
    {"encoder": "cnn", "pooling": "max", "widths": (3, 4, 5)},
    {"encoder": "bilstm"},
    {"encoder": "average"},
    {"encoder": "none"},
    {"encoder": "pointer"},
    {"encoder": "bigru", "hierarchical": True},
    {"encoder": "gru", "classes": 3},
]


def split_of(classes: int = 2) -> Split:
    return Split(list(TEXTS), np.arange(4) % classes)


def attacked(rows=(0, 1, 2, 3), classes: int = 2, same: bool = False) -> AttackedTexts:
    statuses = ["successful", "skipped", "failed", "successful"]
    return AttackedTexts(
        rows=np.array(rows),
        originals=[TEXTS[i] for i in rows],
        attacked=[(TEXTS if same else OTHERS)[i] for i in rows],
        labels=np.array([i % classes for i in rows]),
        statuses=[statuses[i] for i in rows],
        changes=[[Change(c.before, c.before) for c in CHANGES[i]] if same else CHANGES[i] for i in rows],
    )


def spread(classifier: Classifier) -> Classifier:
    """Make masks that differ from word to word."""
    with torch.no_grad():
        classifier.model.word_mask.output.weight *= 5
    return classifier


def made(kind, toy, folder: Path, texts: AttackedTexts | None = None, shape=None, **options):
    """An objective over an untrained base and attacked texts, in training mode."""
    shape = {"word_mask": "word" if kind is Flat else "none", **(shape or {})}
    classes = shape.get("classes", 2)
    base = toy(**shape)
    (spread(base) if kind is Flat else base).save_pretrained(folder / "base")
    (texts or attacked(classes=classes)).write(folder / "texts.parquet")
    given = {"base": str(folder / "base"), "attacked": str(folder / "texts.parquet"), **options}
    classifier = toy(seed=1, **shape)
    objective = kind(classifier.model, config=complete(ObjectiveOptions)(**given))
    objective.prepare({"train": (instances := classifier.instances(split_of(classes)))})
    classifier.model.train()
    return objective, classifier, instances


def still(model) -> None:
    """Draw nothing: neither dropout nor masks."""
    model.eval()


def test_augmented_is_the_sum_of_both_cross_entropies(toy_classifier, tmp_path):
    objective, classifier, instances = made(Augmented, toy_classifier, tmp_path)
    still(classifier.model)
    batch, others = instances.batch(np.arange(4)), classifier.batch(OTHERS)
    expected = sum(
        torch.nn.functional.binary_cross_entropy_with_logits(
            classifier.model(b).logits[:, 0], torch.tensor([0.0, 1, 0, 1])
        )
        for b in (batch, others)
    )
    torch.testing.assert_close(objective.loss(batch), expected)


def test_it_begins_as_the_attacked_model_is_and_keeps_the_texts(toy_classifier, tmp_path):
    objective, classifier, _ = made(Augmented, toy_classifier, tmp_path)
    base = Classifier.from_pretrained(tmp_path / "base")
    state = base.model.state_dict()
    assert all(torch.equal(tensor, state[name]) for name, tensor in classifier.model.state_dict().items())
    objective.keep(tmp_path)
    assert AttackedTexts.read(tmp_path / "attacked.parquet").attacked == OTHERS
    assert objective.notes == ["Trained on 4 attacked texts besides: 2 successful, 1 failed, 1 skipped."]


def test_means_are_over_all_attacked_texts_whatever_batch_they_come_in(toy_classifier, tmp_path):
    """Of batches of one size, the mean of losses is Equation 2 or 1, also where few texts were attacked."""
    for kind in (Augmented, Flat):
        objective, classifier, instances = made(kind, toy_classifier, tmp_path, attacked(rows=(2,)))
        still(classifier.model)
        whole = objective.loss(instances.batch(np.arange(4)))
        halves = [objective.loss(instances.batch(np.array(rows))) for rows in ([0, 3], [1, 2])]
        torch.testing.assert_close(torch.stack(halves).mean(), whole)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "-".join(map(str, s.values())))
def test_flat_is_equations_one_to_four(shape, toy_classifier, tmp_path):
    objective, classifier, instances = made(Flat, toy_classifier, tmp_path, shape=shape, beta=0.3, gamma=0.7)
    model, batch = classifier.model, instances.batch(np.arange(4))
    still(model)
    others = classifier.batch(OTHERS)
    total = torch.zeros(())
    for part, texts in ((batch, TEXTS), (others, OTHERS)):
        total = total + objective.cross_entropy(model(part).logits, batch)
        for text in texts:
            p = model.importance(classifier.batch([text]))[0]  # alone: no padding
            total = total + 0.3 * (p * p.log() + (1 - p) * (1 - p).log()).mean() / 4
    phi = {
        w: model.importance(classifier.batch([w]))[0, 0]
        for w in ["fine", "warm", "old", "funny", "thin", "is"]
    }
    pairs = [("fine", "warm"), ("warm", "old"), ("funny", "fine"), ("thin", "is")]
    gap = sum((phi[a] - phi[b]).abs() for a, b in pairs) / 4
    torch.testing.assert_close(objective.loss(batch), total + 0.7 * gap)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "-".join(map(str, s.values())))
def test_the_gap_has_a_gradient_and_is_zero_for_the_same_text_even_with_dropout(
    shape, toy_classifier, tmp_path
):
    shape = {**shape, "embedding_dropout": 0.5, "decoder_dropout": 0.5}
    objective, classifier, instances = made(Flat, toy_classifier, tmp_path, shape=shape)
    gap = objective.compare(objective.pairs.of(instances.batch(np.arange(4))))["gap"]
    parts = {"mask": classifier.model.word_mask.inner.weight, "words": classifier.model.embedding.weight}
    for name, gradient in zip(parts, torch.autograd.grad(gap, list(parts.values())), strict=True):
        assert gradient.abs().max() > 0, name
    objective, _, instances = made(
        Flat, toy_classifier, tmp_path, attacked(same=True, classes=shape.get("classes", 2)), shape
    )
    assert objective.compare(objective.pairs.of(instances.batch(np.arange(4))))["gap"] == 0


def test_gap_and_entropy_ignore_padding_and_companions(toy_classifier, tmp_path):
    objective, classifier, instances = made(Flat, toy_classifier, tmp_path)
    with torch.no_grad():
        classifier.model.embedding.weight[0] = 7.0  # padding, were it read

    def terms(rows):
        pair = objective.pairs.of(instances.batch(np.array(rows)))
        read = [objective._entropy(batch) for batch in (pair.original, pair.attacked)]
        return torch.stack([objective.compare(pair)["gap"], *read])

    alone = torch.stack([terms([row]) for row in range(4)]).mean(0)
    torch.testing.assert_close(terms([0, 1, 2, 3]), alone)


def test_entropy_is_of_words_alone(toy_classifier, tmp_path):
    objective, classifier, instances = made(Flat, toy_classifier, tmp_path)
    masks = classifier.model.word_mask
    batch = instances.batch(np.array([1]))  # "dull"
    expected = entropy(masks.logits(classifier.model.unmasked(batch.tokens.ids)))[0, 0]
    padded = instances.batch(np.array([1, 2])).take(torch.tensor([0]))
    torch.testing.assert_close(objective._entropy(padded), expected)


def test_the_words_replaced_are_found_by_offsets(toy_classifier, tmp_path):
    objective, _, instances = made(Flat, toy_classifier, tmp_path)
    pair = objective.pairs.of(instances.batch(np.array([3, 2, 0])))
    found = [
        (pair.original.tokens.words[of][a], pair.attacked.tokens.words[of][b])
        for of, (a, b) in zip(pair.of.tolist(), pair.words.tolist(), strict=True)
    ]
    assert found == [("thin", "is"), ("warm", "old"), ("funny", "fine"), ("fine", "warm")]


def test_the_gap_of_a_stretch_is_that_of_its_means(toy_classifier):
    """One word became two, and two became one: their numbers are averaged."""
    classifier = toy_classifier(encoder="average")
    texts, others = ["a fine film", "old warm plot"], ["a warm old film", "fine plot"]
    changes = [[Change((2, 6), (2, 10))], [Change((0, 8), (0, 4))]]
    labels = np.zeros(2, dtype=np.int64)
    train = Instances.encode(Split(texts, labels), classifier.vocabulary, classes=2)
    attacked = AttackedTexts(np.arange(2), texts, others, labels, ["failed"] * 2, changes)
    pair = Pairs(train, attacked, classifier.vocabulary).of(train.batch(np.arange(2)))
    before = torch.tensor([[0.1, 0.9, 0.3], [0.2, 0.6, 0.5]])
    after = torch.tensor([[0.1, 0.4, 0.8, 0.3], [0.9, 0.7, 0.0, 0.0]])
    torch.testing.assert_close(pair.gap(before, after), torch.tensor([0.9 - 0.6, 0.9 - 0.4]))


def test_the_base_may_have_no_masks_yet_and_must_else_be_alike(toy_classifier):
    base, masked = toy_classifier().model, toy_classifier(seed=1, word_mask="word").model
    drawn = masked.word_mask.inner.weight.clone()
    begin_as(masked, base, name="base")
    assert torch.equal(masked.embedding.weight, base.embedding.weight)
    assert torch.equal(masked.word_mask.inner.weight, drawn)
    for ours, theirs in (({"hidden": 4}, {}), ({}, {"word_mask": "word"})):
        with pytest.raises(BadInput, match="another shape"):
            begin_as(toy_classifier(**ours).model, toy_classifier(**theirs).model, name="base")


@pytest.mark.parametrize(
    "given, said",
    [
        ({"objective": "augmented"}, "name the model's run with --base and the texts with --attacked"),
        ({"objective": "flat", "attacked": "x.parquet"}, "with --base"),
        ({"objective": "flat", "word_mask": "none"}, "learns word masks: use --word-mask word, not none"),
        ({"objective": "vanilla", "beta": 0.2}, "vanilla does not read --beta: .*does .flat."),
        ({"objective": "flat", "beta": -1}, "beta"),
        ({"word_mask": "group"}, "give --word-mask group and --mask-vectors together"),
    ],
)
def test_what_cannot_be_trained_is_refused(given, said, tmp_path):
    with pytest.raises(BadInput, match=said):
        heedful.train("mock_1", limit=20, runs=tmp_path, progress=False, **given)


@pytest.mark.parametrize(
    "spoil",
    [
        {"rows": np.array([3, 2, 1, 0])},
        {"rows": np.array([0, 1, 2, 9])},
        {"rows": np.array([0, 1, 2, 2])},
        {"labels": np.array([1, 1, 1, 1])},
    ],
)
def test_attacked_texts_of_another_corpus_are_refused(spoil, toy_classifier):
    classifier = toy_classifier()
    instances: Instances = classifier.instances(split_of())
    with pytest.raises(BadInput, match="attack the texts of the same dataset"):
        Pairs(instances, replace(attacked(), **spoil), classifier.vocabulary)


def test_masks_and_coefficients_have_the_papers_values_unless_told_otherwise():
    config = resolve({"dataset": "mock_1", "objective": "flat"})
    assert (config.word_mask, config.beta, config.gamma) == ("word", 0.1, 0.001)
    assert resolve({"dataset": "mock_1", "objective": "flat", "beta": 0.0}).beta == 0
    assert resolve({"dataset": "mock_1"}).word_mask == "none"


def test_of_a_transformer_the_gap_has_a_gradient_too(bert, reviews, tmp_path):
    """The published regulariser has none for BERT and DeBERTa."""
    options = {"encoder": bert, "epochs": 1, "batch_size": 16, "runs": tmp_path / "runs", "progress": False}
    base = heedful.train(reviews, **options, word_mask="word")
    corpus = Split(["a fine film", "films made badly"], np.array([1, 0]))
    attacked_texts = AttackedTexts(
        np.array([0, 1]), corpus.texts, ["a badly film", "fine made badly"], corpus.labels, ["failed"] * 2,
        [[Change((2, 6), (2, 7))], [Change((0, 5), (0, 4))]],
    )  # fmt: skip
    instances = base.instances(corpus)
    pairs = Pairs(instances, attacked_texts, base.vocabulary)
    model = base.model.train()
    pair = pairs.of(instances.batch(np.arange(2)))
    before, after = (model.importance(b) for b in (pair.original, pair.attacked))
    gap = pair.gap(before, after)
    numbers = dict(
        zip(
            [w for row in pair.original.tokens.words for w in row],
            before[pair.original.tokens.mask],
            strict=False,
        )
    )
    badly = after[0, 2:4].mean()  # bad ##ly
    torch.testing.assert_close(gap[0], (numbers["fine"] - badly).abs())
    table = model.table.weight
    gradients = torch.autograd.grad(gap.sum(), [table, *model.word_mask.parameters()], allow_unused=True)
    assert gradients[0].abs().max() > 0
    assert gradients[1].abs().max() > 0


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    """One word of each text decides; the others are chatter."""
    path = tmp_path_factory.mktemp("data") / "evidence.csv"
    random = np.random.default_rng(0)
    chatter = ["so", "it", "was", "there", "and", "here", "now", "then"]
    words = {0: ["awful", "dull"], 1: ["superb", "fine"]}
    rows = []
    for i in range(300):
        text = [*random.choice(chatter, 5), random.choice(words[i % 2])]
        random.shuffle(text)
        rows.append(f"{' '.join(text)},{i % 2}")
    path.write_text("text,label\n" + "\n".join(rows))
    return path


def test_without_entropy_masks_of_what_counts_go_to_one_and_with_it_chatter_is_undecided(evidence, tmp_path):
    """The paper's observation on β = 0, and what its entropy is for."""
    options = {
        "encoder": "lstm", "pooling": "max", "hidden": 16, "embedding_size": 16, "epochs": 25, "patience": None,
        "learning_rate": 1e-2, "runs": tmp_path, "progress": False, "objective": "flat",
        "embedding_dropout": 0.0, "decoder_dropout": 0.0, "weight_decay": 0.0,
    }  # fmt: skip

    def importance(beta):
        model = heedful.train(str(evidence), beta=beta, **options)
        found = heedful.explain(
            model, ["awful dull superb fine", "so it was there and here now then"], "word_mask"
        )
        return [np.mean([item.weight for item in p.items]) for p in found], model

    (counts, _), free = importance(0.0)
    assert counts > 0.95
    (counts, chatter), model = importance(0.5)
    assert counts > 0.9
    assert 0.35 < chatter < 0.65
    assert model.run != free.run
    again = heedful.load(model.run)
    batch = again.batch(["so it was awful"])
    assert torch.equal(again.model.importance(batch), model.model.importance(batch))


def test_similar_words_share_a_mask(evidence, tmp_path):
    vectors = tmp_path / "vectors.txt"
    near = {"awful": 1, "dull": 1.1, "superb": -1, "fine": -1.1, "so": 5, "it": 5.1}
    vectors.write_text("".join(f"{word} {x} {x}\n" for word, x in near.items()))
    options = {
        "encoder": "cnn",
        "pooling": "max",
        "hidden": 4,
        "embedding_size": 6,
        "epochs": 1,
        "runs": tmp_path,
        "progress": False,
    }
    options |= {"word_mask": "group", "mask_vectors": str(vectors), "learning_rate": 1e-2}
    model = heedful.train(str(evidence), mask_groups=3, **options)
    groups = dict(zip(model.vocabulary.words, model.model.word_mask.groups.tolist(), strict=True))
    assert groups["awful"] == groups["dull"] != groups["superb"] == groups["fine"]
    assert {groups["then"], groups["was"], groups["<unk>"]} == {0}
    values = model.model.word_mask.values
    assert len(values) == 4
    assert not torch.equal(values, torch.ones(4))  # 1 at first, and learnt
    with pytest.raises(BadInput, match="fewer than 7 groups"):
        heedful.train(str(evidence), mask_groups=7, **options)
