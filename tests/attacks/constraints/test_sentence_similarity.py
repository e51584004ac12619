from __future__ import annotations

import math

import pytest
import torch

from heedful.attacks.constraints.sentence_similarity import SentenceSimilarity, window_around
from heedful.attacks.draft import Draft, Source

DRAFT = Draft(Source.cut("one two three four five , six !"))


class Angles:
    """Sentences as vectors of a plane, by an angle for each word; how often it was asked is counted."""

    def __init__(self):
        self.sentences = []

    def __call__(self, sentences):
        self.sentences += sentences
        angles = torch.tensor([sum(0.05 * len(word) for word in text.split()) for text in sentences])
        return torch.stack([angles.cos(), angles.sin()], dim=1)


def test_by_hand():
    similarity = SentenceSimilarity(Angles(), least=0.9, window=None)
    # "two" becomes a word of four letters more: an angle of 0.2, and of twenty more: an angle of one.
    near, far = (DRAFT.replaced(1, "two" + "x" * more) for more in (4, 20))
    assert similarity.compare([near, far]) == [pytest.approx(1 - 0.2 / math.pi), None]


@pytest.mark.parametrize(("to", "angle"), [("current", 0.1), ("original", 0.3)])
def test_a_second_substitute_is_compared_with_the_text_it_was_put_into_or_with_the_original(to, angle):
    twice = DRAFT.replaced(1, "twoxxxx").replaced(2, "threexx")
    found = SentenceSimilarity(Angles(), least=0.0, window=None, to=to).compare([twice])
    assert found == [pytest.approx(1 - angle / math.pi)]


def test_windows_hold_the_words_around_and_short_texts_are_not_asked():
    encode = Angles()
    found = SentenceSimilarity(encode, least=0.0, window=3).compare(
        [DRAFT.replaced(p, "xx") for p in (0, 3, 5)]
    )
    assert len(found) == 3
    assert set(encode.sentences) == {
        "one two three", "xx two three", "three four five", "three xx five", "four five , six", "four five , xx",
    }  # fmt: skip
    assert SentenceSimilarity(encode, least=1.0, window=7).compare([DRAFT.replaced(0, "xx")]) == [1.0]


def test_windows_are_whole_at_both_ends():
    assert [window_around(place, 20, 15) for place in (0, 6, 7, 12, 13, 19)] == [
        (0, 14), (0, 14), (0, 14), (5, 19), (5, 19), (5, 19),
    ]  # fmt: skip
    assert window_around(3, 9, 4) == (1, 4)
