"""Rules for cutting a text into words and sentences, kept as data so that a saved model keeps them too."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from heedful.errors import BadInput
from heedful.intake import limits
from heedful.intake.encodings import without_surrogates

PAD, UNKNOWN = "<pad>", "<unk>"

# English clitics stand alone, as in the treebanks and in the vocabularies of pretrained vectors.
_CLITIC = r"(?i:n['’]t|['’](?:s|re|ve|ll|d|m))\b"
_JOINT = r"[-.,'’/]"
_WORD = rf"[@#]?\w+(?:{_JOINT}\w+)*"
# One character as a reader sees it (\X keeps an emoji's parts together), and its repetitions. What no reader
# sees, zero-width and control characters, is not a token: a heatmap could not show it.
_PUNCTUATION = r"((?![\w\s\p{Cf}\p{Cc}])\X)\1*"

# A sentence ends after . ! ? (and closing quotes) before white space, or at a line break.
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+|(?<!\s)\s*\n\s*")


def clean_text(text: str) -> str:
    """Replace lone surrogates, which no encoding can write, one for one: offsets stay true."""
    return without_surrogates(text)


def check_text(text: str, where: str) -> None:
    """Refuse a text that is longer than any person reads at once: a file in the place of a text, as a rule."""
    if len(text) > limits.TEXT:
        raise BadInput(
            f"{where} has a text of {len(text):,} characters, and {limits.TEXT:,} are the most: cut it into parts."
        )


def word_tokenizer(*, lowercase: bool = True, punctuation: bool = True, numbers: bool = True) -> Tokenizer:
    """Build an untrained word-level tokeniser.

    Without `punctuation`, marks are dropped; without `numbers`, every word that holds a digit becomes "qqq".

    >>> rules = word_tokenizer()
    >>> [word for word, _ in rules.pre_tokenizer.pre_tokenize_str("It's well-made, isn't it?!")]
    ['It', "'s", 'well-made', ',', 'is', "n't", 'it', '?', '!']
    """
    tokenizer = Tokenizer(models.WordLevel({PAD: 0, UNKNOWN: 1}, unk_token=UNKNOWN))
    steps = []
    if lowercase:
        steps.append(normalizers.Lowercase())
    if not numbers:
        steps += _fold_numbers()
    if steps:
        tokenizer.normalizer = normalizers.Sequence(steps)
    parts = [rf"[@#]?\w+?(?={_CLITIC})", _CLITIC, _WORD]
    if punctuation:
        parts.append(_PUNCTUATION)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("|".join(parts)), behavior="removed", invert=True)
    return tokenizer


def _fold_numbers() -> list[normalizers.Replace]:
    """Turn words with digits into "qqq": the first character into a mark, then the others, then the mark.

    A replacement lies where the last character it replaces lay. In one step, the offsets of "1,000" would be
    those of its last zero; in these, they run from its first character to its last.
    """
    mark = "\uffff"  # a noncharacter: no text may hold it
    first = rf"(?<!\w)(?<!\w{_JOINT})(?:\d|\w(?=(?:{_JOINT}?\w)*?{_JOINT}?\d))"
    others = rf"(?<={mark})(?:{_JOINT}?\w)*"
    return [
        normalizers.Replace(Regex(first), mark),
        normalizers.Replace(Regex(others), "qq"),
        normalizers.Replace(mark, "q"),
    ]


def sentence_starts(text: str) -> Iterator[int]:
    """Give the position of the first character of every sentence.

    >>> list(sentence_starts("John left. Where to? Nobody knows"))
    [0, 11, 21]
    """
    yield 0
    for end in _SENTENCE_END.finditer(text):
        if 0 < end.end() < len(text):
            yield end.end()


def sentence_numbers(text: str, offsets: NDArray[np.int32]) -> NDArray[np.int32]:
    """Number the sentence each token lies in, from 0 and without gaps; −1 for special tokens, which lie in none.

    >>> sentence_numbers("Go. Stay!", np.array([[0, 0], [0, 2], [2, 3], [4, 8], [8, 9]], dtype=np.int32))
    array([-1,  0,  0,  1,  1], dtype=int32)
    """
    firsts = np.fromiter(sentence_starts(text), dtype=np.int64)
    found = np.searchsorted(firsts, offsets[:, 0], side="right") - 1
    numbers = np.full(len(offsets), -1, dtype=np.int32)
    real = offsets[:, 0] < offsets[:, 1]
    numbers[real] = np.unique(found[real], return_inverse=True)[1]
    return numbers
