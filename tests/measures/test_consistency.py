"""Consistency of scores under attack: by hand, by brute force, and whatever the order of words or texts."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from heedful.measures.consistency import KS, consistency, top_k_intersection

there = torch.ones(1, 4, dtype=torch.bool)


def test_by_hand():
    x = torch.tensor([[[4.0, 3.0, 2.0, 1.0]]])
    y = torch.tensor([[[4.0, 1.0, 2.0, 3.0]]])
    same = torch.tensor([[0, 1, 2, 3]])
    found = consistency(x, y, same, x_mask=there, y_mask=there, ks=(1, 2, 3, 4))
    assert found.tau.tolist() == [0.0]  # pairs with the first agree, the three others do not
    assert found.top_k[0].tolist() == pytest.approx([1, 1 / 2, 2 / 3, 1])


def test_classes_are_averaged_and_an_undefined_one_left_out():
    x = torch.tensor([[[4.0, 3.0, 2.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 3.0, 4.0]]])
    y = torch.tensor([[[4.0, 3.0, 2.0, 1.0], [1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0]]])
    found = consistency(x, y, torch.tensor([[0, 1, 2, 3]]), x_mask=there, y_mask=there, ks=(1,))
    assert found.tau.tolist() == [0.0]  # of 1 and −1
    assert found.top_k.tolist() == [[pytest.approx(1 / 3)]]


def test_words_that_have_moved_are_the_same_words():
    x, y = torch.tensor([[[3.0, 2.0, 1.0]]]), torch.tensor([[[9.0, 3.0, 2.0, 1.0]]])  # one was inserted
    mask = torch.ones(1, 3, dtype=torch.bool)
    found = consistency(x, y, torch.tensor([[1, 2, 3]]), x_mask=mask, y_mask=there, ks=(1, 2, 3))
    assert found.tau.tolist() == [1.0]
    assert found.top_k[0].tolist() == pytest.approx([0, 1 / 2, 2 / 3])


def test_what_cannot_be_told_is_nan():
    x = torch.tensor([[[1.0, 2.0]], [[1.0, float("nan")]]])
    mask = torch.tensor([[False, False], [True, True]])
    found = consistency(x, x, torch.tensor([[-1, -1], [0, 1]]), x_mask=mask, y_mask=mask)
    assert found.tau.isnan().all()
    assert found.top_k.isnan().all()
    with pytest.raises(ValueError, match="at least 1"):
        top_k_intersection(x, x, torch.tensor([[0, 1], [0, 1]]), k=0, x_mask=mask, y_mask=mask)


@st.composite
def cases(draw):
    """Texts of different length, of which some words have moved, and some are gone."""
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    batch, classes = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    rows = []
    for _ in range(batch):
        words, others = random.integers(1, 9, 2)
        match = np.full(words, -1)
        shared = random.integers(0, min(words, others) + 1)
        match[random.permutation(words)[:shared]] = random.permutation(others)[:shared]
        scores = [random.integers(0, 6, (classes, n)).astype(float) for n in (words, others)]
        rows.append((*scores, match))
    return rows


def padded(rows, wider=0):
    sizes = [max(row[i].shape[1] for row in rows) + wider for i in range(2)]
    scores = [torch.full((len(rows), rows[0][0].shape[0], size), 99.0, dtype=torch.float64) for size in sizes]
    masks = [torch.zeros(len(rows), size, dtype=torch.bool) for size in sizes]
    match = torch.full((len(rows), sizes[0]), -1)
    for number, row in enumerate(rows):
        for i in range(2):
            scores[i][number, :, : row[i].shape[1]] = torch.from_numpy(row[i])
            masks[i][number, : row[i].shape[1]] = True
        match[number, : len(row[2])] = torch.from_numpy(row[2])
    return consistency(*scores, match, x_mask=masks[0], y_mask=masks[1])


def brute(x, y, match):
    taus, shares = [], [[] for _ in KS]
    words = [w for w in range(len(match)) if match[w] >= 0]
    for a, b in zip(x, y, strict=True):
        if len(words) > 1:
            taus.append(kendalltau(a[words], b[match[words]]).statistic)
        for k in KS:
            tops = [sorted(range(len(s)), key=lambda w, s=s: (-s[w], w))[:k] for s in (a, b)]
            hits = sum(match[w] in tops[1] for w in tops[0])
            shares[k - 1].append(hits / min(k, len(a), len(b)))
    known = [tau for tau in taus if not np.isnan(tau)]
    return np.mean(known) if known else np.nan, [np.mean(each) for each in shares]


@given(cases())
def test_it_is_what_counting_gives_whatever_the_companions_and_padding(rows):
    found, wider = padded(rows), padded(rows, wider=3)
    torch.testing.assert_close(found.tau, wider.tau, rtol=0, atol=0, equal_nan=True)
    torch.testing.assert_close(found.top_k, wider.top_k, rtol=0, atol=0)
    for number, row in enumerate(rows):
        tau, shares = brute(*row)
        assert found.tau[number].item() == pytest.approx(tau, nan_ok=True)
        assert found.top_k[number].tolist() == pytest.approx(shares)
        assert (found.top_k[number] <= 1).all()


@given(cases())
def test_a_text_beside_itself_is_consistent(rows):
    same = [(x, x, np.arange(x.shape[1])) for x, _, _ in rows]
    found = padded(same)
    assert ((found.tau > 1 - 1e-12) | found.tau.isnan()).all()
    assert (found.top_k == 1).all()
