"""The vocabulary: which words a model knows, and how a text becomes their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, trainers

from heedful.data.fetch.offline import quick_to_give_up
from heedful.data.tokens import FlatTokens
from heedful.data.words.text import PAD, UNKNOWN, sentence_numbers, word_tokenizer
from heedful.errors import BadInput

# Texts handed to the tokeniser at a time: enough to keep it busy, few enough to keep memory flat, since its
# own encodings take ten times the room of ours.
_CHUNK = 512
_WORDS = re.compile(r"\w+|[^\w\s]+")


class Vocabulary:
    """Words and the rules that find them, in one JSON file.

    The same class holds a word-level vocabulary learnt from training texts and the sub-word tokeniser of a
    pretrained model: both give ids, character offsets and the word each token belongs to.

    >>> vocabulary = Vocabulary.learn(["a fine film", "a fine day"], min_count=2)
    >>> vocabulary.words
    ['<pad>', '<unk>', 'a', 'fine']
    >>> vocabulary.encode(["a fine mess"]).ids.tolist()
    [2, 3, 1]
    """

    def __init__(self, tokenizer: Tokenizer, *, sentences: bool = False) -> None:
        self.tokenizer = tokenizer
        # A text that quotes "[SEP]" or "<unk>" says just that. The JSON form does not keep this setting.
        self.tokenizer.encode_special_tokens = True
        self.sentences = sentences

    @classmethod
    def learn(
        cls,
        texts: Iterable[str],
        *,
        min_count: int = 1,
        max_length: int | None = None,
        sentences: bool = False,
        lowercase: bool = True,
        punctuation: bool = True,
        numbers: bool = True,
    ) -> Vocabulary:
        """Learn the words of the training texts; one that is seen less than `min_count` times is unknown."""
        tokenizer = word_tokenizer(lowercase=lowercase, punctuation=punctuation, numbers=numbers)
        trainer = trainers.WordLevelTrainer(
            vocab_size=2**31 - 1, min_frequency=min_count, special_tokens=[PAD, UNKNOWN], show_progress=False
        )
        tokenizer.train_from_iterator(texts, trainer)
        # Training registers the special tokens, which would then be cut out of any text that quotes them.
        fresh = word_tokenizer(lowercase=lowercase, punctuation=punctuation, numbers=numbers)
        fresh.model = tokenizer.model
        if max_length is not None:
            fresh.enable_truncation(max_length)
        return cls(fresh, sentences=sentences)

    def extended(self, words: Iterable[str]) -> Vocabulary:
        """Know these words too; those known keep their numbers.

        >>> Vocabulary.learn(["a fine film"]).extended(["day", "fine"]).encode(["a day"]).ids.tolist()
        [2, 5]
        """
        numbers: dict[str, int] = self.tokenizer.get_vocab()
        for word in words:
            numbers.setdefault(word, len(numbers))
        tokenizer = Tokenizer.from_str(self.tokenizer.to_str())
        tokenizer.model = models.WordLevel(numbers, unk_token=UNKNOWN)
        return Vocabulary(tokenizer, sentences=self.sentences)

    def uncut(self) -> Vocabulary:
        """Give the same words and rules for texts of any length."""
        tokenizer = Tokenizer.from_str(self.tokenizer.to_str())
        tokenizer.no_truncation()
        return Vocabulary(tokenizer, sentences=self.sentences)

    @property
    def longest(self) -> int | None:
        """How many tokens of a text are read; None where that is all."""
        truncation = self.tokenizer.truncation
        return None if truncation is None else int(truncation["max_length"])

    @classmethod
    def from_transformer(
        cls, name: str, *, max_length: int | None = None, sentences: bool = False
    ) -> Vocabulary:
        """Take the tokeniser of a pretrained model, by path or hub name."""
        from transformers import AutoTokenizer

        try:
            with quick_to_give_up():
                pretrained = AutoTokenizer.from_pretrained(name)
            tokenizer = Tokenizer.from_str(pretrained.backend_tokenizer.to_str())
            if len(pretrained) <= len(pretrained.all_special_ids):
                raise ValueError("it knows no words")  # what some versions make of an empty folder
        except (OSError, ValueError, AttributeError, ImportError) as error:
            raise BadInput(
                f"Cannot load the tokeniser of {name!r}: give the folder of a pretrained model that has a "
                f"tokenizer.json, or a hub name where the hub can be reached."
            ) from error
        special = tokenizer.num_special_tokens_to_add(False)
        if max_length is not None and max_length <= special:
            raise BadInput(
                f"max_length {max_length} leaves no room for a word beside the {special} special tokens of {name!r}: "
                f"give {special + 1} at least."
            )
        tokenizer.enable_truncation(min(pretrained.model_max_length, max_length or 512))
        tokenizer.no_padding()
        return cls(tokenizer, sentences=sentences)

    @classmethod
    def from_json(cls, content: str, *, sentences: bool = False) -> Vocabulary:
        """Read back what `to_json` wrote."""
        return cls(Tokenizer.from_str(content), sentences=sentences)

    def to_json(self) -> str:
        """Words and rules as one JSON document."""
        return str(self.tokenizer.to_str(pretty=True))

    def __len__(self) -> int:
        return int(self.tokenizer.get_vocab_size())

    @property
    def numbers(self) -> dict[str, int]:
        """The number of every word."""
        found: dict[str, int] = self.tokenizer.get_vocab()
        return found

    @property
    def words(self) -> list[str]:
        """Every word by its number."""
        numbers = self.numbers
        return sorted(numbers, key=numbers.__getitem__)

    @property
    def unknown(self) -> int | None:
        """The number of every word that is not known; None for sub-words, which spell any word."""
        if not isinstance(self.tokenizer.model, models.WordLevel):
            return None
        number: int | None = self.tokenizer.token_to_id(UNKNOWN)
        return number

    def encode(self, texts: Sequence[str]) -> FlatTokens:
        """Turn texts into flat tokens, a chunk at a time."""
        by_word = isinstance(self.tokenizer.model, models.WordLevel)
        counts: list[int] = []
        cut = 0
        ids, offsets, word_of, sentence_of = (list[NDArray[np.int32]]() for _ in range(4))
        for first in range(0, len(texts), _CHUNK):
            chunk = texts[first : first + _CHUNK]
            encodings = self.tokenizer.encode_batch(list(chunk))
            counts += map(len, encodings)
            if self.tokenizer.truncation is not None:
                cut += sum(bool(encoding.overflowing) for encoding in encodings)
            ids.append(_flat(encoding.ids for encoding in encodings))
            spans = [np.array(encoding.offsets, dtype=np.int32).reshape(-1, 2) for encoding in encodings]
            if not by_word:
                spans = [without_space(text, each) for text, each in zip(chunk, spans, strict=True)]
                numbers = [
                    self.number_words(text, encoding, each)
                    for text, encoding, each in zip(chunk, encodings, spans, strict=True)
                ]
                spans = [within_words(each, of) for each, of in zip(spans, numbers, strict=True)]
                word_of += numbers
            offsets += spans
            if self.sentences:
                sentence_of += [sentence_numbers(text, each) for text, each in zip(chunk, spans, strict=True)]
        return FlatTokens(
            rows=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            ids=np.concatenate(ids) if ids else np.empty(0, np.int32),
            offsets=np.concatenate(offsets) if offsets else np.empty((0, 2), np.int32),
            word_of=np.concatenate(word_of) if word_of else None,
            sentence_of=np.concatenate(sentence_of) if sentence_of else None,
            cut=cut,
        )

    def number_words(
        self,
        text: str,
        encoding: Any,
        offsets: NDArray[np.int32],
        of_second: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.int32]:
        """Number the word of each token; special tokens and white space, which belong to no word, −1.

        The words of the second text of a pair are numbered on from those of the first. Spans are those of `without_space`.
        """
        numbers = np.fromiter(map(_outside, encoding.word_ids), dtype=np.int32)
        if self.tokenizer.pre_tokenizer is not None:
            if of_second is not None:
                numbers[of_second] += numbers[~of_second].max(initial=-1) + 1
            return _without_blank_words(numbers, offsets)
        # Rules that cut no words first call a whole text one word: its words are then found by spaces and marks.
        ends = offsets[:, 1]
        starts = np.fromiter((found.start() for found in _WORDS.finditer(text)), dtype=np.int32)
        return np.where(
            numbers < 0, -1, np.maximum(np.searchsorted(starts, ends - 1, side="right") - 1, 0)
        ).astype(np.int32)


def without_space(text: str, offsets: NDArray[np.int32]) -> NDArray[np.int32]:
    """Take white space off both ends of spans: many rules count the space before a word as its own.

    >>> without_space("a film", np.array([[0, 1], [1, 6], [1, 2]])).tolist()
    [[0, 1], [2, 6], [2, 2]]
    """
    if not len(offsets):
        return offsets
    letters = np.fromiter((not c.isspace() for c in text), dtype=bool, count=len(text))
    places = np.arange(len(text) + 1)
    inked = np.flatnonzero(letters)
    following = np.append(inked, len(text))[
        np.searchsorted(inked, places)
    ]  # the next letter from each place on
    preceding = np.insert(inked + 1, 0, 0)[
        np.searchsorted(inked, places)
    ]  # the end of the last one before it
    starts = np.minimum(following[offsets[:, 0]], offsets[:, 1])
    return np.stack([starts, np.maximum(preceding[offsets[:, 1]], starts)], 1).astype(np.int32)


def within_words(offsets: NDArray[np.int32], numbers: NDArray[np.int32]) -> NDArray[np.int32]:
    """Put pieces without a letter at the start of their word's letters, so that they widen no word.

    >>> within_words(np.array([[0, 0], [1, 3]]), np.array([0, 0])).tolist()
    [[1, 1], [1, 3]]
    """
    inked = (numbers >= 0) & (offsets[:, 1] > offsets[:, 0])
    empty = (numbers >= 0) & ~inked
    if not empty.any():
        return offsets
    starts = np.full(numbers.max() + 1, -1, dtype=np.int32)
    starts[numbers[inked][::-1]] = offsets[inked, 0][::-1]  # of several, the first one stays
    empty[empty] = starts[numbers[empty]] >= 0
    moved = offsets.copy()
    moved[empty] = starts[numbers[empty]][:, None]
    return moved


def _without_blank_words(numbers: NDArray[np.int32], offsets: NDArray[np.int32]) -> NDArray[np.int32]:
    """Number words anew without those of whose pieces none has a letter: line breaks, and spaces in a row."""
    inside = numbers >= 0
    inked = np.unique(numbers[inside & (offsets[:, 1] > offsets[:, 0])])
    if inked.size == (numbers.max(initial=-1) + 1):
        return numbers
    kept = inside & np.isin(numbers, inked)
    return np.where(kept, np.searchsorted(inked, numbers), -1).astype(np.int32)


def _flat(columns: Iterable[Iterable[int]]) -> NDArray[np.int32]:
    return np.fromiter(chain.from_iterable(columns), dtype=np.int32)


def _outside(word: int | None) -> int:
    """Number special tokens, which belong to no word, −1."""
    return -1 if word is None else word
