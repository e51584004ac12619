"""Mixtures of two heatmaps that leave a prediction where it was: by hand, against fine grids, and their properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from heedful.measures.divergence import jsd
from heedful.measures.mixtures import GRID, HALVINGS, Shares, feasible_shares, few_jsd, prediction_window

LOGITS = st.floats(-12, 12, width=32)
FINE = np.linspace(0, 1, 4001)


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def along(start, end):
    return lambda shares: torch.softmax(
        start[..., None, :] + shares[..., None] * (end - start)[..., None, :], -1
    )


def shares_of(start, end, probabilities, epsilon):
    window = prediction_window(start, end, probabilities, epsilon)
    return window, feasible_shares(along(start, end), window, probabilities, epsilon)


def distances(start, end, probabilities, shares=FINE):
    """TVD of every mixture on a fine grid, in numpy."""
    mixed = softmax((1 - shares)[:, None] * np.array(start) + shares[:, None] * np.array(end), axis=1)
    return np.abs(mixed - np.array(probabilities)).sum(1) / 2


def test_two_classes_by_hand():
    """From even odds to e⁴ : 1, with e² : 1 in the middle: t lies where the sigmoid of 4t is 0.01 from that of 2."""
    start, end = tensor([[0.0, 0.0]]), tensor([[4.0, 0.0]])
    middle = 1 / (1 + math.exp(-2))
    probabilities = tensor([[middle, 1 - middle]])
    lowest, highest = (math.log(p / (1 - p)) / 4 for p in (middle - 0.01, middle + 0.01))
    for found in shares_of(start, end, probabilities, 0.01):
        assert [end.item() for end in found] == pytest.approx([lowest, highest], abs=1e-6)


def test_what_never_gives_the_prediction_has_no_shares():
    start, end, probabilities = (
        tensor([[5.0, 0.0, 0.0]]),
        tensor([[6.0, 0.0, 0.0]]),
        tensor([[0.1, 0.1, 0.8]]),
    )
    for found in shares_of(start, end, probabilities, 0.01):
        assert found.least.isnan().all() and found.most.isnan().all()


def test_ends_that_say_the_same_may_be_mixed_at_will():
    same = tensor([[1.0, -2.0, 0.5]])
    for found in shares_of(same, same, torch.softmax(same, 1), 0.01):
        assert [end.item() for end in found] == [0, 1]


def test_a_class_that_is_no_candidate_plays_no_part():
    start, end, probabilities = tensor([[0.0, 0.0]]), tensor([[4.0, 0.0]]), tensor([[0.85, 0.15]])
    three = [torch.cat([field, tensor([[-1e9]])], 1) for field in (start, end)]
    some = shares_of(start, end, probabilities, 0.02)[1]
    more = shares_of(*three, torch.cat([probabilities, tensor([[0.0]])], 1), 0.02)[1]
    torch.testing.assert_close(some, more)


@st.composite
def segments(draw):
    classes = draw(st.integers(2, 5))
    start, end, own = (draw(st.lists(LOGITS, min_size=classes, max_size=classes)) for _ in range(3))
    share = draw(st.floats(0, 1))
    near = [(1 - share) * a + share * b for a, b in zip(start, end, strict=True)]
    # A prediction that a mixture gives, or any other.
    probabilities = softmax(np.array(near if draw(st.booleans()) else own))
    return start, end, probabilities.tolist(), draw(st.sampled_from([0.01, 0.05, 0.3]))


@settings(deadline=None, max_examples=200)
@given(segments())
def test_the_window_holds_all_that_is_feasible_and_the_shares_are_its_ends(case):
    start, end, probabilities, epsilon = case
    window, found = shares_of(tensor([start]), tensor([end]), tensor([probabilities]), epsilon)
    fine = distances(start, end, probabilities)
    feasible = FINE[fine <= epsilon * (1 - 1e-6)]
    if len(feasible):
        assert window.least.item() - 1e-9 <= feasible[0] and feasible[-1] <= window.most.item() + 1e-9
        # What is left after the last halving of a step of the grid over the window.
        left = (window.most - window.least).item() / (GRID - 1) / 2**HALVINGS + 1e-9
        assert found.least.item() <= feasible[0] + left
        assert found.most.item() >= feasible[-1] - left
    if not found.least.isnan():
        ends = np.array([found.least.item(), found.most.item()])
        assert (distances(start, end, probabilities, ends) <= epsilon).all()
        assert window.least <= ends[0] <= ends[1] <= window.most


def test_two_windows_far_apart_give_the_outermost_shares():
    """A third class rises between the ends and falls again: feasible at both ends, and not in the middle."""
    probabilities = tensor([[0.4, 0.2, 0.4]])

    def says(shares):
        middle = 0.2 + 0.3 * torch.sin(math.pi * shares)
        return torch.stack([(1 - middle) / 2, middle, (1 - middle) / 2], -1)

    whole = Shares(torch.zeros(1).double(), torch.ones(1).double())
    assert [share.item() for share in feasible_shares(says, whole, probabilities, 0.03)] == [0, 1]


def test_any_number_of_segments_is_the_same_as_one_at_a_time():
    torch.manual_seed(0)
    start, end = torch.randn(2, 3, 40, 4).double() * 3
    probabilities = torch.softmax((start + end) / 2 + 0.2 * torch.randn(3, 40, 4), -1)
    together = shares_of(start, end, probabilities, 0.05)[1]
    assert 0 < int(together.least.isnan().sum()) < 120
    for a in range(3):
        for b in range(40):
            alone = shares_of(start[a, b], end[a, b], probabilities[a, b], 0.05)[1]
            torch.testing.assert_close(alone.least, together.least[a, b], equal_nan=True)
            torch.testing.assert_close(alone.most, together.most[a, b], equal_nan=True)


@given(
    st.lists(st.floats(0, 1), min_size=4, max_size=7), st.lists(st.floats(0.01, 1), min_size=3, max_size=3)
)
def test_the_distance_of_a_few_items_is_that_of_all(own, new):
    own = [*own, 0.5]
    weights, few = tensor(own) / sum(own), tensor(new) / sum(new)
    heatmap = torch.cat([few, torch.zeros(len(own) - 3, dtype=torch.float64)])
    found = few_jsd([weights[item][None] for item in range(3)], list(few))
    assert found.item() == pytest.approx(jsd(heatmap, weights).item(), abs=1e-12)
