"""Words known from training texts, and the sub-words of a pretrained model: both give the same kind of tokens."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from heedful.data.corpus import Split
from heedful.data.instances import Instances
from heedful.data.words.text import PAD, UNKNOWN
from heedful.data.words.vocabulary import Vocabulary, without_space
from heedful.errors import BadInput

TEXTS = ["a fine film", "a fine day", "A film, fine!", "İs 12 <unk> 😀"]


def ids(vocabulary, *texts):
    return vocabulary.encode(texts).ids.tolist()


def same(one, other):
    for name in ("rows", "ids", "offsets", "word_of", "sentence_of"):
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_array_equal(a, b)


def test_frequent_words_come_first_and_equals_in_the_order_of_letters():
    words = Vocabulary.learn(["b a c", "c b", "c d"]).words
    assert words == [PAD, UNKNOWN, "c", "b", "a", "d"]


def test_the_order_depends_on_nothing_but_the_words():
    texts = [" ".join(f"w{i * j % 97}" for j in range(30)) for i in range(50)]
    counts = Counter(word for text in texts for word in text.split())
    expected = sorted(counts, key=lambda word: (-counts[word], word))
    assert Vocabulary.learn(texts).words[2:] == Vocabulary.learn(reversed(texts)).words[2:] == expected


@pytest.mark.parametrize(("min_count", "known"), [(1, 4), (2, 3), (3, 1), (4, 0)])
def test_rare_words_are_unknown(min_count, known):
    assert len(Vocabulary.learn(["a b c", "a b c", "a d"], min_count=min_count)) == 2 + known


def test_words_that_train_lacks_are_unknown_and_keep_their_place():
    vocabulary = Vocabulary.learn(["a fine film"])
    tokens = vocabulary.encode(["an awful mess", "a fine mess"])
    assert [vocabulary.words[number] for number in tokens.ids] == [UNKNOWN] * 3 + ["a", "fine", UNKNOWN]
    assert tokens.offsets.tolist()[-1] == [7, 11]


def test_special_words_in_a_text_are_text():
    vocabulary = Vocabulary.learn(["< pad unk >"])
    assert not {0, 1} & set(ids(vocabulary, "<pad> <unk>", "<pad>"))


@pytest.mark.parametrize(
    "options",
    [{}, {"min_count": 2}, {"max_length": 2}, {"lowercase": False, "punctuation": False, "numbers": False}],
)
def test_a_saved_vocabulary_encodes_the_same(options):
    vocabulary = Vocabulary.learn(TEXTS, sentences=True, **options)
    again = Vocabulary.from_json(vocabulary.to_json(), sentences=True)
    assert again.words == vocabulary.words
    same(again.encode(TEXTS), vocabulary.encode(TEXTS))
    assert json.loads(vocabulary.to_json())["model"]["type"] == "WordLevel"


def test_long_texts_are_cut_on_request_only():
    text = " ".join(f"w{i}" for i in range(10_000))
    assert len(Vocabulary.learn([text]).encode([text]).ids) == 10_000
    assert Vocabulary.learn([text], max_length=7).encode([text, "w1"]).lengths.tolist() == [7, 1]


@pytest.mark.parametrize("sentences", [False, True])
def test_a_text_is_encoded_the_same_whatever_stands_around_it(sentences):
    """More texts than are handed to the tokeniser at a time."""
    texts = [f"word{i % 7} and. word{i % 11}!" if i % 5 else "" for i in range(1200)]
    vocabulary = Vocabulary.learn(texts, sentences=sentences)
    together = vocabulary.encode(texts)
    assert together.ids.dtype == together.offsets.dtype == np.int32
    assert len(together) == len(texts)
    for row in (0, 1, 511, 512, 513, 1199):
        own = slice(together.rows[row], together.rows[row + 1])
        alone = vocabulary.encode([texts[row]])
        np.testing.assert_array_equal(together.ids[own], alone.ids)
        np.testing.assert_array_equal(together.offsets[own], alone.offsets)
        if sentences:
            np.testing.assert_array_equal(together.sentence_of[own], alone.sentence_of)


def test_no_text_is_no_tokens():
    tokens = Vocabulary.learn(TEXTS).encode([])
    assert (len(tokens), tokens.ids.shape, tokens.offsets.shape) == (0, (0,), (0, 2))


def test_instances_carry_tokens_queries_labels_and_candidates():
    split = Split(
        texts=["a fine film", "a day"],
        labels=np.array([1, 0]),
        queries=["fine", "a fine day"],
        candidates=[[1], [0, 2]],
    )
    batch = Instances.encode(split, Vocabulary.learn(TEXTS), classes=3).batch(np.array([1, 0]))
    assert len(batch) == 2
    assert batch.tokens.words == [["a", "day"], ["a", "fine", "film"]]
    assert batch.query.words == [["a", "fine", "day"], ["fine"]]
    assert (batch.labels.tolist(), batch.rows.tolist()) == ([0, 1], [1, 0])
    assert batch.candidates.tolist() == [[True, False, True], [False, True, False]]


@pytest.fixture
def pretrained(asset):
    return str(asset("minilm-l6"))


def test_the_pieces_of_a_word_share_its_number(pretrained):
    vocabulary = Vocabulary.from_transformer(pretrained)
    text = "Unbelievably naïve acting."
    batch = vocabulary.encode([text]).pad(np.array([0]), [text])
    pieces, words = batch.words[0], batch.word_of[0].tolist()
    assert "".join(pieces[:-3]).lower() == "unbelievably"
    assert words == [-1, *[0] * (len(pieces) - 3), 1, 2, 3, -1]
    assert len(pieces) > 4


def test_special_tokens_are_present_and_masked_out(pretrained):
    texts = ["fine", "a fine film"]
    tokens = Vocabulary.from_transformer(pretrained).encode(texts).pad(np.array([0, 1]), texts)
    assert tokens.present.tolist() == [[True] * 3 + [False] * 2, [True] * 5]
    assert tokens.mask.tolist() == [
        [False, True, False, False, False],
        [False, True, True, True, False],
    ]
    assert tokens.words == [["fine"], ["a", "fine", "film"]]


def test_special_tokens_that_a_text_quotes_are_text(pretrained):
    vocabulary = Vocabulary.from_transformer(pretrained)
    for one in (vocabulary, Vocabulary.from_json(vocabulary.to_json())):
        tokens = one.encode(["[SEP] means [PAD]"])
        quoted = tokens.word_of >= 0
        assert quoted.tolist() == [False, *[True] * 7, False]
        special = set(tokens.ids[~quoted].tolist())
        assert not special & set(tokens.ids[quoted].tolist())


def test_sub_words_lie_in_sentences_and_special_tokens_in_none(pretrained):
    vocabulary = Vocabulary.from_transformer(pretrained, sentences=True)
    assert vocabulary.encode(["\n Go. Stay!"]).sentence_of.tolist() == [-1, 0, 0, 1, 1, -1]


def test_sub_words_are_cut_to_the_length_asked_for_and_to_the_models_own(pretrained):
    text = "word " * 2000
    assert Vocabulary.from_transformer(pretrained, max_length=6).encode([text]).lengths.tolist() == [6]
    assert Vocabulary.from_transformer(pretrained).encode([text]).lengths.tolist() == [512]


def test_a_length_without_room_for_a_word_is_refused(pretrained):
    with pytest.raises(BadInput, match=r"max_length 2 leaves no room .* 2 special tokens .* give 3 at least"):
        Vocabulary.from_transformer(pretrained, max_length=2)


def test_a_folder_without_a_tokeniser_is_refused(tmp_path):
    with pytest.raises(BadInput, match=r"Cannot load the tokeniser of .*tokenizer\.json"):
        Vocabulary.from_transformer(str(tmp_path))


def test_rules_that_cut_no_words_first_still_give_words():
    """As sentence pieces do that write spaces as ▁: all of a text is one word to them."""
    from tokenizers import normalizers

    pieces = ["<unk>", "▁a", "▁fi", "ne", "▁film", "!", "▁"]
    rules = Tokenizer(models.Unigram([(piece, -1.0) for piece in pieces], unk_id=0))
    rules.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokens = Vocabulary(rules).encode(["a fine film!", "film"])
    assert tokens.word_of is not None
    assert tokens.word_of.tolist() == [0, 1, 1, 2, 3, 0]


def bytes_as_pieces(*, trim: bool) -> Vocabulary:
    """As GPT-2's rules: the space before a word is the word's own, and further ones are pieces by themselves."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    rules = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(letters)}, merges=[]))
    rules.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    rules.post_processor = processors.ByteLevel(trim_offsets=trim)
    return Vocabulary(rules)


@pytest.mark.parametrize("trim", [False, True])
@pytest.mark.parametrize(
    "text", ["a  fine\n\nfilm ", " a fine film", "\ta fine   film\n", "a\u00a0fine film"]
)
def test_white_space_is_no_word_and_no_part_of_one(trim, text):
    found = bytes_as_pieces(trim=trim).encode([text])
    words = {
        number: text[found.offsets[found.word_of == number, 0].min() : found.offsets[found.word_of == number, 1].max()]
        for number in range(found.word_of.max() + 1)
    }  # fmt: skip
    assert list(words.values()) == ["a", "fine", "film"]


def test_a_text_of_white_space_has_no_word():
    found = bytes_as_pieces(trim=False).encode([" \n\n ", "x"])
    assert found.word_of.tolist() == [-1] * (len(found.word_of) - 1) + [0]
    assert found.items.tolist() == [0, 1]


@given(st.text(alphabet="ab \n\u00a0", max_size=12), st.data())
def test_spans_lose_the_space_at_their_ends_alone(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    ((first, last),) = without_space(text, np.array([[start, end]])).tolist()
    assert text[first:last] == text[start:end].strip()
