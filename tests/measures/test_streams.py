"""Named streams: their numbers stay what they were when results were first written, and none runs into another."""

from __future__ import annotations

import pytest
import torch

from heedful.measures.streams import Stream, uniform_by_instance

NUMBERS = {
    "SHARED": 0,
    "SINGLE_ERASURE": 1_000_003,
    "FLIP_SET": 2_000_003,
    "RATIONALE": 5_000_003,
    "SENSITIVITY": 6_000_003,
    "PLAUSIBILITY": 7_000_003,
    "DELETIONS": 8_000_003,
    "DELETIONS_RANDOM": 8_000_024,
    "DELETIONS_SHUFFLED": 8_000_025,
}
"""What was drawn for every result that is kept anywhere: a new stream may join them, none may change."""


@pytest.mark.parametrize("name", NUMBERS)
def test_a_stream_keeps_its_number(name):
    assert Stream[name] == NUMBERS[name]


def test_every_stream_is_kept_to_its_number():
    assert set(NUMBERS) == set(Stream.__members__)  # aliases are members too: no two names for one number


def test_streams_give_different_numbers():
    rows = torch.arange(3)
    drawn = torch.stack([uniform_by_instance(rows, 5, seed=0, draw=stream) for stream in Stream])
    assert len(drawn.flatten().unique()) == drawn.numel()


def test_a_draw_is_the_same_bits_as_ever():
    drawn = uniform_by_instance(torch.tensor([7]), 2, seed=3, draw=Stream.FLIP_SET + 1)
    assert drawn.tolist() == [[0.7543116591868815, 0.3195056844030645]]
