"""Infidelity against texts rebuilt word by word, and what it says of scores whose worth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch

import heedful
from heedful.audits.audit import AUDITS
from heedful.audits.questions import infidelity as audit_module
from heedful.audits.questions.infidelity import MOVES, SUBSETS
from heedful.audits.subject.predictions import item_spans
from heedful.audits.subject.reading import read_batch
from heedful.audits.subject.words import words_in
from heedful.config import AuditOptions
from heedful.declared import complete
from heedful.measures.infidelity import random_subsets
from heedful.measures.streams import Stream
from heedful.models.model import probabilities

NAME = "infidelity"


@pytest.fixture
def any_drop(monkeypatch):
    """Toys hardly change their minds: count texts that move by little too."""
    monkeypatch.setattr(audit_module, "MOVES", 1e-4)


def exactly(case):
    """The same in double precision, where a text that hardly moves has digits enough to compare."""
    model = case.classifier.model.double()
    return case._replace(reading=read_batch(model, case.reading.batch))


def predicted(case, row, items=None):
    """Class probabilities of a text put together again from some of its items, read from its characters."""
    split = case.split.take(np.array([row]))
    if items is not None:
        spans = item_spans(case.reading)[row][case.reading.mask[row]].tolist()
        pieces = [case.split.texts[row][start:end] for start, end in spans]
        split = replace(split, texts=[" ".join(pieces[i] for i in sorted(items))])
    batch = case.classifier.instances(split).batch(np.array([0]))
    with torch.no_grad():
        return probabilities(case.classifier.model(batch).logits)[0].double()


def asked(reading, own):
    """Rows of the audit for scores of one's own."""
    audit = AUDITS.get(NAME)(complete(AuditOptions)(), source="own")
    return audit.rows(replace(reading, user_scores=own, _scores={}))


def drops_of(case, row, seed=0):
    """Which items are deleted of a text, and what each deletion loses."""
    lengths = case.reading.mask.sum(1)
    drawn = random_subsets(case.reading.rows, lengths, subsets=SUBSETS, seed=seed, draw=Stream.DELETIONS)
    deleted = [set(subset.nonzero()[:, 0].tolist()) for subset in drawn[row]]
    decided = int(predicted(case, row).argmax())
    every = set(range(case.items(row)))
    lost = [float((predicted(case, row) - predicted(case, row, every - gone))[decided]) for gone in deleted]
    return deleted, np.array(lost)


@pytest.mark.parametrize("source", ["attention", "weight_gradient"])
def test_words_are_deleted_and_the_rest_is_read_again(case, source, any_drop):
    """Every text of every shape, with signed scores too; the best factor by least squares."""
    case = exactly(case)
    found = AUDITS.get(NAME)(complete(AuditOptions)(), source=source).rows(case.reading)
    scores = case.reading.scores(source)
    for row in case.texts():
        deleted, lost = drops_of(case, row)
        assert found["largest_drop"][row].item() == pytest.approx(np.abs(lost).max(), abs=1e-9)
        for name, of in (
            ("infidelity", scores[row].tolist()),
            ("infidelity_uniform", [1.0] * scores.shape[1]),
        ):
            sums = np.array([sum(of[i] for i in sorted(gone)) for gone in deleted])
            factor = max(0.0, np.linalg.lstsq(sums[:, None], lost, rcond=None)[0][0])
            expected = np.square(factor * sums - lost).sum() / np.square(lost).sum()
            if np.abs(lost).max() < 1e-4:
                assert found[name][row].isnan()
            else:
                assert found[name][row].item() == pytest.approx(expected, abs=1e-5), (row, name)


def test_scores_that_are_the_drops_explain_everything_where_words_do_not_meet(make_case):
    """Without context and with all words attended alike, far from where a sigmoid bends, losses nearly add up."""
    case = make_case("average", encoder="none", embedding_size=4, sharpen=0.05)
    with torch.no_grad():
        case.classifier.model.attention.similarity.vector.zero_()
    reading = read_batch(case.classifier.model, case.reading.batch)
    pulls = reading.item_logits[..., 0] * reading.mask
    pulls = (pulls - reading.logits) * reading.mask  # a word above the mean pulls up
    sign = torch.where(reading.logits > 0, 1.0, -1.0).double()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_module, "MOVES", 0.0)
        right, wrong = (asked(reading, factor * sign * pulls) for factor in (1, -1))
    counted = reading.mask.sum(1) > 3
    assert counted.sum() >= 4
    assert (right["infidelity"][counted] < 0.1).all()
    assert (right["deletion_correlation"][counted] > 0.95).all()
    assert (right["fidelity_gain"][counted] > 0.85).all()
    assert (wrong["infidelity"][counted] == 1).all()
    assert (wrong["deletion_correlation"][counted] < -0.95).all()
    assert right["beats_shuffled"][counted].mean() > 0.8 and wrong["beats_shuffled"][counted].mean() < 0.5


def test_uniform_scores_are_their_own_yardstick(make_case, any_drop):
    case = make_case("binary", sharpen=4.0)
    found = asked(case.reading, 3.7 * case.reading.mask.double())
    counted = ~found["infidelity"].isnan()
    assert counted.sum() >= 6
    torch.testing.assert_close(found["infidelity"][counted], found["infidelity_uniform"][counted])
    assert found["fidelity_gain"][counted].nan_to_num().abs().max() < 1e-9
    assert (found["beats_shuffled"][counted] == 0.5).all()
    zero = asked(case.reading, torch.zeros(case.reading.mask.shape, dtype=torch.float64))
    assert (zero["infidelity"][counted] == 1).all()
    assert zero["deletion_correlation"].isnan().all()


def test_two_words(make_case, any_drop):
    """One word or the other goes: by hand, as often as each is drawn."""
    case = exactly(make_case("binary", sharpen=8.0))
    row = next(row for row in case.texts() if case.items(row) == 2)
    found = case.ask(NAME)
    deleted, lost = drops_of(case, row)
    assert {len(gone) for gone in deleted} == {1}
    assert len(set(map(tuple, deleted))) == 2
    weights = case.reading.weights[row, 0].tolist()
    sums = np.array([weights[next(iter(gone))] for gone in deleted])
    factor = max(0, (sums * lost).sum() / (sums**2).sum())
    expected = ((factor * sums - lost) ** 2).sum() / (lost**2).sum()
    assert found["infidelity"][row].item() == pytest.approx(expected, abs=1e-5)


def test_a_prediction_that_nothing_moves_is_left_out_and_counted(make_case):
    case = make_case("average", sharpen=4.0)
    with torch.no_grad():
        case.classifier.model.decoder.output.bias.fill_(1e4)
    reading = read_batch(case.classifier.model, case.reading.batch)
    audit = case.audit(NAME)
    found = dict(audit.rows(reading))
    assert (found["largest_drop"] < MOVES).all()
    rows = pl.DataFrame(
        {"predicted": ["class 1"] * len(case.split), **{name: v.tolist() for name, v in found.items()}}
    )
    summary = audit.summarise(rows)
    for name in audit.measures:
        assert found[name].isnan().all(), name
        assert summary.number(name).estimate is None and summary.number(name).missing == len(case.split)
    assert "unknown" not in summary.finding and "nothing for scores to explain" in summary.finding
    assert summary.notes == (
        f"No deletion that was drawn moves the prediction of {len(case.split)} of {len(case.split)} texts by 0.1, or they "
        "have one word: there is nothing to explain, and they are left out.",
    )


def test_pieces_of_a_word_are_deleted_together(make_case, any_drop):
    """Tokens 1 and 2 are made one word: no deletion parts them, and their weights add up."""
    case = exactly(make_case("binary", sharpen=4.0))
    row, batch = 1, case.reading.batch
    word_of = batch.tokens.word_of.clone()
    word_of[row, 2:] = torch.where(word_of[row, 2:] > 0, word_of[row, 2:] - 1, -1)
    joined = replace(case.reading, batch=replace(batch, tokens=replace(batch.tokens, word_of=word_of)))
    words = words_in(case.classifier.model, joined.batch)
    found = case.audit(NAME).rows(joined)
    drawn = random_subsets(joined.rows, words.counts, subsets=SUBSETS, seed=0, draw=Stream.DELETIONS)[row]
    items = words.items(torch.full((SUBSETS,), row), drawn)
    assert torch.equal(items[:, 1], items[:, 2]) and items[:, 1].any()
    every, before = set(range(case.items(row))), predicted(case, row)
    gone = [set(chosen.nonzero()[:, 0].tolist()) for chosen in items]
    lost = np.array([float((before - predicted(case, row, every - g))[before.argmax()]) for g in gone])
    sums = np.array([case.reading.weights[row, 0, sorted(g)].double().sum().item() for g in gone])
    factor = max(0, (sums * lost).sum() / (sums**2).sum())
    assert found["infidelity"][row].item() == pytest.approx(
        ((factor * sums - lost) ** 2).sum() / (lost**2).sum(), abs=1e-5
    )


def test_one_word_of_several_pieces_is_left_out(pieces):
    batch = pieces.batch(["filmmaker", "a dull film"])
    found = AUDITS.get(NAME)(complete(AuditOptions)()).rows(read_batch(pieces.model, batch))
    assert found["infidelity"][0].isnan()


def test_batches_and_companions_change_nothing_and_seeds_do(model, many_texts):
    classifier = model(encoder="bilstm")
    classifier.model.decoder.output.weight.data *= 10
    frames = [
        heedful.audit(classifier, many_texts, only=[NAME], progress=False, **options).to_frame(NAME)
        for options in ({}, {"batch_size": 3}, {"limit": 9}, {"seed": 1}, {})
    ]
    whole, small, few, other, again = frames
    assert whole.equals(again)
    assert whole["infidelity"].is_not_nan().sum() >= 20
    assert whole["infidelity"].to_list() != other["infidelity"].to_list()
    for part in (small, few):
        same = whole.filter(pl.col("row").is_in(part["row"].implode()))
        for name in AUDITS.get(NAME).measures:
            assert part[name].to_list() == pytest.approx(same[name].to_list(), abs=1e-6, nan_ok=True), name


def test_every_number_lies_where_its_measure_says(model, many_texts):
    audit = AUDITS.get(NAME)(complete(AuditOptions)())
    for source in ("attention", "random", "leave_one_out"):
        found = heedful.audit(
            model(encoder="average"), many_texts, only=[NAME], source=source, progress=False
        )
        for name, about in audit.measures.items():
            values = found.to_frame(NAME)[name].drop_nans()
            assert len(values) and values.min() >= about.low and values.max() <= about.high
        assert len(audit.charts(found.to_frame(NAME))) == 2


def test_deletions_end_before_what_they_are_compared_with():
    last = Stream.DELETIONS + SUBSETS  # one draw for the sizes, one for each subset
    assert last < Stream.DELETIONS_RANDOM < Stream.DELETIONS_SHUFFLED
