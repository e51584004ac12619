"""Shuffled weights: by hand, by brute force over all permutations, and independent of batch and padding."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import torch

from heedful.measures.permutation import permutation_change, permuted_weights
from heedful.measures.streams import shuffles_by_instance, uniform_by_instance


def test_two_items_either_stay_or_change_places():
    weights, mask = torch.tensor([[0.9, 0.1]]), torch.ones(1, 2, dtype=torch.bool)
    seen = {
        tuple(permuted_weights(weights, mask, torch.tensor([0]), seed=0, draw=draw)[0].tolist())
        for draw in range(50)
    }
    assert len(seen) == 2


def test_median_by_hand():
    """One item stays where it is whatever the shuffle; with equal logits nothing moves."""
    alone = permutation_change(
        torch.tensor([[1.0]]), torch.tensor([[3.0]]), torch.ones(1, 1, dtype=torch.bool)
    )
    assert alone.tolist() == [0.0]
    flat = permutation_change(
        torch.tensor([[0.5, 0.3, 0.2]]), torch.full((1, 3), 2.0), torch.ones(1, 3, dtype=torch.bool)
    )
    assert flat.item() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("classes", [1, 3])
def test_the_median_is_that_of_all_permutations(classes):
    generator = torch.Generator().manual_seed(0)
    weights = torch.softmax(torch.randn(1, 4, generator=generator, dtype=torch.float64), dim=-1)
    logits = torch.randn(1, 4, classes, generator=generator, dtype=torch.float64) * 3

    def probabilities(w):
        z = torch.einsum("n,nk->k", w, logits[0])
        return torch.softmax(torch.cat([torch.zeros(1), z]) if classes == 1 else z, dim=-1)

    before = probabilities(weights[0])
    every = [
        float((probabilities(weights[0, list(p)]) - before).abs().sum() / 2) for p in permutations(range(4))
    ]
    given = logits[..., 0] if classes == 1 else logits
    mask = torch.ones(1, 4, dtype=torch.bool)
    found = permutation_change(weights, given, mask, permutations=4001).item()
    # The median of many draws lies between the two middle values of all 24, or next to them.
    ordered = sorted(every)
    assert ordered[9] <= found <= ordered[14]


def test_neither_padding_nor_companions_nor_order_change_a_row():
    generator = torch.Generator().manual_seed(1)
    weights = torch.rand(3, 5, generator=generator)
    mask = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1], [1, 0, 0, 0, 0]], dtype=torch.bool)
    weights = weights * mask / (weights * mask).sum(1, keepdim=True)
    logits = torch.randn(3, 5, generator=generator)
    rows = torch.tensor([4, 9, 2])
    together = permutation_change(weights, logits, mask, rows)
    backwards = permutation_change(weights.flip(0), logits.flip(0), mask.flip(0), rows.flip(0)).flip(0)
    alone = permutation_change(weights[:1, :3], logits[:1, :3], mask[:1, :3], rows[:1])
    torch.testing.assert_close(together, backwards)
    torch.testing.assert_close(together[:1], alone)
    assert together[2] == 0


def test_masked_items_keep_no_weight_and_real_ones_keep_theirs():
    weights = torch.tensor([[0.5, 0.0, 0.3, 0.2]])
    mask = torch.tensor([[True, False, True, True]])
    for draw in range(20):
        shuffled = permuted_weights(weights, mask, torch.tensor([3]), seed=1, draw=draw)
        assert shuffled[0, 1] == 0
        assert sorted(shuffled[0, mask[0]].tolist()) == pytest.approx([0.2, 0.3, 0.5])


def test_changes_are_those_of_the_shuffled_weights_one_draw_at_a_time(monkeypatch):
    """With items masked anywhere, several classes, and blocks that cut both rows and draws."""
    generator = torch.Generator().manual_seed(2)
    mask = torch.rand(5, 9, generator=generator) < 0.7
    mask[3] = False  # a text without items does not move
    weights = torch.rand(5, 9, generator=generator).double() * mask
    logits = torch.randn(5, 9, 3, generator=generator).double()
    rows = torch.tensor([8, 1, 4, 0, 2])
    before = torch.softmax(torch.einsum("bn,bnk->bk", weights, logits), dim=-1)
    moved = []
    for draw in range(10):
        shuffled = permuted_weights(weights, mask, rows, seed=5, draw=draw)
        after = torch.softmax(torch.einsum("bn,bnk->bk", shuffled, logits), dim=-1)
        moved.append((after - before).abs().sum(-1) / 2)
    expected = torch.stack(moved).quantile(0.5, dim=0)
    for weights_at_once in (2**17, 20):
        monkeypatch.setattr("heedful.measures.permutation._WEIGHTS", weights_at_once)
        found = permutation_change(weights, logits, mask, rows, permutations=10, seed=5)
        torch.testing.assert_close(found, expected)


def test_every_order_is_equally_likely():
    orders = shuffles_by_instance(torch.arange(60), torch.full((60,), 3), seed=0, draws=range(100))
    _, counts = np.unique(orders.flatten(0, 1).numpy(), axis=0, return_counts=True)
    assert len(counts) == 6
    assert abs(counts - 1000).max() < 120  # four standard deviations


def test_random_numbers_are_uniform_and_different_by_seed_draw_row_and_place():
    drawn = uniform_by_instance(torch.arange(200), 50, seed=0)
    assert drawn.min() >= 0
    assert drawn.max() < 1
    counts = np.histogram(drawn.numpy(), bins=10, range=(0, 1))[0]
    assert abs(counts - 1000).max() < 120  # four standard deviations of a bin's count
    assert len(torch.unique(drawn)) == drawn.numel()
    for other in ({"seed": 1}, {"seed": 0, "draw": 1}):
        assert not torch.isclose(drawn, uniform_by_instance(torch.arange(200), 50, **other)).any(1).all()


def test_the_published_codes_medians_are_met_on_its_own_weights(published):
    """Its draws are not ours, so single medians differ; their mean and their order do not."""
    lengths = torch.from_numpy(published["lengths"])
    mask = torch.arange(int(lengths.max()))[None, :] < lengths[:, None]
    weights, logits = (
        torch.zeros(mask.shape, dtype=torch.float64).masked_scatter(
            mask, torch.from_numpy(published[name]).double()
        )
        for name in ("attention", "token_logits")
    )
    found, theirs = permutation_change(weights, logits, mask).numpy(), published["permutation_median_delta"]
    assert found.mean() == pytest.approx(theirs.mean(), abs=0.002)
    assert np.corrcoef(found, theirs)[0, 1] > 0.97
