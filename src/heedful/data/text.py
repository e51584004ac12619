"""Rules for cutting a text into words and sentences, kept as data so that a saved model keeps them too."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

PAD, UNKNOWN = "<pad>", "<unk>"

# English clitics stand alone, as in the treebanks and in the vocabularies of pretrained vectors.
_CLITIC = r"(?:n['’]t|['’](?:s|re|ve|ll|d|m))\b"
_WORD = r"[@#]?\w+(?:[-.,'’/]\w+)*"
_PUNCTUATION = r"([^\w\s])\1*"

# A sentence ends after . ! ? (and closing quotes) before white space, or at a line break.
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+|\s*\n\s*")
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Replace lone surrogates, which no encoding can write, one for one: offsets stay true."""
    return _SURROGATE.sub("\ufffd", text)


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
        steps.append(normalizers.Replace(Regex(r"[\w.,'/-]*\d[\w.,'/-]*"), "qqq"))
    if steps:
        tokenizer.normalizer = normalizers.Sequence(steps)
    parts = [rf"[@#]?\w+?(?={_CLITIC})", _CLITIC, _WORD]
    if punctuation:
        parts.append(_PUNCTUATION)
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("|".join(parts)), behavior="removed", invert=True)
    return tokenizer


def sentence_starts(text: str) -> Iterator[int]:
    """Give the position of the first character of every sentence.

    >>> list(sentence_starts("John left. Where to? Nobody knows"))
    [0, 11, 21]
    """
    yield 0
    for end in _SENTENCE_END.finditer(text):
        if 0 < end.end() < len(text):
            yield end.end()


def sentence_numbers(text: str, starts: NDArray[np.int32]) -> NDArray[np.int32]:
    """Number the sentence each token lies in, from 0 and without gaps, from the tokens' first characters."""
    firsts = np.fromiter(sentence_starts(text), dtype=np.int64)
    found = np.searchsorted(firsts, starts, side="right") - 1
    return np.unique(found, return_inverse=True)[1].astype(np.int32)
