"""Cut a text into the words that an attack may replace, each with its place in the text."""

from __future__ import annotations

import re
from functools import lru_cache

from heedful.data.words.substitution import Span

# Letters, digits and these signs make words, as in TextAttack, whose outputs ours are checked against; the last
# three are signs that it takes for look-alikes of letters.
_RUN = re.compile(r"[\w'\-*@`×˗]+")
_EDGE = "'-_*@"
"""Signs that are part of a word only in its middle."""


def word_spans(text: str) -> list[Span]:
    """Give where each word begins and ends.

    >>> text = "it's a 'well-made' film , no ?"
    >>> [text[start:end] for start, end in word_spans(text)]
    ["it's", 'a', 'well-made', 'film', 'no']
    """
    spans = []
    for run in _RUN.finditer(text):
        word = run.group()
        start = run.start() + len(word) - len(word.lstrip(_EDGE))
        end = run.end() - len(word) + len(word.rstrip(_EDGE))
        if start < end:
            spans.append((start, end))
    return spans


@lru_cache(maxsize=1 << 16)
def one_word(text: str) -> bool:
    """Whether a substitute is one word, so that a text keeps their number.

    >>> one_word("well-made"), one_word("u.s."), one_word("to do"), one_word("--")
    (True, False, False, False)
    """
    return len(word_spans(text)) == 1
