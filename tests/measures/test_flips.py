"""The smallest flipping set: by hand, against every subset, and against every ranking."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedful.measures import erasure
from heedful.measures.erasure import erasure_curve, first_flip
from heedful.measures.flips import smallest_flip_set


def _tensor(values):
    return torch.as_tensor(np.asarray(values, dtype=float))[None]


def _find(weights, logits, empty=None):
    """One instance, all items real."""
    weights = _tensor(weights)
    empty = None if empty is None else torch.as_tensor(np.asarray(empty, dtype=float))
    return smallest_flip_set(weights, _tensor(logits), torch.ones_like(weights, dtype=torch.bool), empty)


def _decide(weights, logits, empty, erased=()):
    """The class after erasing, in the arithmetic of the numbers given; None where nothing decides."""
    kept = [i for i in range(len(weights)) if i not in erased]
    total = sum(weights[i] for i in kept)
    if total == 0:
        said = empty
    else:
        said = [sum(weights[i] * logits[i][k] for i in kept) / total for k in range(len(logits[0]))]
    if said is None:
        return None
    return int(said[0] > 0) if len(said) == 1 else max(range(len(said)), key=lambda k: (said[k], -k))


def _smallest_of_all_subsets(weights, logits, empty):
    decided = _decide(weights, logits, empty)
    items = range(len(weights))
    for erased in chain.from_iterable(combinations(items, size) for size in range(1, len(weights) + 1)):
        after = _decide(weights, logits, empty, erased)
        if after is not None and after != decided:
            return len(erased)
    return None


# Thirds and tenths are not exact in floating point: fractions tell a tie from rounding.
@st.composite
def instances(draw, largest=6):
    n, outputs = draw(st.integers(1, largest)), draw(st.integers(1, 4))
    number = st.integers(-5, 5).map(lambda k: Fraction(k, 10))
    weights = draw(st.lists(st.sampled_from([0, 0, 1, 1, 2, 3, 6]), min_size=n, max_size=n).filter(any))
    weights = [Fraction(weight, sum(weights)) for weight in weights]
    logits = draw(st.lists(st.lists(number, min_size=outputs, max_size=outputs), min_size=n, max_size=n))
    empty = draw(st.none() | st.lists(number, min_size=outputs, max_size=outputs))
    return weights, logits, empty


def test_binary_by_hand():
    """Contributions .4, .9, −.4, .1 sum to 1: without .9 the rest is .1, without .4 too it is −.3."""
    found = _find([0.4, 0.3, 0.2, 0.1], [1.0, 3.0, -2.0, 1.0])
    assert (found.size.item(), found.flips.item(), found.to.item()) == (2, True, 0)
    assert found.members.tolist() == [[True, True, False, False]]


def test_three_classes_by_hand():
    """Class 2 needs the first item gone, class 0 the first two."""
    found = _find([0.5, 0.3, 0.2], [[0, 4, 0], [0, 1, 0], [1, 0, 4]])
    assert (found.size.item(), found.to.item()) == (1, 2)
    assert found.members.tolist() == [[True, False, False]]


def test_the_class_named_is_the_one_decided_on():
    """One erasure lets classes 0 and 2 pass class 1; 2 is then the largest."""
    assert _find([0.5, 0.5], [[0, 9, 0], [1, 0, 5]]).to.item() == 2


def test_ties_go_to_the_lowest_class():
    """What is left without the first item is 0: enough to leave class 1, not to leave class 0."""
    logits = np.array([1.0, 0.5, -0.5])
    assert _find([0.5, 0.25, 0.25], logits).size.item() == 1
    assert _find([0.5, 0.25, 0.25], -logits).size.item() == 2


def test_equal_terms_go_in_the_order_of_the_text():
    assert _find([0.25] * 4, [1.0, 1.0, 1.0, -1.5]).members.tolist() == [[True, True, False, False]]


def test_an_instance_that_never_flips():
    found = _find([0.5, 0.5], [1.0, 2.0])
    assert (found.size.item(), found.flips.item(), found.to.item()) == (0, False, -1)
    assert not found.members.any()


def test_the_zero_vector_decides_when_all_weight_is_gone():
    assert not _find([0.5, 0.5, 0.0], [1.0, 2.0, 3.0], empty=[1.0]).flips
    found = _find([0.5, 0.5, 0.0], [1.0, 2.0, 3.0], empty=[-1.0])
    assert (found.size.item(), found.to.item()) == (2, 0)
    assert found.members.tolist() == [[True, True, False]]


def test_what_weighs_nothing_cannot_decide():
    """Only the first item weighs anything; the others say otherwise, but have no say."""
    assert not _find([1.0, 0.0, 0.0], [1.0, -9.0, -9.0]).flips
    assert not _find([1.0], [1.0]).flips
    assert _find([1.0], [1.0], empty=[0.0]).size.item() == 1


@given(instances())
def test_no_subset_is_smaller(instance):
    weights, logits, empty = instance
    found = _find(weights, logits, empty)
    expected = _smallest_of_all_subsets(weights, logits, empty)
    assert found.flips.item() == (expected is not None)
    assert found.size.item() == (expected or 0)
    members = found.members[0].nonzero()[:, 0].tolist()
    assert len(members) == found.size.item()
    if expected is not None:
        assert found.to.item() == _decide(weights, logits, empty, members)
        assert found.to.item() != _decide(weights, logits, empty)


@pytest.mark.parametrize("outputs", [1, 2, 3, 6])
def test_no_subset_is_smaller_on_random_numbers(outputs):
    rng = np.random.default_rng(outputs)
    for n in (1, 2, 3, 5, 8):
        for _ in range(5):
            weights, logits = rng.dirichlet(np.full(n, 0.5)), rng.normal(0, 1, (n, outputs))
            empty = rng.normal(size=outputs)
            found = _find(weights, logits, empty)
            assert found.size.item() == (_smallest_of_all_subsets(weights, logits, empty) or 0)


@given(instances(), st.randoms(use_true_random=False))
def test_no_ranking_flips_sooner(instance, random):
    weights, logits, empty = instance
    found = _find(weights, logits, empty)
    weights, logits = _tensor(weights), _tensor(logits)
    empty = None if empty is None else torch.tensor([float(number) for number in empty], dtype=torch.float64)
    mask = torch.ones_like(weights, dtype=torch.bool)
    for ranking in (
        weights,
        -weights,
        logits[..., 0],
        _tensor([random.random() for _ in range(weights.shape[1])]),
    ):
        flip = first_flip(erasure_curve(weights, logits, ranking, mask, empty))
        if flip.flips:
            assert found.flips
            assert found.size <= flip.count
    first = first_flip(erasure_curve(weights, logits, found.members.double(), mask, empty))
    assert (first.flips.item(), first.count.item()) == (found.flips.item(), found.size.item())


@given(st.lists(instances(), min_size=1, max_size=4), st.integers(0, 3), st.randoms(use_true_random=False))
def test_padding_batch_and_order_do_not_matter(batch, padding, random):
    """Rows are padded inside as well as at the end, with numbers that must not be read."""
    outputs = len(batch[0][1][0])
    batch = [instance for instance in batch if len(instance[1][0]) == outputs]
    items = max(len(weights) for weights, *_ in batch) + padding
    weights = torch.full((len(batch), items), torch.nan, dtype=torch.float64)
    logits = torch.full((len(batch), items, outputs), torch.inf, dtype=torch.float64)
    mask = torch.zeros(len(batch), items, dtype=torch.bool)
    empty = torch.zeros(len(batch), outputs, dtype=torch.float64)
    for row, (own, says, _) in enumerate(batch):
        places = random.sample(range(items), len(own))
        weights[row, places], logits[row, places] = _tensor(own)[0], _tensor(says)[0]
        mask[row, places] = True
        empty[row, 0] = row - 1
    together = smallest_flip_set(weights, logits, mask, empty)
    assert not (together.members & ~mask).any()
    for row, (own, says, _) in enumerate(batch):
        alone = _find(own, says, empty[row])
        assert together.size[row] == alone.size[0]
        assert together.flips[row] == alone.flips[0]


def test_blocks_of_instances_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    weights, logits = (
        torch.as_tensor(rng.dirichlet(np.ones(9), 7)),
        torch.as_tensor(rng.normal(size=(7, 9, 3))),
    )
    inputs = (weights, logits, weights > 0.02, torch.zeros(3))
    whole = smallest_flip_set(*inputs)
    monkeypatch.setattr(erasure, "MEMORY", 1)
    for cut, field in zip(smallest_flip_set(*inputs), whole, strict=True):
        assert torch.equal(cut, field)


def test_one_logit_per_item_or_its_two_classes_give_the_same():
    rng = np.random.default_rng(1)
    weights, logits = torch.as_tensor(rng.dirichlet(np.ones(9), 7)), torch.as_tensor(rng.normal(size=(7, 9)))
    mask = weights > 0.02
    two = torch.stack([torch.zeros_like(logits), logits], dim=-1)
    one_output = smallest_flip_set(weights, logits, mask, torch.tensor([0.1]))
    two_outputs = smallest_flip_set(weights, two, mask, torch.tensor([0.0, 0.1]))
    for one, other in zip(one_output, two_outputs, strict=True):
        assert torch.equal(one, other)
