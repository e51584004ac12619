"""Divergences by hand, against scipy's terms, and what must hold for any distributions."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import rel_entr

from heedful.measures.divergence import jsd, kl, sharpness, tvd

LN_2 = math.log(2)


def _distributions(seed: int, *, rows: int = 4, items: int = 6) -> tuple[torch.Tensor, torch.Tensor]:
    """Pairs with exact zeros, also in the same place, and weights over many orders of magnitude."""
    rng = np.random.default_rng(seed)
    raw = rng.random((2, rows, items)) ** rng.choice([1, 20], (2, rows, items)) * (
        rng.random((2, rows, items)) < 0.7
    )
    raw[..., 0] += 1e-3
    return tuple(torch.from_numpy(raw / raw.sum(-1, keepdims=True)))


def _close(found: torch.Tensor, expected: object, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(found.detach().numpy(), np.asarray(expected), rtol=0, atol=tolerance)


def test_tvd_by_hand_in_its_three_conventions():
    p, q = torch.tensor([[0.9, 0.1]]).double(), torch.tensor([[0.3, 0.7]]).double()
    assert tvd(p, q).item() == pytest.approx(0.6)  # over both classes
    assert (p - q)[:, 1].abs().item() == pytest.approx(0.6)  # Jain & Wallace: |Δσ|
    assert tvd(p[:, 1:], q[:, 1:]).item() == pytest.approx(0.3)  # Wiegreffe & Pinter: ½|Δσ|
    assert tvd(torch.tensor([1.0, 0, 0]), torch.tensor([0, 0.5, 0.5])).item() == 1.0


def test_kl_by_hand():
    p, q = torch.tensor([[0.5, 0.5, 0.0]]).double(), torch.tensor([[0.25, 0.5, 0.25]]).double()
    _close(kl(p, q), [0.5 * LN_2])
    assert kl(q, p).item() == math.inf


def test_jsd_by_hand():
    p, q = torch.tensor([[1.0, 0.0]]).double(), torch.tensor([[0.5, 0.5]]).double()
    _close(jsd(p, q), [0.5 * math.log(4 / 3) + 0.5 * (0.5 * math.log(2 / 3) + 0.5 * LN_2)])
    assert jsd(p, p.flip(-1)).item() == LN_2
    assert jsd(q, q).item() == 0


def test_sharpness_by_hand():
    mask = torch.tensor([[True, True, False, False], [True] * 4, [True, False, False, False], [False] * 4])
    weights = torch.tensor([[1.0, 0, 0, 0], [0.25] * 4, [1.0, 0, 0, 0], [0.0] * 4]).double()
    one_of_two = 0.5 * math.log(4 / 3) + 0.5 * (0.5 * math.log(2 / 3) + 0.5 * LN_2)
    _close(sharpness(weights, mask), [one_of_two, 0, 0, math.nan])


def test_sharpness_is_exact_in_float64_where_the_uniform_weight_is_not_a_float32():
    mask = torch.ones(1, 3, dtype=torch.bool)
    assert sharpness(torch.full((1, 3), 1 / 3, dtype=torch.float64), mask).item() == 0


@given(st.integers(0, 10**6))
def test_equal_to_scipy(seed):
    p, q = _distributions(seed)
    m = (p + q).numpy() / 2
    _close(kl(p, q), rel_entr(p.numpy(), q.numpy()).sum(-1))
    expected = rel_entr(p.numpy(), m).sum(-1) / 2 + rel_entr(q.numpy(), m).sum(-1) / 2
    _close(jsd(p, q), expected)
    assert jsd(p.float(), q.float()).dtype == torch.float32
    _close(jsd(p.float(), q.float()), expected, 1e-6)


@given(st.integers(0, 10**6))
def test_bounds_and_symmetry(seed):
    p, q = _distributions(seed)
    for divergence, ceiling in ((jsd, LN_2), (tvd, 1 + 1e-12)):
        assert (divergence(p, q) >= 0).all() and (divergence(p, q) <= ceiling).all()
        assert torch.equal(divergence(p, q), divergence(q, p))
        assert (divergence(p, p) == 0).all()
    assert (kl(p, q) >= -1e-12).all()
    assert (kl(p, p) == 0).all()
    assert (jsd(p, q) <= tvd(p, q) * LN_2 + 1e-12).all()  # Lin 1991


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_independent_of_padding_batch_and_order(seed, padding):
    p, q = _distributions(seed)
    mask = torch.nn.functional.pad(torch.ones_like(p, dtype=torch.bool), (0, padding), value=False)
    garbage = torch.tensor([math.nan, 7.0, -1.0, math.inf])[:padding].expand(len(p), -1)
    padded_p, padded_q = torch.cat([p, garbage], 1), torch.cat([q, garbage.flip(-1)], 1)
    for divergence in (kl, jsd):
        whole = divergence(p, q)
        _close(divergence(padded_p, padded_q, mask=mask), whole)
        _close(torch.stack([divergence(a, b) for a, b in zip(p, q, strict=True)]), whole)
        order = torch.randperm(p.shape[1], generator=torch.Generator().manual_seed(seed))
        _close(divergence(p[:, order], q[:, order]), whole)
    _close(sharpness(padded_p, mask), sharpness(p, torch.ones_like(p, dtype=torch.bool)))


@given(st.integers(0, 10**6))
def test_gradients_are_finite_with_zeros_and_padding(seed):
    p, q = _distributions(seed)
    p[:, -1], q[:, -1] = math.nan, math.inf
    mask = torch.ones_like(p, dtype=torch.bool)
    mask[:, -1] = False
    for divergence in (kl, jsd):
        a, b = p.clone().requires_grad_(), q.clone().requires_grad_()
        value = divergence(a, b, mask=mask)
        value[value.isfinite()].sum().backward()
        assert (a.grad[:, -1] == 0).all() and (b.grad[:, -1] == 0).all()
        assert a.grad.isfinite().all() and b.grad.isfinite().all()  # also in the rows left out


def test_a_zero_weight_has_no_gradient_through_kl():
    p = torch.tensor([0.0, 0.4, 0.6], dtype=torch.float64, requires_grad=True)
    kl(p, torch.tensor([0.0, 0.5, 0.5], dtype=torch.float64)).backward()
    _close(p.grad, [0, math.log(0.8) + 1, math.log(1.2) + 1])


def test_gradients_agree_with_finite_differences():
    p, q = (
        torch.softmax(torch.randn(3, 5, generator=torch.Generator().manual_seed(s)).double(), -1)
        for s in (0, 1)
    )
    p.requires_grad_()
    q.requires_grad_()
    assert torch.autograd.gradcheck(kl, (p, q))
    assert torch.autograd.gradcheck(jsd, (p, q))


@pytest.mark.parametrize("tiny", [1e-45, 1e-40, 1e-30])
def test_weights_too_small_for_a_quotient_are_safe(tiny):
    p = torch.tensor([1.0, tiny, tiny], requires_grad=True)
    q = torch.tensor([1.0, 0.0, tiny], requires_grad=True)
    value = jsd(p, q)
    value.backward()
    assert 0 <= value.item() <= tiny
    assert p.grad.isfinite().all() and q.grad.isfinite().all()


@pytest.mark.parametrize("divergence", [tvd, kl, jsd])
def test_a_nan_among_real_items_shows(divergence):
    fine, broken = torch.tensor([0.5, 0.5]), torch.tensor([math.nan, 1.0])
    assert divergence(fine, broken).isnan() and divergence(broken, fine).isnan()


def test_leading_axes_broadcast():
    p, q = _distributions(3)
    many = torch.stack([p, q, p])  # [3, rows, items]
    _close(jsd(many, q), torch.stack([jsd(p, q), jsd(q, q), jsd(p, q)]))
