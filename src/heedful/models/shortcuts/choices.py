"""Texts with the substitutes of their words, laid out in one tensor."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from heedful.data.tokens import Tokens
from heedful.data.words.substitution import words_of
from heedful.models.shorter import Substitutes


class Choices(NamedTuple):
    """What may stand in each word's place, in tokens: option 0 is the word itself, option 1 + c its substitute c."""

    ids: Int[Tensor, "batch words options pieces"]
    there: Bool[Tensor, "batch words options pieces"]
    whole: Bool[Tensor, " batch"]
    """False where a substitute is cut into no token at all: that is a deletion."""

    def take(self, rows: slice) -> Choices:
        """Give some of the texts."""
        return Choices(*(field[rows] for field in self))


def lay_out(tokens: Tokens, substitutes: Substitutes) -> Choices:
    """Put words and substitutes side by side."""
    word_of = words_of(tokens)
    counts = (word_of.amax(1) + 1).tolist()
    if [len(words) for words in substitutes] != counts:
        raise ValueError(f"there must be substitutes, or none, for each word: texts of {counts} words")
    own = [[list[int]() for _ in range(count)] for count in counts]
    for words, row, places in zip(own, tokens.ids.tolist(), word_of.tolist(), strict=True):
        for number, place in zip(row, places, strict=True):
            if place >= 0:
                words[place].append(number)
    numbers: list[int] = []
    pieces, options = list[int](), list[int]()  # of each option, and how many there are of each word
    for words, others in zip(own, substitutes, strict=True):
        for word, instead in zip(words, others, strict=True):
            options.append(1 + len(instead))
            for option in (word, *instead):
                pieces.append(len(option))
                numbers += option
    text, word_at = _within(counts)
    word_with, option_at = _within(options)
    option_of, piece_at = _within(pieces)
    text_of_option = text[word_with]
    sizes = [max([1, *many]) for many in (counts, options, pieces)]
    ids = torch.zeros(len(counts), *sizes, dtype=torch.long)
    there = torch.zeros(ids.shape, dtype=torch.bool)
    where = (text_of_option[option_of], word_at[word_with[option_of]], option_at[option_of], piece_at)
    ids[where], there[where] = torch.tensor(numbers, dtype=torch.long), True
    whole = torch.ones(len(counts), dtype=torch.bool)
    whole[text_of_option[torch.tensor(pieces, dtype=torch.long) == 0]] = False
    return Choices(ids, there, whole)


def _within(counts: list[int]) -> tuple[Int[Tensor, " all"], Int[Tensor, " all"]]:
    """Of groups of so many members: the group of each member, and its place there."""
    sizes = torch.tensor(counts, dtype=torch.long)
    group = torch.arange(len(sizes)).repeat_interleave(sizes)
    return group, torch.arange(len(group)) - (sizes.cumsum(0) - sizes)[group]
