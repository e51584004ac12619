"""What other weights mean where a head reads one row of attention, or several."""

from __future__ import annotations

import torch

from heedful.models.huggingface.attention_rows import own_weights, with_weights


def case(*, rows):
    """Two texts of five tokens, the first a special one, and two heads; `rows` says which queries are read."""
    drawn = torch.rand(2, 2, 5, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    natural = drawn / drawn.sum(-1, keepdim=True)
    read = torch.zeros(2, 5, dtype=torch.bool)
    read[:, rows] = True
    words = torch.tensor([[False, True, True, True, True], [False, True, True, True, False]])
    return natural, read, words


def test_own_weights_are_the_words_share_and_sum_to_one():
    natural, read, words = case(rows=[0])
    own, fixed = own_weights(natural, read, words)
    torch.testing.assert_close(own[0, 0, 1:], natural[0, 0, 0, 1:] / natural[0, 0, 0, 1:].sum())
    torch.testing.assert_close(fixed[0, :, 0], natural[0, :, 0, 0])
    torch.testing.assert_close(own.sum(-1), torch.ones(2, 2, dtype=torch.float64))


def test_own_weights_change_nothing_whether_one_row_is_read_or_several():
    for rows in ([0], [0, 1, 2], [0, 1, 2, 3, 4]):
        natural, read, words = case(rows=rows)
        own, _ = own_weights(natural, read, words)
        torch.testing.assert_close(with_weights(natural, own, own, read, words), natural)


def test_special_tokens_and_rows_that_are_not_read_keep_theirs():
    natural, read, words = case(rows=[0, 2])
    own, _ = own_weights(natural, read, words)
    other = own.flip(0) * words[:, None]
    changed = with_weights(natural, other / other.sum(-1, keepdim=True), own, read, words)
    assert torch.equal(changed[:, :, [1, 3, 4]], natural[:, :, [1, 3, 4]])
    torch.testing.assert_close(changed[..., 0], natural[..., 0])
    torch.testing.assert_close(changed.sum(-1), natural.sum(-1))
    assert not torch.allclose(changed, natural)


def test_what_is_erased_or_has_all_the_weight_is_so_in_every_row_that_is_read():
    natural, read, words = case(rows=[0, 1, 2])
    own, _ = own_weights(natural, read, words)
    without = own.clone()
    without[..., 2] = 0
    rows = with_weights(natural, without / without.sum(-1, keepdim=True), own, read, words)[:, :, :3]
    assert (rows[..., 2] == 0).all()
    kept = natural[:, :, :3] * words[:, None, None]
    kept[..., 2] = 0
    torch.testing.assert_close(rows[..., 1] / rows[..., 3], kept[..., 1] / kept[..., 3])
    alone = torch.zeros_like(own)
    alone[..., 3] = 1
    rows = with_weights(natural, alone, own, read, words)[:, :, :3]
    torch.testing.assert_close(rows[..., 3], (natural * words[:, None, None]).sum(-1)[:, :, :3])


def test_a_row_that_sees_none_of_the_weighted_words_takes_the_weights_themselves():
    natural, read, words = case(rows=[0, 1])
    natural[:, :, 0, 3] = 0
    own, _ = own_weights(natural, read, words)
    alone = torch.zeros_like(own)
    alone[..., 3] = 1
    changed = with_weights(natural, alone, own, read, words)
    torch.testing.assert_close(changed[:, :, 0, 3], (natural * words[:, None, None]).sum(-1)[:, :, 0])


def test_words_without_any_weight_share_alike():
    natural, read, words = case(rows=[0])
    natural[:, :, 0] = torch.tensor([1.0, 0, 0, 0, 0], dtype=torch.float64)
    own, _ = own_weights(natural, read, words)
    torch.testing.assert_close(own[0, 0], torch.tensor([0, 0.25, 0.25, 0.25, 0.25], dtype=torch.float64))


def test_a_share_too_small_to_divide_by_is_still_divided_as_it_is():
    natural, read, words = case(rows=[0])
    natural = natural.float()
    natural[:, :, 0] = torch.tensor([1.0, 3e-45, 1e-45, 0, 0])
    own, _ = own_weights(natural, read, words)
    parts = natural[0, 0, 0, 1:].double()
    torch.testing.assert_close(own[0, 0, 1:].double(), parts / parts.sum())
    torch.testing.assert_close(own.sum(-1), torch.ones(2, 2))
    scores = torch.tensor([0.0, -101, -103, -104, -104]).expand(2, 2, 5, 5).clone().requires_grad_()
    own, _ = own_weights(scores.softmax(-1), read, words)
    (slope,) = torch.autograd.grad((own * torch.arange(5.0)).sum(), scores)
    assert bool(slope.isfinite().all())
