"""Which word became which: by offsets, also where words move, vanish, come in or are several."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedful.data.words.substitution import (
    Change,
    aligned,
    changes_between,
    counterparts,
    replace_words,
    shared_numbers,
    stretches,
    word_spans,
)
from heedful.data.words.vocabulary import Vocabulary


def spans_of(text):
    """Words between single spaces."""
    spans, at = [], 0
    for word in text.split(" "):
        spans.append((at, at + len(word)))
        at += len(word) + 1
    return spans


@pytest.mark.parametrize(
    "before, after, changes, expected, replaced",
    [
        ("a fine film", "a fine film", [], [0, 1, 2], []),
        ("a fine film", "a marvellous film", [Change((2, 6), (2, 12))], [0, 1, 2], [(1, 1)]),
        (
            "fine a film",
            "ok a pic",
            [Change((0, 4), (0, 2)), Change((7, 11), (5, 8))],
            [0, 1, 2],
            [(0, 0), (2, 2)],
        ),
        # One word became two: it is the first of them.
        ("a fine film", "a very good film", [Change((2, 6), (2, 11))], [0, 1, 3], [(1, 1)]),
        # Two became one: the first of them it is.
        ("a very good film", "a fine film", [Change((2, 11), (2, 6))], [0, 1, -1, 2], [(1, 1)]),
        # A word was inserted, or deleted.
        ("a film", "a fine film", [Change((2, 2), (2, 7))], [0, 2], []),
        ("a fine film", "a film", [Change((2, 7), (2, 2))], [0, -1, 1], []),
        # The same word twice, one of them replaced.
        ("film film", "film pic", [Change((5, 9), (5, 8))], [0, 1], [(1, 1)]),
    ],
)
def test_words_are_found_again(before, after, changes, expected, replaced):
    spans = spans_of(before), spans_of(after)
    assert aligned(*spans, changes) == expected
    assert stretches(*spans, changes).replaced == replaced


def test_a_text_that_is_cut_off_has_no_counterparts_beyond():
    assert aligned(spans_of("a fine film"), spans_of("a good film")[:1], [Change((2, 6), (2, 6))]) == [
        0,
        -1,
        -1,
    ]


def test_a_part_of_a_word_may_change():
    before, after = spans_of("a well-made film"), spans_of("a badly-made film")
    assert aligned(before, after, [Change((2, 6), (2, 7))]) == [0, 1, 2]


@given(st.lists(st.sampled_from(["a", "fine", "film", "marvellous", ","]), min_size=1, max_size=8), st.data())
def test_substitutions_one_for_one_keep_every_word_in_its_place(words, data):
    text = " ".join(words)
    spans = spans_of(text)
    new = data.draw(st.dictionaries(st.integers(0, len(words) - 1), st.sampled_from(["x", "wonderful"])))
    other, moved = replace_words(text, spans, new)
    changes = changes_between(spans, moved, list(new))
    assert aligned(spans, spans_of(other), changes) == list(range(len(words)))
    found = stretches(spans, spans_of(other), changes)
    assert found.replaced == [(place, place) for place in sorted(new)]
    assert found.before == found.after == found.counterpart == list(range(len(words)))
    assert all(text[slice(*b)] == words[p] for (b, _), p in zip(changes, sorted(new), strict=True))
    # And back again.
    back = [Change(after, before) for before, after in changes]
    assert aligned(spans_of(other), spans, back) == list(range(len(words)))


@pytest.mark.parametrize(
    "before, after, changes, expected",
    [
        ("a fine film", "a very good film", [Change((2, 6), (2, 11))], [0, 1, 1, 2]),
        ("a film", "a very good", [Change((2, 6), (2, 11))], [0, 1, 1]),
        # Cut off, here or there: what one text has beyond the other is counted on, or not there.
        ("a fine", "a good film", [Change((2, 6), (2, 6))], [0, 1, 2]),
        ("a fine film", "a good", [Change((2, 6), (2, 6))], [0, 1]),
        # Cut differently where nothing was changed, in the middle and at the end.
        ("a fi ne film", "a fine film", [], None),
        ("a fine film", "a fine fi lm", [], None),
    ],
)
def test_both_texts_share_their_numbers(before, after, changes, expected):
    spans = spans_of(before), spans_of(after)
    assert shared_numbers(aligned(*spans, changes), spans[1], changes) == expected


def test_many_texts_are_padded():
    texts, others = ["a fine film", "dull"], ["a good film", "boring"]
    changes = [[Change((2, 6), (2, 6))], [Change((0, 4), (0, 6))]]
    found = counterparts([*map(spans_of, texts)], [*map(spans_of, others)], changes)
    assert torch.equal(found, torch.tensor([[0, 1, 2], [0, -1, -1]]))


def test_our_own_tokens_have_spans_that_align():
    words = Vocabulary.learn(["It's a well-made, funny film!", "droll"])
    text, other = "It's a well-made, funny film!", "It's a well-made, hilarious film!"
    before, after = (word_spans(words.encode([t]).pad(np.array([0]), [t]))[0] for t in (text, other))
    found = stretches(before, after, [Change((18, 23), (18, 27))]).replaced
    assert [(text[slice(*before[i])], other[slice(*after[j])]) for i, j in found] == [("funny", "hilarious")]
    assert aligned(before, after, [Change((18, 23), (18, 27))]) == list(range(len(before)))


@pytest.mark.parametrize(
    "before, after, changes, expected",
    [
        ("a fine film", "a very good film", [Change((2, 6), (2, 11))], ([0, 1, 2], [0, 1, 1, 2], [0, 1, 2])),
        ("a very good film", "a fine film", [Change((2, 11), (2, 6))], ([0, 1, 1, 2], [0, 1, 2], [0, 1, 2])),
        ("it 's fine", "he is fine", [Change((0, 5), (0, 5))], ([0, 0, 1], [0, 0, 1], [0, 1])),
        ("a film", "a fine film", [Change((1, 1), (1, 6))], ([0, 1], [0, 1, 2], [0, 2])),
        ("a fine film", "a film", [Change((1, 6), (1, 1))], ([0, 1, 2], [0, 1], [0, -1, 1])),
        # Two changes inside one word of the model's.
        ("a well/made film", "a badly/done film", [Change((2, 6), (2, 7)), Change((7, 11), (8, 12))],
         ([0, 1, 2], [0, 1, 2], [0, 1, 2])),
    ],
)  # fmt: skip
def test_all_words_that_stand_in_the_place_of_each_other_are_one_stretch(before, after, changes, expected):
    found = stretches(spans_of(before), spans_of(after), changes)
    assert (found.before, found.after, found.counterpart) == expected
    numbers = shared_numbers(aligned(spans_of(before), spans_of(after), changes), spans_of(after), changes)
    if len(found.before) == len(found.counterpart) == len(set(found.after)):  # one word each became something
        assert numbers is None or numbers == found.after
