"""The inner maximum of SEAT: by hand, against search and against many random changes."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from heedful.measures.inner_maximum import binary_kl, exact_maximum, searched_maximum
from heedful.measures.norms import Norm, dual_norm, project, steepest

NORMS: tuple[Norm, ...] = ("linf", "l2", "l1")
ORDER = {"linf": torch.inf, "l2": 2, "l1": 1}


def length(delta: Tensor, norm: Norm) -> Tensor:
    return torch.linalg.vector_norm(delta, ord=ORDER[norm], dim=-1)


def problem(seed: int, batch: int = 6, places: int = 5) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(batch, generator=generator, dtype=torch.float64) * 2
    slopes = torch.randn(batch, places, generator=generator, dtype=torch.float64)
    mask = torch.rand(batch, places, generator=generator) < 0.8
    mask[:, 0] = True
    return logits, slopes * mask, mask


def test_by_hand() -> None:
    # One place, slope 2, radius 0.5: the logit 0 can reach ±1; KL(½ ‖ σ(1)) = −½ ln(4 σ(1) σ(−1)).
    found = exact_maximum(torch.tensor([0.0]), torch.tensor([[2.0]]), radius=0.5, norm="l2")
    one = torch.tensor(1.0)
    assert found.item() == pytest.approx(-0.5 * torch.log(4 * one.sigmoid() * (-one).sigmoid()).item())


def test_divergence_of_certain_predictions_is_finite() -> None:
    z = torch.tensor([60.0, -60.0, 60.0], requires_grad=True)
    found = binary_kl(z, torch.tensor([-60.0, 60.0, 60.0]))
    assert found.tolist() == pytest.approx([60.0, 60.0, 0.0], abs=1e-4)
    (slope,) = torch.autograd.grad(found.sum(), z)
    assert slope.isfinite().all()


@pytest.mark.parametrize("norm", NORMS)
@given(seed=st.integers(0, 10_000), radius=st.floats(0.01, 2.0))
def test_never_below_search_nor_any_change(norm: Norm, seed: int, radius: float) -> None:
    logits, slopes, mask = problem(seed)
    exact = exact_maximum(logits, slopes, radius=radius, norm=norm)

    def loss(delta: Tensor) -> Tensor:
        return binary_kl(logits, logits + (slopes * delta).sum(-1))

    generator = torch.Generator().manual_seed(seed)
    delta = searched_maximum(loss, mask, radius=radius, norm=norm, steps=10, generator=generator)
    assert (length(delta, norm) <= radius * (1 + 1e-5)).all()
    assert (delta[~mask] == 0).all()
    assert (loss(delta) <= exact + 1e-5 * (1 + exact)).all()
    drawn = torch.randn(200, *mask.shape, generator=generator, dtype=torch.float64) * mask
    drawn = project(drawn.flatten(0, 1), radius=radius, norm=norm, surface=True).view(200, *mask.shape)
    assert (binary_kl(logits, logits + (slopes * drawn).sum(-1)) <= exact + 1e-9).all()


@pytest.mark.parametrize("norm", NORMS)
def test_the_corners_of_the_ball_reach_it(norm: Norm) -> None:
    logits, slopes, _ = problem(3, places=4)
    corners = {
        "linf": [torch.tensor(signs) for signs in itertools.product([-1.0, 1.0], repeat=4)],
        "l1": [sign * row for row in torch.eye(4) for sign in (-1, 1)],
        "l2": [],
    }[norm]
    if norm == "l2":
        unit = slopes / length(slopes, "l2")[:, None]
        reached = [sign * (slopes * unit).sum(-1) for sign in (-1, 1)]
    else:
        reached = [(slopes * corner.double()).sum(-1) for corner in corners]
    brute = torch.stack([binary_kl(logits, logits + 0.3 * shift) for shift in reached]).amax(0)
    assert torch.allclose(exact_maximum(logits, slopes, radius=0.3, norm=norm), brute, atol=1e-12)


@pytest.mark.parametrize("norm", NORMS)
def test_search_comes_near_and_does_not_start_at_nothing(norm: Norm) -> None:
    logits, slopes, mask = problem(1, batch=40)
    exact = exact_maximum(logits, slopes, radius=0.1, norm=norm)

    def loss(delta: Tensor) -> Tensor:
        assert (delta.abs().sum(-1) > 0).all()
        return binary_kl(logits, logits + (slopes * delta).sum(-1))

    delta = searched_maximum(
        loss, mask, radius=0.1, norm=norm, steps=20, generator=torch.Generator().manual_seed(0)
    )
    # It may climb to the lower of the two ends, and often reaches the higher one.
    assert (loss(delta) > 0.8 * exact).float().mean() > 0.5


@pytest.mark.parametrize("norm", NORMS)
@given(seed=st.integers(0, 10_000))
def test_projection_is_the_nearest_point(norm: Norm, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    outside = torch.randn(4, 5, generator=generator, dtype=torch.float64)
    inside = project(outside, radius=0.7, norm=norm)
    assert (length(inside, norm) <= 0.7 + 1e-9).all()
    assert torch.allclose(project(inside, radius=0.7, norm=norm), inside)
    others = project(
        torch.randn(4, 300, 5, generator=generator, dtype=torch.float64).flatten(0, 1), radius=0.7, norm=norm
    )
    distance = (outside - inside).norm(dim=-1)
    assert ((outside[:, None] - others.view(4, 300, 5)).norm(dim=-1) >= distance[:, None] - 1e-9).all()


@pytest.mark.parametrize("norm", NORMS)
def test_the_steepest_direction_reaches_the_dual_norm(norm: Norm) -> None:
    slopes = problem(5)[1]
    up = steepest(slopes, norm)
    assert torch.allclose((up * slopes).sum(-1), dual_norm(slopes, norm))
    assert (length(up, norm) <= 1 + 1e-9).all()
    assert not steepest(torch.zeros(1, 3), norm).isnan().any()
