"""Sizes of rationales, and what is lost with them."""

from __future__ import annotations

import math
from fractions import Fraction

import torch
from hypothesis import given
from hypothesis import strategies as st

from heedful.measures.rationale import PERCENTS, mean_loss, rationale_sizes


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=5))
def test_sizes_are_shares_rounded_up_exactly(lengths):
    sizes = rationale_sizes(torch.tensor(lengths)).tolist()
    for length, row in zip(lengths, sizes, strict=True):
        assert row == [math.ceil(Fraction(percent, 100) * length) for percent in PERCENTS]
        assert min(row) >= 1 and max(row) <= length and row == sorted(row)


def test_losses_keep_their_sign():
    before, after = torch.tensor([0.5, 0.8]), torch.tensor([[0.7, 0.9], [0.0, 0.4]])
    torch.testing.assert_close(mean_loss(before, after), torch.tensor([-0.3, 0.6]))
