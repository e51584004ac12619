"""What substitutes can do, against every combination of them read by the model itself."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch

from heedful.data.corpus import Split
from heedful.data.tokens import Tokens
from heedful.data.words.substitution import words_of
from heedful.models.altered import Displaced
from heedful.models.shorter import robustness
from heedful.models.stages import output_of

EXACT = [
    {"encoder": "none"},
    {"encoder": "none", "attention": "dot", "temperature": 0.3},
    {"encoder": "average"},
    {"encoder": "average", "activation": "tanh", "attention": "dot"},
    {"encoder": "none", "pooling": "mean"},
    {"encoder": "average", "pooling": "mean"},
    {"encoder": "average", "pooling": "last"},
]
BOUNDED = [
    {"encoder": "none", "heads": 2},
    {"encoder": "average", "heads": 3, "attention": "dot"},
    {"encoder": "none", "pooling": "max"},
    {"encoder": "average", "pooling": "max", "activation": "tanh"},
    {"encoder": "average", "decoder": "mlp"},
    {"encoder": "none", "decoder": "mlp", "pooling": "mean"},
    {"encoder": "average", "decoder": "mlp", "heads": 2},
    {"encoder": "cnn"},
    {"encoder": "cnn", "attention": "dot", "heads": 2, "activation": "tanh"},
    {"encoder": "cnn", "pooling": "max", "widths": (1, 2, 4)},
    {"encoder": "cnn", "pooling": "mean", "widths": (3, 5)},
    {"encoder": "cnn", "pooling": "last", "widths": (2,)},
    {"encoder": "cnn", "decoder": "mlp"},
    {"encoder": "cnn", "decoder": "mlp", "pooling": "max", "activation": "tanh", "widths": (9,)},
]
NEITHER = [
    {"encoder": "bilstm"},
    {"encoder": "pointer"},
    {"encoder": "none", "normaliser": "sparsemax"},
    {"encoder": "cnn", "normaliser": "entmax15"},
    {"encoder": "none", "hierarchical": True, "sentence_encoder": "average"},
    {"encoder": "lstm", "pooling": "last"},
]
TASKS = [{"classes": 2}, {"classes": 3}, {"classes": 3, "query": True}]
TEXTS = ["dull", "a fine film", "the plot is thin", "wonderful acting zzz", "great great"]
QUERIES = ["is it good?", "is it?", "who left early?", "what is warm", "eh"]

SHAPE = {"ids": lambda shape: "-".join(map(str, shape.values()))}
of_task = pytest.mark.parametrize("task", TASKS, ids=["binary", "many", "pair"])


def _case(toy_classifier, shape, task, *, seed=0, scale=4.0, pieces=1, texts=TEXTS):
    """A model in double precision whose weights are large enough to decide this way and that, texts, and substitutes."""
    classifier = toy_classifier(**shape, **task, seed=seed)
    model = classifier.model.exact()
    with torch.no_grad():
        model.embedding.weight.mul_(0.6)
        for parameter in model.decoder.parameters():
            parameter.mul_(scale)
    labels = np.zeros(len(texts), dtype=np.int64)
    queries = QUERIES[: len(texts)] if task.get("query") else None
    batch = classifier.instances(Split(list(texts), labels, queries)).batch(np.arange(len(texts)))
    draw = np.random.default_rng(seed)
    substitutes = [
        [
            [
                draw.integers(1, len(classifier.vocabulary), size=draw.integers(1, pieces + 1)).tolist()
                for _ in range(draw.integers(0, 3))
            ]
            for _ in range(count)
        ]
        for count in (words_of(batch.tokens).amax(1) + 1).tolist()
    ]
    return model, batch, substitutes


def _read(model, batch, row, texts):
    """What a model decides on token lists, in the place of one text of a batch."""
    size = max(1, *(len(ids) for ids in texts))
    ids = torch.tensor([[*text, *[0] * (size - len(text))] for text in texts])
    real = torch.arange(size)[None] < torch.tensor([len(text) for text in texts])[:, None]
    tokens = Tokens(
        texts=[""] * len(texts),
        ids=ids,
        mask=real,
        present=real,
        offsets=torch.zeros(*ids.shape, 2, dtype=torch.long),
        word_of=torch.where(real, torch.arange(size), -1),
    )
    again = batch.take(torch.full((len(texts),), row))
    with torch.no_grad():
        logits = output_of(model, replace(again, tokens=tokens)).logits
    return (logits[:, 0] > 0).long() if logits.shape[1] == 1 else logits.argmax(1)


def _brute_force(model, batch, substitutes, row):
    """Decision, fewest substitutions that change it, and all texts by what was chosen."""
    tokens = batch.tokens
    own = [[number] for number in tokens.ids[row][tokens.mask[row]].tolist()]
    places = [[word, *others] for word, others in zip(own, substitutes[row], strict=True)]
    choices = list(product(*(range(len(options)) for options in places)))
    texts = [[n for w, o in enumerate(choice) for n in places[w][o]] for choice in choices]
    decided = _read(model, batch, row, texts)
    counts = torch.tensor([float(sum(o > 0 for o in choice)) for choice in choices])
    flips = decided != decided[0]
    fewest = counts[flips].min().item() if flips.any() else torch.inf
    return decided[0].item(), fewest, dict(zip(choices, decided.tolist(), strict=True))


@of_task
@pytest.mark.parametrize("shape", EXACT, **SHAPE)
@pytest.mark.parametrize("pieces", [1, 3])
def test_the_fewest_substitutions_are_those_of_brute_force(shape, task, pieces, toy_classifier):
    numbers = set()
    for seed in range(6):
        model, batch, substitutes = _case(toy_classifier, shape, task, seed=seed, pieces=pieces)
        found = robustness(model, batch, substitutes)
        for row in range(len(batch)):
            decided, fewest, texts = _brute_force(model, batch, substitutes, row)
            assert found.decided[row].item() == decided
            assert found.smallest[row].item() == fewest
            assert found.certified[row].item() == (fewest == torch.inf)
            numbers.add(fewest)
            witness = found.witnesses[row]
            assert len(witness) == (0 if fewest == torch.inf else fewest)
            if witness:
                choice = tuple(witness.get(w, -1) + 1 for w in range(len(substitutes[row])))
                assert texts[choice] != decided
    assert {1, torch.inf} <= numbers


@of_task
@pytest.mark.parametrize("shape", BOUNDED, **SHAPE)
def test_what_is_certified_no_combination_changes(shape, task, toy_classifier):
    certified = robust = 0
    pieces = 1 if shape["encoder"] == "cnn" else 2
    for seed in range(6):
        model, batch, substitutes = _case(toy_classifier, shape, task, seed=seed, pieces=pieces)
        found = robustness(model, batch, substitutes)
        assert found.smallest is None and found.covered.all()
        for row in range(len(batch)):
            decided, fewest, _ = _brute_force(model, batch, substitutes, row)
            assert found.decided[row].item() == decided
            assert not (found.certified[row] and fewest < torch.inf)
            certified += found.certified[row].item()
            robust += fewest == torch.inf
    assert 0 < certified <= robust < 30


@pytest.mark.parametrize("shape", EXACT + BOUNDED, **SHAPE)
def test_without_substitutes_every_text_is_certified(shape, toy_classifier):
    model, batch, substitutes = _case(toy_classifier, shape, TASKS[1])
    found = robustness(model, batch, [[[] for _ in words] for words in substitutes])
    assert found.certified.all()
    if found.smallest is not None:
        assert found.smallest.isinf().all()
        assert found.witnesses == [{}] * len(batch)


@of_task
@pytest.mark.parametrize("shape", EXACT + BOUNDED, **SHAPE)
def test_companions_padding_and_order_do_not_matter(shape, task, toy_classifier):
    model, batch, substitutes = _case(toy_classifier, shape, task, seed=3)
    together = robustness(model, batch, substitutes)
    turned = robustness(model, batch.take(torch.arange(len(batch)).flip(0)), substitutes[::-1])
    assert torch.equal(together.certified, turned.certified.flip(0))
    for row in range(len(batch)):
        tokens = batch.take(torch.tensor([row]))
        length = int(tokens.tokens.mask.sum())
        cut = {
            name: getattr(tokens.tokens, name)[:, :length]
            for name in ("ids", "mask", "present", "offsets", "word_of")
        }
        alone = robustness(model, replace(tokens, tokens=replace(tokens.tokens, **cut)), [substitutes[row]])
        assert torch.equal(alone.certified[0], together.certified[row])
        if together.smallest is not None:
            assert torch.equal(alone.smallest[0], together.smallest[row])
            assert alone.witnesses[0] == together.witnesses[row]


@pytest.mark.parametrize("shape", EXACT + BOUNDED, **SHAPE)
def test_more_substitutes_never_make_a_text_more_robust(shape, toy_classifier):
    for seed in range(4):
        model, batch, substitutes = _case(toy_classifier, shape, TASKS[0], seed=seed)
        fewer = [[options[:1] for options in words] for words in substitutes]
        few, many = (robustness(model, batch, given) for given in (fewer, substitutes))
        assert (many.certified <= few.certified).all()
        if few.smallest is not None:
            assert (many.smallest <= few.smallest).all()


@pytest.mark.parametrize("shape", NEITHER, **SHAPE)
def test_models_that_cannot_be_told_say_so(shape, toy_classifier, toy_split):
    classifier = toy_classifier(**shape)
    batch = classifier.instances(toy_split()).batch(np.arange(6))
    counts = (words_of(batch.tokens).amax(1) + 1).tolist()
    assert robustness(classifier.model, batch, [[[]] * count for count in counts]) is None


def test_so_do_models_of_another_make_and_altered_ones(toy_classifier, foreign):
    model, batch, substitutes = _case(toy_classifier, {"encoder": "none", "attention": "dot"}, TASKS[0])
    assert (
        robustness(foreign(toy_classifier(encoder="none", attention="dot")).model, batch, substitutes) is None
    )
    noisy = replace(batch, tokens=batch.tokens.shifted(torch.zeros(*batch.tokens.ids.shape, 6)))
    assert robustness(model, noisy, substitutes) is None
    model.attention = Displaced(model.attention)
    assert robustness(model, batch, substitutes) is None


def test_single_precision_is_asked_in_double(toy_classifier):
    model, batch, substitutes = _case(toy_classifier, {"encoder": "average"}, TASKS[0])
    single = model.float()
    found = robustness(single, batch, substitutes)
    assert single.dtype == torch.float32
    assert torch.equal(found.smallest, robustness(single.exact(), batch, substitutes).smallest)


def test_a_convolution_does_not_cover_substitutes_of_several_tokens(toy_classifier):
    model, batch, _ = _case(toy_classifier, {"encoder": "cnn", "pooling": "max"}, TASKS[0])
    nothing = [[[] for _ in range(count)] for count in (words_of(batch.tokens).amax(1) + 1).tolist()]
    nothing[1][2] = [[3], [4, 5]]
    found = robustness(model, batch, nothing)
    assert found.covered.tolist() == found.certified.tolist() == [True, False, True, True, True]


def test_a_deletion_is_not_covered(toy_classifier):
    model, batch, substitutes = _case(toy_classifier, {"encoder": "none"}, TASKS[0])
    substitutes[0][0] = [[]]
    found = robustness(model, batch, substitutes)
    assert not found.covered[0] and not found.certified[0] and found.smallest[0].isnan()
    assert found.covered[1:].all()


def test_classes_that_are_no_candidates_are_no_rivals(toy_classifier):
    for shape in ({"encoder": "none"}, {"encoder": "none", "heads": 2}, {"encoder": "cnn"}):
        some = 0
        for seed in range(6):
            model, batch, substitutes = _case(toy_classifier, shape, TASKS[2], seed=seed)
            allowed = torch.tensor([[True, False, True]]).expand(len(batch), -1)
            batch = replace(batch, candidates=allowed)
            found = robustness(model, batch, substitutes)
            for row in range(len(batch)):
                decided, fewest, _ = _brute_force(model, batch, substitutes, row)
                assert found.decided[row] == decided != 1
                if found.smallest is not None:
                    assert found.smallest[row] == fewest
                assert not (found.certified[row] and fewest < torch.inf)
            some += int(found.certified.sum())
        assert some


@pytest.mark.parametrize("shape", [{"encoder": "none"}, {"encoder": "average"}, {"encoder": "cnn"}], **SHAPE)
def test_attention_on_one_word_alone(shape, toy_classifier):
    """Scores so far apart that softmax gives all weight to one word."""
    for seed in range(4):
        model, batch, substitutes = _case(toy_classifier, {**shape, "temperature": 1e-4}, TASKS[0], seed=seed)
        found = robustness(model, batch, substitutes)
        for row in range(len(batch)):
            decided, fewest, _ = _brute_force(model, batch, substitutes, row)
            assert found.decided[row] == decided
            assert not (found.certified[row] and fewest < torch.inf)
            if found.smallest is not None:
                assert found.smallest[row] == fewest


def test_a_text_without_words_is_decided_by_the_bias(toy_classifier):
    for shape in ({"encoder": "none"}, {"encoder": "none", "heads": 2}, {"encoder": "cnn", "pooling": "max"}):
        model, batch, _ = _case(toy_classifier, shape, TASKS[0], texts=["dull"])
        tokens = batch.tokens
        gone = torch.zeros_like(tokens.mask)
        empty = replace(
            batch, tokens=replace(tokens, mask=gone, present=gone, word_of=tokens.word_of * 0 - 1)
        )
        found = robustness(model, empty, [[]])
        with torch.no_grad():
            assert found.decided.item() == int(model(empty).logits.item() > 0)
        assert found.certified.all()


def test_slack_makes_less_certain(toy_classifier):
    for shape in ({"encoder": "none"}, {"encoder": "none", "heads": 2}, {"encoder": "cnn"}):
        model, batch, substitutes = _case(toy_classifier, shape, TASKS[1])
        certified = [
            robustness(model, batch, substitutes, slack=slack).certified for slack in (0.0, 0.2, 1.0)
        ]
        assert (certified[1] <= certified[0]).all()
        assert not certified[2].any()


def test_substitutes_must_fit_the_words(toy_classifier):
    model, batch, substitutes = _case(toy_classifier, {"encoder": "none"}, TASKS[0])
    with pytest.raises(ValueError, match="for each word"):
        robustness(model, batch, [words[1:] for words in substitutes])
