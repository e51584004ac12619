"""Erasure curves: by hand, item by item, and properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedful.measures import erasure
from heedful.measures.erasure import erasure_curve, first_flip


def _tensor(values):
    return torch.as_tensor(np.asarray(values, dtype=float))[None]


def _curve(weights, logits, ranking, empty=None):
    """One instance, all items real."""
    weights = _tensor(weights)
    mask = torch.ones_like(weights, dtype=torch.bool)
    empty = None if empty is None else torch.as_tensor(np.asarray(empty, dtype=float))
    return erasure_curve(weights, _tensor(logits), _tensor(ranking), mask, empty)


def _item_by_item(weights, logits, ranking, empty):
    """Erase, renormalise and decide, one prefix after another."""
    order = sorted(range(len(weights)), key=lambda i: (-ranking[i], i))
    said, decisions, removed = [], [], []
    for k in range(len(weights) + 1):
        kept = np.array(weights, dtype=float)
        kept[order[:k]] = 0
        removed.append(1 - kept.sum() / np.sum(weights))
        left = empty if kept.sum() == 0 else kept @ logits / kept.sum()
        said.append(np.full(logits.shape[1], np.nan) if left is None else left)
        if left is None:
            decisions.append(-1)
        else:
            decisions.append(int(left[0] > 0) if len(left) == 1 else int(np.argmax(left)))
    return order, np.array(said), decisions, removed


# Eighths and quarters: every sum is exact in floating point, so that a tie is a tie.
@st.composite
def instances(draw, largest=5):
    n, outputs = draw(st.integers(1, largest)), draw(st.integers(1, 3))
    weights = draw(st.lists(st.sampled_from([0, 0, 1, 1, 2, 4, 8]), min_size=n, max_size=n).filter(any))
    numbers = st.integers(-4, 4)
    logits = draw(st.lists(st.lists(numbers, min_size=outputs, max_size=outputs), min_size=n, max_size=n))
    ranking = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    empty = draw(st.none() | st.lists(numbers, min_size=outputs, max_size=outputs))
    empty = None if empty is None else np.array(empty) / 4
    return np.array(weights) / 8, np.array(logits) / 4, ranking, empty


def test_by_hand():
    """Ranked by what items say: first the second (2), then the first (1), then the third."""
    curve = _curve([0.25, 0.25, 0.5], [1.0, 2.0, -1.0], [1, 2, 0], empty=[0.5])
    assert curve.order.tolist() == [[1, 0, 2]]
    assert curve.logits[0, :, 0].tolist() == pytest.approx([0.25, (0.25 - 0.5) / 0.75, -1.0, 0.5])
    assert curve.removed_mass[0].tolist() == pytest.approx([0, 0.25, 0.5, 1])
    assert curve.decisions.tolist() == [[1, 0, 0, 1]]
    flip = first_flip(curve)
    assert (flip.count.item(), flip.mass.item(), flip.flips.item()) == (1, 0.25, True)
    assert flip.fraction.item() == pytest.approx(1 / 3)
    assert flip.fraction.dtype == torch.float64


def test_a_decision_that_never_changes_has_no_fraction():
    flip = first_flip(_curve([0.5, 0.5], [1.0, 2.0], [0, 1]))
    assert (flip.count.item(), flip.flips.item()) == (0, False)
    assert math.isnan(flip.fraction.item())
    assert math.isnan(flip.mass.item())


def test_a_logit_of_zero_decides_for_class_0_and_a_tie_for_the_lowest_class():
    assert _curve([0.5, 0.5], [1.0, -1.0], [1, 0]).decisions.tolist() == [[0, 0, -1]]
    assert _curve([0.5, 0.5], [[0, 2, 1], [0, 0, 1]], [1, 0]).decisions.tolist() == [[1, 2, -1]]


def test_rounding_does_not_break_a_tie():
    """0.1 + 0.2 − 0.3 is 0, not 5.6e-17, in any order."""
    weights, logits = np.array([0.1, 0.2, 0.3, 0.4]), np.array([1.0, 1.0, -1.0, 5.0])
    for order in ([0, 1, 2, 3], [2, 1, 0, 3], [3, 2, 0, 1]):
        curve = _curve(weights[order], logits[order], logits[order])
        assert curve.decisions[0, :2].tolist() == [1, 0]


def test_when_only_items_of_no_weight_are_left_the_zero_vector_decides():
    without = _curve([1.0, 0.0], [1.0, -1.0], [1, 0])
    assert without.decisions.tolist() == [[1, -1, -1]]
    assert without.logits[0, 1:].isnan().all()
    assert without.removed_mass.tolist() == [[0, 1, 1]]
    given_a_rule = _curve([1.0, 0.0], [1.0, -1.0], [1, 0], empty=[-2.0])
    assert given_a_rule.logits[0, :, 0].tolist() == [1, -2, -2]
    assert first_flip(given_a_rule).count.item() == 1


def test_small_rests_are_exact():
    """What weighs 1e-20 decides alone once the rest is gone; a total minus a prefix would give noise."""
    curve = _curve([1.0, 1e-20, 3e-20], [5.0, 1.0, -3.0], [2, 1, 0])
    assert curve.logits[0, :3, 0].tolist() == pytest.approx([5.0, -2.0, -3.0], rel=1e-14)


def test_masked_items_go_last_whatever_their_score():
    weights, logits = torch.tensor([[0.9, 0.5, 0.5]]), torch.tensor([[math.nan, 1.0, -1.0]])
    mask = torch.tensor([[False, True, True]])
    curve = erasure_curve(weights, logits, torch.tensor([[9.0, -math.inf, 2.0]]), mask)
    assert curve.order.tolist() == [[2, 1, 0]]
    assert curve.decisions.tolist() == [[0, 1, -1, -1]]
    assert curve.removed_mass[0, :3].tolist() == [0, 0.5, 1]
    assert curve.removed_mass[0, 3].isnan()


@given(instances())
def test_item_by_item_gives_the_same(instance):
    weights, logits, ranking, empty = instance
    order, said, decisions, removed = _item_by_item(*instance)
    curve = _curve(weights, logits, ranking, empty)
    assert curve.order[0].tolist() == order
    assert np.allclose(curve.logits[0].numpy(), said, rtol=0, atol=1e-9, equal_nan=True)
    assert curve.decisions[0].tolist() == decisions
    assert curve.removed_mass[0].tolist() == pytest.approx(removed, abs=1e-12)
    flip = first_flip(curve)
    changes = [k for k, d in enumerate(decisions) if d >= 0 and d != decisions[0]]
    assert flip.count.item() == (changes[0] if changes else 0)
    assert flip.flips.item() == bool(changes)


@pytest.mark.parametrize("outputs", [1, 2, 5])
def test_item_by_item_on_random_numbers(outputs):
    rng = np.random.default_rng(outputs)
    for n in (1, 2, 7, 40):
        weights, logits = rng.dirichlet(np.full(n, 0.3)), rng.normal(0, 2, (n, outputs))
        ranking, empty = rng.normal(size=n), rng.normal(size=outputs)
        _, said, decisions, _ = _item_by_item(weights, logits, ranking, empty)
        curve = _curve(weights, logits, ranking, empty)
        assert np.allclose(curve.logits[0].numpy(), said, rtol=0, atol=1e-9)
        assert curve.decisions[0].tolist() == decisions


@given(st.lists(instances(), min_size=1, max_size=4), st.integers(0, 3))
def test_padding_and_batch_do_not_matter(batch, padding):
    """Instances of one number of outputs, padded with numbers that must not be read."""
    outputs = batch[0][1].shape[1]
    batch = [instance for instance in batch if instance[1].shape[1] == outputs]
    items = max(len(weights) for weights, *_ in batch) + padding
    weights = torch.full((len(batch), items), torch.nan, dtype=torch.float64)
    logits = torch.full((len(batch), items, outputs), torch.inf, dtype=torch.float64)
    ranking, mask = (
        torch.full((len(batch), items), torch.nan),
        torch.zeros(len(batch), items, dtype=torch.bool),
    )
    empty = torch.zeros(len(batch), outputs, dtype=torch.float64)
    for row, (own, says, scores, _) in enumerate(batch):
        real = slice(0, len(own))
        weights[row, real], logits[row, real] = torch.as_tensor(own), torch.as_tensor(says)
        ranking[row, real], mask[row, real] = torch.tensor(scores).float(), True
        empty[row, 0] = row - 1
    together = erasure_curve(weights, logits, ranking, mask, empty)
    flips = first_flip(together)
    for row, (own, says, scores, _) in enumerate(batch):
        alone = _curve(own, says, scores, empty[row].numpy())
        real = slice(0, len(own) + 1)
        assert torch.allclose(together.logits[row, real], alone.logits[0], rtol=0, atol=1e-12)
        assert together.decisions[row, real].tolist() == alone.decisions[0].tolist()
        assert (together.decisions[row, len(own) + 1 :] == -1).all()
        assert together.logits[row, len(own) + 1 :].isnan().all()
        for field, expected in zip(flips, first_flip(alone), strict=True):
            assert field[row].item() == pytest.approx(expected[0].item(), nan_ok=True)


def test_blocks_of_instances_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    weights, logits = (
        torch.as_tensor(rng.dirichlet(np.ones(9), 7)),
        torch.as_tensor(rng.normal(size=(7, 9, 3))),
    )
    inputs = (weights, logits, weights, weights > 0.02, torch.zeros(3))
    whole = erasure_curve(*inputs)
    monkeypatch.setattr(erasure, "MEMORY", 1)
    for cut, field in zip(erasure_curve(*inputs), whole, strict=True):
        assert torch.allclose(cut, field, equal_nan=True)


def test_an_empty_batch_gives_an_empty_curve():
    none = torch.zeros(0, 4)
    assert erasure_curve(none, none, none, none > 0).logits.shape == (0, 5, 1)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"ranking": torch.zeros(1, 3)}, "a ranking of shape"),
        ({"ranking": torch.tensor([[1.0, torch.nan]])}, "must not hold NaN"),
        ({"item_logits": torch.zeros(1, 3)}, "do not fit weights"),
        ({"item_logits": torch.tensor([[1.0, torch.inf]])}, "finite"),
        ({"mask": torch.ones(1, 2)}, "boolean mask"),
        ({"empty_logits": torch.zeros(2)}, "empty logits"),
        ({"weights": torch.tensor([[-1.0, 2.0]])}, "negative"),
        ({"mask": torch.zeros(1, 2, dtype=torch.bool)}, "one above 0"),
    ],
)
def test_bad_input_is_named(changed, message):
    half = torch.tensor([[0.5, 0.5]])
    inputs = {"weights": half, "item_logits": half, "ranking": half, "mask": half > 0, **changed}
    with pytest.raises(ValueError, match=message):
        erasure_curve(**inputs)
