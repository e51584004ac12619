"""Bounds: nothing that is inside gets out, and the least mean is the least."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedful.measures.boxes import Box, least_mean, through

seeds = st.integers(0, 2**16)


def _random(seed: int, *size: int) -> torch.Tensor:
    return torch.randn(*size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@given(seed=seeds)
def test_what_is_inside_stays_inside(seed):
    middle, half = _random(seed, 3, 4), _random(seed + 1, 3, 4).abs()
    weight, bias = _random(seed + 2, 5, 4), _random(seed + 3, 5)
    out = through(Box(middle - half, middle + half), weight, bias)
    for corner in product([-1.0, 1.0], repeat=4):
        inside = (middle + half * torch.tensor(corner, dtype=torch.float64)) @ weight.T + bias
        assert (out.low < inside).all() and (inside < out.high).all()


def test_a_box_is_as_narrow_as_its_corners():
    out = through(
        Box(torch.tensor([0.0, 1.0]).double(), torch.tensor([1.0, 2.0]).double()),
        torch.tensor([[1.0, -1.0], [2.0, 0.0]]).double(),
    )
    assert out.low.tolist() == pytest.approx([-2, 0], abs=1e-11)
    assert out.high.tolist() == pytest.approx([0, 2], abs=1e-11)


def test_slack_widens():
    box = Box(torch.ones(1, 1).double(), torch.ones(1, 1).double())
    assert through(box, torch.ones(1, 1).double(), slack=0.5).low.item() == pytest.approx(0.5)


@given(
    seed=seeds, items=st.integers(1, 4), options=st.integers(1, 3), scale=st.sampled_from([0.1, 1.0, 300.0])
)
def test_the_least_mean_is_that_of_the_worst_choice(seed, items, options, scale):
    masses, values = scale * _random(seed, items, options), _random(seed + 1, items, options)
    there = _random(seed + 2, items, options) > -0.5
    real = [[o for o in range(options) if there[i, o]] for i in range(items)]
    means = []
    for choice in product(*(places or [None] for places in real)):
        pairs = [(masses[i, o], values[i, o]) for i, o in enumerate(choice) if o is not None]
        if pairs:
            mass, value = (torch.stack(column) for column in zip(*pairs, strict=True))
            means.append(float(torch.softmax(mass, 0) @ value))
    found = least_mean(masses, values, there).item()
    least = min(means, default=0.0)
    assert found <= least
    assert found == pytest.approx(least, abs=1e-10)


def test_no_items_have_no_mean():
    assert least_mean(torch.zeros(2, 3, 1), torch.ones(2, 3, 1), torch.zeros(2, 3, 1).bool()).tolist() == [
        0,
        0,
    ]
