"""The search for the smallest shift, where the answer is known."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.measures.smallest_shift import CLOSE, smallest_shift


def by_autograd(margin):
    """Make what the search needs of a margin that is a function of shifts and of the attempts' numbers."""

    def falling(shift, some):
        shift = shift.detach().requires_grad_()
        value = margin(shift, some)
        (slope,) = torch.autograd.grad(value.sum(), shift)
        return value.detach(), -slope

    return falling


@settings(max_examples=20)
@given(st.integers(0, 1000), st.integers(1, 6))
def test_a_plane_is_met_at_its_distance(seed, size):
    torch.manual_seed(seed)
    slopes, leads = torch.randn(7, size).double(), torch.rand(7).double() + 1e-3
    found = smallest_shift(
        by_autograd(lambda x, some: leads[some] + (x * slopes[some]).sum(1)),
        torch.ones(7, size).double(),
        largest=1e9,
    )
    true = leads / slopes.norm(dim=1)
    assert (found.radius >= true).all()
    assert (found.radius <= true * CLOSE * 1.001).all()
    torch.testing.assert_close(found.shift.norm(dim=1), found.radius)
    assert ((leads + (found.shift * slopes).sum(1)) < 0).all()


def test_curved_margins_are_met_nearly_as_soon():
    """Outside an ellipsoid about another point: the nearest point of its surface, found on a fine grid."""
    angles = torch.linspace(0, 2 * torch.pi, 200_001, dtype=torch.float64)
    centres = torch.tensor([[0.3, 0.1], [-0.5, 0.2], [0.0, 0.05], [0.6, -0.1]], dtype=torch.float64)
    surface = torch.stack([2 * angles.cos(), 0.7 * angles.sin()], 1)

    def margin(x, some):
        place = centres[some] + x
        return 1 - (place[:, 0] / 2) ** 2 - (place[:, 1] / 0.7) ** 2

    true = (surface[None] - centres[:, None]).norm(dim=-1).amin(1)
    found = smallest_shift(by_autograd(margin), torch.ones(4, 2).double(), largest=50.0).radius
    assert (found >= true * (1 - 1e-6)).all()
    assert (found <= true * 1.06).all()


def test_where_the_gradient_vanishes_it_begins_at_random():
    """A margin that is flat at 0 has no gradient there: from δ = 0 alone nothing would ever be found."""

    def margin(x, some):
        return 1 - x.square().sum(1)

    start = torch.tensor([[1.0, 2.0], [0.0, -1.0]], dtype=torch.float64)
    found = smallest_shift(by_autograd(margin), start, largest=50.0)
    assert found.radius.tolist() == pytest.approx([1.0, 1.0], rel=0.06)
    torch.testing.assert_close(found.shift[1], torch.tensor([0.0, -1.0]).double() * found.radius[1])


def test_what_never_flips_is_infinite_and_nothing_is_claimed():
    found = smallest_shift(
        by_autograd(lambda x, some: 1 + x.square().sum(1)), torch.ones(2, 3).double(), largest=10.0
    )
    assert found.radius.isinf().all()
    assert (found.shift == 0).all()


def test_a_radius_beyond_the_largest_is_not_found():
    slopes = torch.tensor([[1.0], [0.01]], dtype=torch.float64)
    found = smallest_shift(by_autograd(lambda x, some: 1 + (x * slopes[some]).sum(1)), slopes, largest=20.0)
    assert found.radius.isfinite().tolist() == [True, False]


def test_attempts_do_not_know_of_each_other():
    torch.manual_seed(0)
    mix = torch.randn(9, 4, 4).double()

    def margin(x, some):
        return 0.5 + torch.einsum("bi,bij->bj", x, mix[some]).tanh().sum(1) - 0.1 * x.square().sum(1)

    together = smallest_shift(by_autograd(margin), torch.ones(9, 4).double(), largest=50.0).radius
    for row in range(9):
        alone = smallest_shift(
            by_autograd(lambda x, some, row=row: margin(x, some + row)),
            torch.ones(1, 4).double(),
            largest=50.0,
        ).radius
        torch.testing.assert_close(alone[0], together[row])


def test_where_there_is_no_slope_and_no_direction_nothing_is_found():
    """Attention that gives items no weight makes margins that do not depend on them at all."""

    def flat(x, some):
        return torch.full((len(some),), 3.0, dtype=torch.float64), torch.zeros_like(x)

    for directions in (torch.zeros(2, 3), torch.tensor([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])):
        found = smallest_shift(flat, directions.double(), largest=50.0)
        assert found.radius.isinf().all()
        assert (found.shift == 0).all()


def test_a_kink_that_hides_the_slope_is_passed():
    """Flat up to a distance of 2, as a sparse weight is until the item enters the support, and steep beyond."""

    def margin(x, some):
        return 1 - 4 * (x.norm(dim=1) - 2).clamp(min=0)

    found = smallest_shift(by_autograd(margin), torch.tensor([[3.0, 4.0]]).double(), largest=50.0)
    assert 2.25 <= found.radius.item() <= 2.25 * CLOSE * 1.001


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-150, 1.0])
def test_the_length_of_a_slope_does_not_matter_but_its_direction_does(size):
    slope = torch.tensor([[3.0, 4.0]], dtype=torch.float64)

    def falling(x, some):
        return 10 - x @ slope[0], (slope * size).expand_as(x)

    found = smallest_shift(falling, slope * size, largest=9.0)
    assert 2 <= found.radius.item() <= 2 * CLOSE * 1.001
    torch.testing.assert_close(found.shift[0], slope[0] / 5 * found.radius, rtol=1e-3, atol=0)
