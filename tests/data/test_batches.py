"""Batches: every row once, nearly no padding, the same for the same seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.data.batches import inference_batches, training_batches

LENGTHS = st.lists(st.integers(0, 300), max_size=200).map(np.array).map(lambda a: a.astype(np.int64))
SIZES = st.integers(1, 40)


def plain(batches):
    return [batch.tolist() for batch in batches]


@given(LENGTHS, SIZES, st.integers(0, 5))
def test_training_sees_every_row_once_in_as_few_batches_as_possible(lengths, size, epoch):
    batches = training_batches(lengths, size, seed=1, epoch=epoch)
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    assert len(batches) == -(-len(lengths) // size)
    assert all(1 <= len(batch) <= size for batch in batches)


@given(LENGTHS, SIZES, st.integers(1, 1000))
def test_inference_sees_every_row_once_within_its_budget(lengths, size, budget):
    batches = inference_batches(lengths, size, max_tokens=budget)
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) <= size
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= budget


def test_a_text_over_the_budget_is_a_batch_of_its_own():
    assert plain(inference_batches(np.array([3, 100, 3]), 8, max_tokens=10)) == [[0, 2], [1]]


def test_batches_are_a_matter_of_seed_and_epoch():
    lengths = np.random.default_rng(0).integers(1, 50, 300)
    first = plain(training_batches(lengths, 16, seed=0, epoch=0))
    assert first == plain(training_batches(lengths, 16, seed=0, epoch=0))
    for seed, epoch in ((0, 1), (1, 0)):
        other = plain(training_batches(lengths, 16, seed=seed, epoch=epoch))
        assert {frozenset(batch) for batch in first} != {frozenset(batch) for batch in other}


def test_texts_of_one_length_still_meet_in_random_order():
    batches = training_batches(np.full(64, 5), 8, seed=0, epoch=0)
    assert plain(batches) != [list(range(i, i + 8)) for i in range(0, 64, 8)]


@pytest.mark.parametrize("batches", [training_batches, inference_batches])
def test_little_is_padded(batches):
    """A tenth at most, where batches at random would be padded by more than half."""
    lengths = np.random.default_rng(0).geometric(1 / 50, 5000)
    options = {"seed": 0, "epoch": 0} if batches is training_batches else {}
    padded = sum(len(batch) * lengths[batch].max() for batch in batches(lengths, 32, **options))
    assert padded < 1.1 * lengths.sum()
    in_order = sum(32 * lengths[i : i + 32].max() for i in range(0, 5000, 32))
    assert in_order > 2 * lengths.sum()


def test_one_very_long_text_does_not_pad_its_companions():
    lengths = np.array([10] * 99 + [10_000])
    batches = training_batches(lengths, 32, seed=0, epoch=0, max_tokens=20_000)
    assert sorted(np.concatenate(batches).tolist()) == list(range(100))
    assert all(lengths[batch].max() * len(batch) <= 20_000 for batch in batches)
    (long,) = [batch for batch in batches if 99 in batch]
    assert len(long) <= 2


def test_a_text_beyond_the_bound_is_a_batch_alone():
    assert [b.tolist() for b in training_batches(np.array([50, 50]), 8, seed=0, epoch=0, max_tokens=10)] in (
        [[0], [1]],
        [[1], [0]],
    )
