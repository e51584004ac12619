"""Comprehensiveness, sufficiency and sensitivity against texts rebuilt word by word, and against fine grids."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import replace
from itertools import permutations

import numpy as np
import polars as pl
import pytest
import torch

import heedful
from heedful.audits.questions import rationale
from heedful.audits.questions.sensitivity import LARGEST, SIZES, attempts, sample, sensitivity
from heedful.audits.subject.predictions import item_spans
from heedful.audits.subject.reading import read_batch
from heedful.audits.subject.words import words_in
from heedful.errors import BadInput
from heedful.explainers.explainer import EXPLAINERS
from heedful.models.model import probabilities

SHARES = (0.01, 0.05, 0.1, 0.2, 0.5)


def losses(case, **options):
    """Rows of the audit without its search for sensitivity."""
    audit = case.audit("rationale", **options)
    audit.sampled = {}
    return audit, dict(audit.rows(case.reading))


class Rebuilt:
    """One text put together again from some of its items, and read from its characters."""

    def __init__(self, case, row):
        self.classifier, self.case, self.row = case.classifier, case, row
        self.model = deepcopy(case.classifier.model).double()
        spans = item_spans(case.reading)[row][case.reading.mask[row]].tolist()
        self.pieces = [case.split.texts[row][start:end] for start, end in spans]
        self.decided = int(self.probabilities(range(len(spans))).argmax())

    def probabilities(self, items):
        split = self.case.split.take(np.array([self.row]))
        batch = self.classifier.instances(split).batch(np.array([0]))
        if items:
            text = " ".join(self.pieces[i] for i in sorted(items))
            batch = self.classifier.instances(replace(split, texts=[text])).batch(np.array([0]))
        with torch.no_grad():
            if items:
                return probabilities(self.model(batch).logits)[0].numpy()
            states = self.model.encode(self.model.embed(batch), batch)
            return probabilities(self.model.decode(states, torch.zeros_like(self.model.attend(states))))[
                0
            ].numpy()

    def lost(self, items):
        every = self.probabilities(range(len(self.pieces)))
        return every[self.decided] - self.probabilities(items)[self.decided]

    def order(self, source):
        batch = self.classifier.instances(self.case.split).batch(np.array([self.row]))
        scores = EXPLAINERS.get(source)(self.model, batch, seed=0)[0, : len(self.pieces)].numpy()
        return np.argsort(-np.round(scores / np.abs(scores).max(), 9), kind="stable").tolist()


@pytest.mark.parametrize("source", ["attention", "weight_gradient"])
def test_words_are_deleted_and_the_rest_is_read_again(case, source):
    """Every text of every shape, with a signed ranking too: the top is what has the largest score."""
    audit = type(case.audit("rationale"))(case.audit("rationale", top_k=3).config, source=source)
    audit.sampled = {}
    found = audit.rows(case.reading)
    for row in case.texts():
        slow = Rebuilt(case, row)
        order, n = slow.order(source), len(slow.pieces)
        sizes = [max(1, math.ceil(round(share * n, 9))) for share in SHARES]
        without = [slow.lost(order[k:]) for k in sizes]
        alone = [slow.lost(order[:k]) for k in sizes]
        expected = {
            "comprehensiveness": np.mean(without),
            "sufficiency": np.mean(alone),
            "comprehensiveness_top": slow.lost(order[3:]),
            "sufficiency_top": slow.lost(order[:3]),
        }
        for name, value in expected.items():
            assert found[name][row].item() == pytest.approx(value, abs=2e-6), (row, name)


def test_each_text_loses_words_of_its_own(make_case):
    """The published code deletes the union of a batch's top places from every text of it."""
    case = make_case("binary", sharpen=4.0)
    _, together = losses(case)
    instances = case.classifier.instances(case.split)
    for row in case.texts():
        reading = read_batch(case.classifier.model, instances.batch(np.array([row])))
        _, alone = losses(case._replace(reading=reading))
        for name, values in alone.items():
            assert values[0].item() == pytest.approx(together[name][row].item(), abs=1e-6, nan_ok=True), name


def test_texts_shorter_than_k_use_what_they_have_and_are_counted(make_case):
    case = make_case("binary", sharpen=4.0)
    audit, found = losses(case, top_k=10_000)
    assert found["sufficiency_top"].tolist() == pytest.approx([0.0] * len(case.split), abs=1e-6)
    for row in case.texts():
        slow = Rebuilt(case, row)
        assert found["comprehensiveness_top"][row].item() == pytest.approx(slow.lost([]), abs=1e-6)
    summary = audit.summarise(frame(case, found))
    assert summary.notes[0].startswith(
        f"A fixed number of top words is 10000; {len(case.split)} texts have fewer"
    )


def frame(case, columns):
    predicted = [f"class {k}" for k in case.reading.probabilities.argmax(-1).tolist()]
    return pl.DataFrame({"predicted": predicted, **{name: v.tolist() for name, v in columns.items()}})


def test_chance_is_the_yardstick(make_case):
    """Each random order is one of all there are, every one comes up, and attention is compared with it."""
    case = make_case("binary", sharpen=8.0)
    row, seen = 3, set()
    slow = Rebuilt(case, row)
    assert len(slow.pieces) == 3  # so that four shares hold one word, and one holds two
    orders = list(permutations(range(3)))
    values = [(4 * slow.lost(order[1:]) + slow.lost(order[2:])) / 5 for order in orders]
    for seed in range(30):
        _, found = losses(case, seed=seed)
        drawn = found["comprehensiveness_random"][row].item()
        near = [order for order, value in zip(orders, values, strict=True) if abs(value - drawn) < 2e-6]
        assert near
        seen.update(near)
        gain = found["comprehensiveness"] - found["comprehensiveness_random"]
        torch.testing.assert_close(found["comprehensiveness_gain"], gain)
        assert found["beats_random"].tolist() == (gain > 1e-6).double().tolist()
        counted = ~found["beats_random_needed"].isnan()
        assert (counted == ~case.reading.needless).all()
    assert seen == set(orders)


def test_pieces_of_a_word_are_one_word(make_case):
    """Tokens 1 and 2 are made one word: their scores add up, and they go together."""
    case = make_case("binary", sharpen=4.0)
    row, batch = 1, case.reading.batch
    word_of = batch.tokens.word_of.clone()
    word_of[row, 2:] = torch.where(word_of[row, 2:] > 0, word_of[row, 2:] - 1, -1)
    joined = replace(case.reading, batch=replace(batch, tokens=replace(batch.tokens, word_of=word_of)))
    words = words_in(case.classifier.model, joined.batch)
    assert words.counts[row] == case.items(row) - 1
    scores = case.reading.scores("attention")
    summed = words.scores(scores)[row]
    assert summed[1].item() == pytest.approx((scores[row, 1] + scores[row, 2]).item(), rel=1e-5)
    order = words.ranks(words.scores(scores))[row]
    top = [item for item in range(case.items(row)) if order[words.of[row, item]] < 2]
    _, found = losses(case._replace(reading=joined), top_k=2)
    slow = Rebuilt(case, row)
    rest = [item for item in range(case.items(row)) if item not in top]
    assert found["comprehensiveness_top"][row].item() == pytest.approx(slow.lost(rest), abs=1e-6)


def true_radius(case, row, words, dim):
    """Smallest shift of these words that flips the decision, two numbers in all: on a grid of angles and radii."""
    model = deepcopy(case.classifier.model).double()
    batch = case.classifier.instances(case.split).batch(np.array([row]))
    angles = torch.linspace(0, 2 * torch.pi, 181, dtype=torch.float64)
    radii = torch.logspace(-3, math.log10(LARGEST), 450, dtype=torch.float64)
    moved = radii[:, None, None] * torch.stack([angles.cos(), angles.sin()], -1)  # [radii, angles, 2]
    flat = moved.flatten(0, 1)
    shift = torch.zeros(len(flat), *batch.tokens.ids.shape[1:], dim, dtype=torch.float64)
    shift[:, words] = flat.view(len(flat), len(words), dim)
    many = batch.take(torch.zeros(len(flat), dtype=torch.long))
    with torch.no_grad():
        before = model(batch).logits[0, 0] > 0
        flips = (model(replace(many, tokens=many.tokens.shifted(shift))).logits[:, 0] > 0) != before
    hit = flips.view(len(radii), -1).any(1)
    return radii[hit.to(torch.uint8).argmax()].item() if hit.any() else math.inf


@pytest.mark.parametrize(("dim", "size"), [(2, 1), (1, 2)])
def test_sensitivity_is_the_smallest_radius_of_a_fine_grid(make_case, dim, size):
    """Without encoder, and with few numbers that may move, every direction can be tried."""
    case = make_case("average", encoder="none", embedding_size=dim, sharpen=2.0)
    words = words_in(case.classifier.model, case.reading.batch)
    ranks = words.ranks(words.scores(case.reading.scores("attention")))
    found = sensitivity(case.reading, words, ranks)
    compared = 0
    for row in case.texts():
        top = (ranks[row] < size).nonzero()[:, 0].tolist()
        true, ours = true_radius(case, row, top, dim), found.radius[row, SIZES.index(size)].item()
        if math.isinf(true):
            assert ours == LARGEST
            assert not found.found[row, SIZES.index(size)]
        else:
            assert true * 0.97 <= ours <= true * 1.06, row  # a step of the grid is 2.4 %
            compared += 1
    assert compared >= 4


@pytest.mark.parametrize(
    "name", ["binary", "many", "cnn", "pair", "candidates", "heads-many", "hierarchical"]
)
def test_the_shift_that_is_found_flips_the_model_and_moves_the_top_words_alone(make_case, name):
    case = make_case(name, sharpen=4.0)
    model, reading = case.classifier.model, case.reading
    words = words_in(model, reading.batch)
    ranks = words.ranks(words.scores(reading.scores("attention")))
    pairs = torch.tensor([(row, min(2, int(words.counts[row]))) for row in case.texts()])
    laid = attempts(reading, words, ranks, pairs, model.exact())
    radius, shift = laid.search()
    shift = shift.view_as(laid.embedded)
    found = radius.isfinite()
    assert found.any()
    torch.testing.assert_close(shift.flatten(1).norm(dim=1)[found], radius[found])
    noisy = replace(reading.batch, tokens=reading.batch.tokens.shifted(shift.float()))
    with torch.no_grad():
        before, after = (probabilities(model(batch).logits).argmax(1) for batch in (reading.batch, noisy))
        less = replace(noisy, tokens=noisy.tokens.shifted(0.5 * shift.float()))
        assert (probabilities(model(less).logits).argmax(1) == before).all()
    assert (before != after)[found].all()
    tokens = case.classifier.model.architecture.hierarchical and reading.batch.tokens.sentence_of
    for row in case.texts():
        top = set((ranks[row] < pairs[row, 1]).nonzero()[:, 0].tolist())
        for place in shift[row].abs().sum(1).nonzero()[:, 0].tolist():
            assert (int(tokens[row, place]) if tokens is not False else place) in top


def test_more_words_never_need_a_larger_shift_and_nothing_leaks(make_case):
    case = make_case("binary", sharpen=4.0)
    model, words = case.classifier.model, words_in(case.classifier.model, case.reading.batch)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    found = sensitivity(case.reading, words, words.ranks(words.scores(case.reading.scores("attention"))))
    assert (found.radius.diff(dim=1) <= 0).all()
    torch.testing.assert_close(found.area, found.radius.mean(1))
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert all(p.grad is None and p.requires_grad for p in model.parameters())
    assert not model.training


def test_decisions_that_no_shift_changes_are_counted_as_the_largest(make_case):
    case = make_case("average", sharpen=4.0)
    with torch.no_grad():
        case.classifier.model.decoder.output.bias.fill_(1e4)
    reading = read_batch(case.classifier.model, case.reading.batch)
    audit = case.audit("rationale", sensitivity=True)
    found = dict(audit.rows(reading))
    assert found["sensitivity"].tolist() == [LARGEST] * len(case.split)
    summary = audit.summarise(frame(case._replace(reading=reading), found))
    assert summary.number("sensitivity").estimate == LARGEST
    assert summary.number("never_flips").estimate == 1.0
    assert any(f"For {len(case.split)} texts the decision did not change" in note for note in summary.notes)


def test_batches_change_nothing(model, many_texts, monkeypatch):
    """A sample is drawn by the numbers of the texts, whatever batches they come in."""
    monkeypatch.setattr(rationale, "TEXTS", 9)
    classifier = model(encoder="bilstm")
    frames = []
    for size in (64, 3):
        found = heedful.audit(
            classifier, many_texts, only=["rationale"], batch_size=size, sensitivity=True, progress=False
        )
        frames.append(found.to_frame("rationale"))
        summary = found.summaries["rationale"]
        assert summary.number("sensitivity").count == 9
        assert "Sensitivity is that of 9 of 37 texts, drawn at random." in summary.notes
    for name in frames[0].columns:
        one, other = (f[name].to_list() for f in frames)
        assert one == (
            pytest.approx(other, abs=1e-6, nan_ok=True) if frames[0][name].dtype.is_float() else other
        )


def test_samples_keep_within_their_bounds():
    rows, lengths = np.arange(50) * 3, np.full(50, 10)
    drawn = sample(rows, lengths, texts=20, tokens=10_000, seed=0)
    assert len(drawn) == 20 and set(drawn) <= set(rows.tolist())
    assert set(sample(rows, lengths, texts=20, tokens=75, seed=0)) <= set(drawn)
    assert len(sample(rows, lengths, texts=20, tokens=75, seed=0)) == 7
    assert len(sample(rows, lengths, texts=20, tokens=1, seed=0)) == 1
    assert set(sample(rows, lengths, texts=20, tokens=10_000, seed=1)) != set(drawn)
    backwards = sample(rows[::-1].copy(), lengths, texts=20, tokens=10_000, seed=0)
    assert backwards.tolist() == drawn.tolist()


def test_more_top_words_than_any_text_has_are_refused(model, many_texts):
    with pytest.raises(
        BadInput, match=r"No text has 10000 items, and the longest has [0-9]+: choose a smaller"
    ):
        heedful.audit(model(encoder="average"), many_texts, only=["rationale"], top_k=10_000, progress=False)
