"""Normalisers by hand and against brute force; similarity functions against their equations."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from heedful.config import ModelOptions
from heedful.measures.boxes import Box
from heedful.models.attention import Attention, normalise

NORMALISERS = ["softmax", "sparsemax", "entmax15"]
scores_and_mask = st.integers(1, 8).flatmap(
    lambda n: st.tuples(
        st.lists(st.floats(-5, 5, width=32), min_size=n, max_size=n),
        st.lists(st.booleans(), min_size=n, max_size=n),
    )
)


@pytest.mark.parametrize("normaliser", NORMALISERS)
@given(scores_and_mask)
def test_weights_are_a_distribution_on_the_mask_and_zero_off_it(normaliser, case):
    scores, mask = torch.tensor(case[0]), torch.tensor(case[1])
    weights = normalise(scores, mask, normaliser)
    assert (weights >= 0).all()
    assert weights[~mask].sum() == 0
    assert weights.sum().item() == pytest.approx(float(mask.any()), abs=1e-5)


@pytest.mark.parametrize("normaliser", NORMALISERS)
@given(scores_and_mask)
def test_masked_items_have_no_influence(normaliser, case):
    scores, mask = torch.tensor(case[0]), torch.tensor(case[1])
    if not mask.any():
        return
    short = normalise(scores[mask], torch.ones(int(mask.sum()), dtype=torch.bool), normaliser)
    torch.testing.assert_close(normalise(scores, mask, normaliser)[mask], short, rtol=0, atol=1e-5)


def test_sparsemax_by_hand():
    weights = normalise(torch.tensor([1.0, 0.6, -2.0]), torch.ones(3, dtype=torch.bool), "sparsemax")
    torch.testing.assert_close(weights, torch.tensor([0.7, 0.3, 0.0]))


@pytest.mark.parametrize(("normaliser", "alpha"), [("sparsemax", 2.0), ("entmax15", 1.5)])
def test_sparse_normalisers_solve_their_optimisation_problem(normaliser, alpha):
    """argmax over the simplex of p·z + (1 − Σ p^α) / (α (α − 1)), by a general solver."""
    z = np.array([0.9, 0.2, 0.55, -0.4])
    found = minimize(
        lambda p: -(p @ z) - (1 - (np.abs(p) ** alpha).sum()) / (alpha * (alpha - 1)),
        np.full(4, 0.25),
        bounds=[(0, 1)] * 4,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        options={"ftol": 1e-12},
    )
    weights = normalise(torch.tensor(z), torch.ones(4, dtype=torch.bool), normaliser)
    np.testing.assert_allclose(weights.numpy(), found.x, atol=1e-5)


def test_temperature_divides_the_scores():
    attention = Attention(ModelOptions(temperature=0.25), 4, None)
    scores = torch.tensor([[[0.1, 0.5, -0.2]]])
    mask = torch.ones(1, 3, dtype=torch.bool)
    torch.testing.assert_close(attention.normalise(scores, mask), torch.softmax(scores * 4, dim=-1))


@pytest.mark.parametrize("heads", [1, 3])
def test_additive_scores_are_their_equation(heads):
    attention = Attention(ModelOptions(heads=heads, attention_size=5), 4, 6)
    s = attention.similarity
    h, query = torch.randn(2, 7, 4), torch.randn(2, 6)
    scores = attention.score(h, query)
    for head in range(heads):
        rows = slice(head * 5, head * 5 + 5)
        inner = h @ s.project_state.weight[rows].T + s.project_state.bias[rows]
        inner = inner + (query @ s.project_query.weight[rows].T)[:, None]
        torch.testing.assert_close(scores[:, head], torch.tanh(inner) @ s.vector[head])


def test_dot_scores_use_the_query_as_it_is():
    attention = Attention(ModelOptions(attention="dot"), 4, 4)
    h, query = torch.randn(2, 7, 4), torch.randn(2, 4)
    expected = torch.einsum("bnm,bm->bn", h, query) / math.sqrt(4)
    torch.testing.assert_close(attention.score(h, query)[:, 0], expected)
    assert not list(attention.parameters())


@pytest.mark.parametrize("kind", ["additive", "dot"])
@pytest.mark.parametrize("query_size", [None, 5])
@pytest.mark.parametrize("heads", [1, 3])
def test_scores_of_states_within_bounds_are_within_bounds(kind, query_size, heads):
    torch.manual_seed(0)
    options = ModelOptions(attention=kind, heads=heads, temperature=0.5)
    attention = Attention(options, 4, query_size).double()
    middle, half = torch.randn(2, 3, 4).double(), 0.1 * torch.rand(2, 3, 4).double()
    query = None if query_size is None else torch.randn(2, query_size).double()
    with torch.no_grad():
        bound = attention.bound(Box(middle - half, middle + half), query)
        scores = torch.stack([
            attention.score(middle + half * torch.tensor(signs).double(), query) / attention.temperature
            for signs in product([-1.0, 1.0], repeat=4)
        ])  # fmt: skip
    assert bound.low.shape == bound.high.shape == (2, heads, 3)
    assert (bound.low < scores).all() and (scores < bound.high).all()
    if kind == "dot":  # linear: the corners reach the bounds
        torch.testing.assert_close(scores.amin(0), bound.low)
        torch.testing.assert_close(scores.amax(0), bound.high)
