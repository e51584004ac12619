"""Shared top items by hand, against sorting in Python, and what must hold for any scores."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedful.measures.overlap import top_k_overlap


def _brute_force(x: list[float], y: list[float], mask: list[bool], k: int) -> float:
    real = [i for i, inside in enumerate(mask) if inside]
    if not real:
        return math.nan
    top_x, top_y = (set(sorted(real, key=lambda i: (-scores[i], i))[:k]) for scores in (x, y))
    return len(top_x & top_y) / min(k, len(real))


def test_by_hand():
    x = torch.tensor([[0.1, 0.2, 0.3, 0.4]])
    y = torch.tensor([[0.1, 0.4, 0.2, 0.3]])
    assert [top_k_overlap(x, y, k=k).item() for k in (1, 2, 3, 4, 9)] == [0, 0.5, 1, 1, 1]


def test_the_first_of_equal_scores_wins():
    x, y = torch.tensor([[1.0, 1.0, 1.0, 1.0]]), torch.tensor([[4.0, 3.0, 2.0, 1.0]])
    assert top_k_overlap(x, y, k=2).item() == 1
    assert top_k_overlap(x, y.flip(-1), k=2).item() == 0


def test_padding_never_beats_a_real_item():
    x = torch.tensor([[math.inf, -math.inf, -math.inf, math.nan]])
    y = torch.tensor([[-math.inf, 0.0, -1.0, math.inf]])
    mask = torch.tensor([[False, True, True, False]])
    assert top_k_overlap(x, y, k=1, mask=mask).item() == 1


def test_rows_without_an_answer_are_nan():
    x, mask = torch.tensor([[1.0, 2.0], [math.nan, 1.0]]), torch.tensor([[False, False], [True, True]])
    assert top_k_overlap(x, x, k=1, mask=mask).isnan().all()


def test_k_must_be_positive():
    with pytest.raises(ValueError, match="k must be at least 1, not 0"):
        top_k_overlap(torch.zeros(1, 2), torch.zeros(1, 2), k=0)


@given(st.integers(0, 10**6), st.integers(1, 9))
def test_against_brute_force_and_independent_of_padding_and_batch(seed, k):
    rng = np.random.default_rng(seed)
    x, y = torch.from_numpy(rng.integers(0, 5, (2, 6, 7)) / 4)
    mask = torch.from_numpy(rng.random((6, 7)) < 0.7)
    found = top_k_overlap(x, y, k=k, mask=mask)
    expected = [_brute_force(*row, k) for row in zip(x.tolist(), y.tolist(), mask.tolist(), strict=True)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)
    assert (((found >= 0) & (found <= 1)) | found.isnan()).all()

    def same(other: torch.Tensor) -> None:
        torch.testing.assert_close(other, found, rtol=0, atol=0, equal_nan=True)

    wide = [torch.nn.functional.pad(part, (0, 3), value=9.0) for part in (x, y)]
    same(top_k_overlap(*wide, k=k, mask=torch.nn.functional.pad(mask, (0, 3), value=False)))
    same(top_k_overlap(y, x, k=k, mask=mask))
    same(top_k_overlap(x.flip(0), y.flip(0), k=k, mask=mask.flip(0)).flip(0))


@given(st.integers(0, 10**6), st.integers(1, 9))
def test_without_ties_the_order_of_the_items_does_not_matter(seed, k):
    rng = np.random.default_rng(seed)
    x, y = torch.from_numpy(rng.random((2, 4, 7)))
    order = torch.from_numpy(rng.permutation(7))
    assert torch.equal(top_k_overlap(x[:, order], y[:, order], k=k), top_k_overlap(x, y, k=k))
    assert (top_k_overlap(x, x, k=k) == 1).all()
