"""Cutting texts into words and sentences: any text, and every word where the text has it."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.data.words.text import clean_text, sentence_starts
from heedful.data.words.vocabulary import Vocabulary

# Python and the tokeniser may know different versions of Unicode: characters that Python has no name for may
# have a lower case there.
CHARACTERS = st.one_of(
    st.characters(exclude_categories=("Cs", "Cn")),
    st.sampled_from("aB5 .,'’-/@#!?İßΣǅ\n\t\u0301\u200b\u200d\ufeff\ufe0f\0😀👍🏽שل"),
)
TEXTS = st.lists(CHARACTERS, max_size=40).map("".join)


def cut(text, **options):
    """Give the words of a text as a model sees them, and as they stand in the text."""
    vocabulary = Vocabulary.learn([text], **options)
    tokens, words = vocabulary.encode([text]), vocabulary.words
    seen = [words[number] for number in tokens.ids]
    return seen, [text[start:end] for start, end in tokens.offsets]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It's well-made, isn't it?!", ["it", "'s", "well-made", ",", "is", "n't", "it", "?", "!"]),
        ("DON'T! I’M", ["do", "n't", "!", "i", "’m"]),
        ("wait... what??", ["wait", "...", "what", "??"]),
        ("3,000 of 12.5 a/b U.S. (1990).", ["3,000", "of", "12.5", "a/b", "u.s", ".", "(", "1990", ")", "."]),
        ("@user #wow a@b", ["@user", "#wow", "a", "@b"]),
        ("Straße İstanbul", ["straße", "i̇stanbul"]),
        ("e\u0301te\u0301 नमस्ते", ["e\u0301te\u0301", "नमस्ते"]),
        ("שלום, عالم", ["שלום", ",", "عالم"]),
        ("好的 电影", ["好的", "电影"]),
        ("😀 👍🏽👍🏽 ❤️ 👨‍👩‍👧🇩🇪", ["😀", "👍🏽👍🏽", "❤️", "👨‍👩‍👧", "🇩🇪"]),
        ("zero\u200bwidth \ufeffmark \0nul\0", ["zero", "width", "mark", "nul"]),
        ("one", ["one"]),
        ("say <pad> or <unk>", ["say", "<", "pad", ">", "or", "<", "unk", ">"]),
        ("\u200b \n\0", []),
        ("", []),
    ],
)
def test_words_of_a_text(text, words):
    assert cut(text)[0] == words


@given(TEXTS, st.booleans(), st.booleans())
def test_every_word_stands_in_the_text_where_its_offsets_say(text, lowercase, punctuation):
    seen, there = cut(text, lowercase=lowercase, punctuation=punctuation)
    if lowercase:
        # Folded on both sides: the lower case of a sigma depends on its neighbours in Python alone.
        seen, there = ([word.casefold() for word in words] for words in (seen, there))
    assert seen == there


@given(TEXTS)
def test_words_come_in_order_and_none_is_lost(text):
    tokens = Vocabulary.learn([text]).encode([text])
    spans = tokens.offsets.tolist()
    assert all(start < end for start, end in spans)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    covered = {place for start, end in spans for place in range(start, end)}
    assert not [char for place, char in enumerate(text) if char.isalnum() and place not in covered]


def test_case_is_kept_on_request():
    assert cut("The the ISN'T", lowercase=False)[0] == ["The", "the", "IS", "N'T"]


def test_punctuation_is_dropped_on_request():
    assert cut("Well-made, isn't it?! :-) 😀", punctuation=False)[0] == ["well-made", "is", "n't", "it"]


@pytest.mark.parametrize(
    "number", ["5", "12.5", "3,000", "x9y", "1st", "a-1", "1980's", "İ5", "٣", "1/2/2003"]
)
def test_a_word_with_a_digit_is_folded_whole(number):
    seen, there = cut(f"in ({number}), once {number}.", numbers=False)
    assert seen == ["in", "(", "qqq", ")", ",", "once", "qqq", "."]
    assert there == ["in", "(", number, ")", ",", "once", number, "."]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no number, a-b", ["no", "number", ",", "a-b"]),
        ("qqq is qqq", ["qqq", "is", "qqq"]),
        ("room...5", ["room", "...", "qqq"]),
        ("#1 @user2 -5", ["#qqq", "@qqq", "-", "qqq"]),
    ],
)
def test_folding_numbers_leaves_the_rest_alone(text, words):
    assert cut(text, numbers=False)[0] == words


@given(TEXTS)
def test_folded_numbers_keep_their_offsets_too(text):
    for word, there in zip(*cut(text, numbers=False), strict=True):
        if any(char in "0123456789" for char in there):
            assert word.endswith("qqq")
        elif "qqq" not in word:
            assert word.casefold() == there.casefold()


def test_lone_surrogates_are_replaced_one_for_one():
    assert clean_text("a\ud83d b\udc00c 😀") == "a\ufffd b\ufffdc 😀"
    assert cut(clean_text("a\ud83d b"))[1] == ["a", "\ufffd", "b"]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("John left. Where to? Nobody knows", ["John left. ", "Where to? ", "Nobody knows"]),
        ('He said: "No!" She left.', ['He said: "No!" ', "She left."]),
        ("A title\n\nand its text.  ", ["A title\n\n", "and its text.  "]),
        ("It costs 3.50 today.", ["It costs 3.50 today."]),
        ("\n leading", ["\n ", "leading"]),
        ("", [""]),
    ],
)
def test_sentences_of_a_text(text, sentences):
    starts = list(sentence_starts(text))
    assert [text[a:b] for a, b in zip(starts, [*starts[1:], None], strict=True)] == sentences


@given(TEXTS)
def test_sentences_are_numbered_from_0_without_gaps(text):
    numbers = Vocabulary.learn([text], sentences=True).encode([text]).sentence_of
    assert numbers is not None
    assert sorted(numbers) == numbers.tolist()
    assert set(numbers) == set(range(len(set(numbers))))
