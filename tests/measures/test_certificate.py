"""Certified radii against the corners of their balls: just inside nothing flips, just outside something does."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.measures.certificate import certified_radius
from heedful.measures.norms import NORMS

MASK = torch.tensor([[True] * 5])


def example(seed, outputs, heads=1, items=5):
    random = torch.Generator().manual_seed(seed)
    logits = torch.randn(1, outputs, generator=random, dtype=torch.float64)
    return logits, torch.randn(1, heads, items, outputs, generator=random, dtype=torch.float64)


def decide(logits):
    return (logits[..., 0] > 0).long() if logits.shape[-1] == 1 else logits.argmax(-1)


def corners(norm, effects, zero_sum, decided):
    """Directions of norm 1 among which the worst one is, whatever the effects; for ℓ2 many, and the analytic ones."""
    _, heads, items, _ = effects.shape
    if (
        norm == "l1" and zero_sum
    ):  # corners of the cross-polytope cut by a plane: half up at one item, half down
        pairs = [(h, i, j) for h in range(heads) for i in range(items) for j in range(items) if i != j]
        found = torch.zeros(len(pairs), heads, items, dtype=torch.float64)
        for place, (h, i, j) in enumerate(pairs):
            found[place, h, i], found[place, h, j] = 0.5, -0.5
        return found
    if norm == "l1":
        axes = torch.eye(heads * items, dtype=torch.float64).view(-1, heads, items)
        return torch.cat([axes, -axes])
    if norm == "linf":
        signs = torch.tensor(list(product((-1.0, 0.0, 1.0), repeat=heads * items)), dtype=torch.float64)
        signs = signs.view(-1, heads, items)
        return signs[(signs.sum(-1) == 0).all(1)] if zero_sum else signs  # an odd one out may be 0
    torch.manual_seed(0)
    found = torch.randn(4000, heads, items, dtype=torch.float64)
    both = effects if effects.shape[-1] > 1 else torch.cat([torch.zeros_like(effects), effects], -1)
    found = torch.cat([found, (both - both[..., decided : decided + 1])[0].permute(2, 0, 1)])
    if zero_sum:
        found = found - found.mean(-1, keepdim=True)
    return found / found.flatten(1).norm(dim=1).clamp(min=1e-12)[:, None, None]


@pytest.mark.parametrize("zero_sum", [False, True])
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("outputs", "heads", "items"), [(1, 1, 5), (3, 1, 5), (1, 2, 4), (3, 2, 3)])
def test_the_radius_is_where_the_first_corner_flips(norm, zero_sum, outputs, heads, items):
    for seed in range(5):
        logits, effects = example(seed, outputs, heads, items)
        mask = torch.ones(1, items, dtype=torch.bool)
        radius = certified_radius(logits, effects, mask, norm=norm, zero_sum=zero_sum).item()
        before = decide(logits)[0].item()
        directions = corners(norm, effects, zero_sum, before)
        moved = torch.einsum("dhn,hnk->dk", directions, effects[0])
        inside, outside = (decide(logits + factor * radius * moved) for factor in (0.9999, 1.0001))
        assert (inside == before).all()
        assert (outside != before).any()


def test_by_hand():
    """v = (2, −1, 0.5) and a margin of 0.7; less the median, mean and middle of 0.5."""
    effects, logits = torch.tensor([[[[2.0], [-1.0], [0.5]]]]), torch.tensor([[-0.7]])
    mask = torch.tensor([[True] * 3])
    free = [certified_radius(logits, effects, mask, norm=norm).item() for norm in NORMS]
    assert free == pytest.approx([0.7 / 3.5, 0.7 / 5.25**0.5, 0.7 / 2])
    held = [certified_radius(logits, effects, mask, norm=norm, zero_sum=True).item() for norm in NORMS]
    assert held == pytest.approx([0.7 / 3, 0.7 / 4.5**0.5, 0.7 / 1.5])


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.sampled_from([1, 3]))
def test_norms_are_ordered_and_padding_and_constants_change_nothing(seed, outputs):
    logits, effects = example(seed, outputs)
    found = {
        (norm, held): certified_radius(logits, effects, MASK, norm=norm, zero_sum=held).item()
        for norm in NORMS
        for held in (False, True)
    }
    for held in (False, True):
        assert found["linf", held] <= found["l2", held] + 1e-12 <= found["l1", held] + 2e-12
    for norm in NORMS:
        assert found[norm, True] >= found[norm, False] - 1e-12  # fewer changes are allowed
        padded = torch.cat([effects, torch.full_like(effects[:, :, :2], 9.0)], dim=2)
        mask = torch.tensor([[True] * 5 + [False] * 2])
        for held, added in ((False, 0.0), (True, 3.0)):
            again = certified_radius(logits, padded + added, mask, norm=norm, zero_sum=held).item()
            assert again == pytest.approx(found[norm, held])


def test_classes_that_are_no_candidates_are_not_reached():
    logits, effects = example(1, 3)
    logits[0, 2], effects[..., 2] = -1e9, 0.0
    allowed = torch.tensor([[True, True, False]])
    alone = certified_radius(logits[:, :2], effects[..., :2], MASK, norm="l2")
    torch.testing.assert_close(certified_radius(logits, effects, MASK, norm="l2", candidates=allowed), alone)
    one = torch.tensor([[False, False, False]]).scatter(1, logits.argmax(1, keepdim=True), True)
    assert certified_radius(logits, effects, MASK, norm="l2", candidates=one).isinf().all()


def test_what_says_nothing_can_be_moved_for_ever():
    logits, effects = torch.tensor([[0.3]]), torch.ones(1, 1, 5, 1)
    assert certified_radius(logits, torch.zeros_like(effects), MASK, norm="linf").isinf().all()
    for norm in NORMS:
        assert certified_radius(logits, effects, MASK, norm=norm, zero_sum=True).isinf().all()
        assert certified_radius(logits, effects, MASK, norm=norm).isfinite().all()
