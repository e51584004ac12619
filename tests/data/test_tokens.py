"""Padding: a row is the same whichever rows it is padded with."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedful.data.tokens import FlatTokens
from heedful.data.words.text import PAD
from heedful.data.words.vocabulary import Vocabulary

TEXTS = ["A fine film. Go!", "", "one", "😀 two. three", "!?", "\u200b"]
FIELDS = ("ids", "mask", "present", "offsets", "word_of", "sentence_of")


@pytest.fixture(scope="module")
def flat():
    return Vocabulary.learn(TEXTS, sentences=True).encode(TEXTS)


def pad(flat, rows):
    return flat.pad(np.array(rows, dtype=np.int64), [TEXTS[row] for row in rows])


@given(rows=st.lists(st.integers(0, len(TEXTS) - 1), min_size=1, max_size=8))
def test_a_row_is_the_same_in_any_order_and_company(flat, rows):
    together = pad(flat, rows)
    for place, row in enumerate(rows):
        alone, length = pad(flat, [row]), int(flat.lengths[row])
        assert together.words[place] == alone.words[0]
        for name in FIELDS:
            torch.testing.assert_close(
                getattr(together, name)[place][:length], getattr(alone, name)[0][:length]
            )
        assert not together.present[place][length:].any()
        assert not together.ids[place][length:].any()


def test_a_batch_by_hand(flat):
    batch = pad(flat, [2, 0])
    assert batch.words == [["one"], ["A", "fine", "film", ".", "Go", "!"]]
    assert batch.present.tolist() == [[True] + [False] * 5, [True] * 6]
    assert torch.equal(batch.mask, batch.present)
    assert batch.word_of.tolist() == [[0, -1, -1, -1, -1, -1], [0, 1, 2, 3, 4, 5]]
    assert batch.sentence_of.tolist() == [[0, -1, -1, -1, -1, -1], [0, 0, 0, 0, 1, 1]]
    assert batch.offsets[0].tolist() == [[0, 3]] + [[0, 0]] * 5
    assert batch.ids.dtype == batch.offsets.dtype == torch.int64


@pytest.mark.parametrize("rows", [[1], [1, 5]])
def test_texts_without_a_word_are_all_padding(rows):
    """Also where the whole split has no word."""
    texts = [TEXTS[row] for row in rows]
    batch = Vocabulary.learn(["a"]).encode(texts).pad(np.arange(len(rows)), texts)
    assert batch.ids.shape == (len(rows), 1)
    assert not batch.mask.any() and not batch.present.any()
    assert batch.words == [[] for _ in rows]


def test_padding_has_the_number_of_the_padding_word():
    assert Vocabulary.learn(["a"]).words.index(PAD) == 0


def test_lengths_come_from_the_row_borders():
    flat = FlatTokens(np.array([0, 2, 2, 5]), np.arange(5, dtype=np.int32), np.zeros((5, 2), np.int32))
    assert len(flat) == 3
    assert flat.lengths.tolist() == [2, 0, 3]
