"""Texts in which some words are replaced by others, and everything else stays as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Int
from torch import Tensor

from heedful.data.tokens import Tokens

Span = tuple[int, int]


def words_of(tokens: Tokens) -> Int[Tensor, "batch tokens"]:
    """Number the words of each text from 0 without gaps; the pieces of one share a number; −1 outside."""
    begins = tokens.word_of.diff(dim=1, prepend=torch.full_like(tokens.word_of[:, :1], -1)) != 0
    return torch.where(tokens.mask, (begins & tokens.mask).long().cumsum(1) - 1, -1)


def word_spans(tokens: Tokens) -> list[list[Span]]:
    """Where each word stands in its text, from its first piece to its last, without white space around it."""
    found = []
    rows = zip(tokens.texts, words_of(tokens).tolist(), tokens.offsets.tolist(), strict=True)
    for text, numbers, offsets in rows:
        spans: list[Span] = []
        for number, (start, end) in zip(numbers, offsets, strict=True):
            if number == len(spans):
                spans.append((start, end))
            elif number >= 0:
                spans[number] = (spans[number][0], end)
        found.append([_trimmed(text, span) for span in spans])
    return found


def replace_words(text: str, spans: Sequence[Span], new: Mapping[int, str]) -> tuple[str, list[Span]]:
    """Put new words in the places that are named, and say where every word now stands.

    >>> replace_words("A fine film.", [(0, 1), (2, 6), (7, 11), (11, 12)], {1: "good"})
    ('A good film.', [(0, 1), (2, 6), (7, 11), (11, 12)])
    """
    parts, moved = [], []
    at = length = 0
    for place, (start, end) in enumerate(spans):
        word = new.get(place, text[start:end])
        parts += [text[at:start], word]
        begins = length + start - at
        moved.append((begins, begins + len(word)))
        at, length = end, begins + len(word)
    return "".join((*parts, text[at:])), moved


def recased(word: str, like: str) -> str:
    """Write a word as another is written: in capitals, with one, or as it is.

    >>> recased("good", "FINE"), recased("good", "Fine"), recased("good", "fine")
    ('GOOD', 'Good', 'good')
    """
    if like.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if like[:1].isupper() else word


def _trimmed(text: str, span: Span) -> Span:
    start, end = span
    word = text[start:end]
    return start + len(word) - len(word.lstrip()), end - len(word) + len(word.rstrip())
