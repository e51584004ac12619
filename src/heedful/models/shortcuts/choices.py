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
    for words, row, numbers in zip(own, tokens.ids.tolist(), word_of.tolist(), strict=True):
        for number, word in zip(row, numbers, strict=True):
            if word >= 0:
                words[word].append(number)
    numbers, places, sizes, whole = [], [], [1, 1, 1], []
    for b, (words, others) in enumerate(zip(own, substitutes, strict=True)):
        complete = True
        for w, (word, options) in enumerate(zip(words, others, strict=True)):
            for o, option in enumerate((word, *options)):
                complete &= len(option) > 0
                numbers += option
                places += [(b, w, o, p) for p in range(len(option))]
                sizes = [max(sizes[0], w + 1), max(sizes[1], o + 1), max(sizes[2], len(option))]
        whole.append(complete)
    ids = torch.zeros(len(counts), *sizes, dtype=torch.long)
    there = torch.zeros(ids.shape, dtype=torch.bool)
    where = torch.tensor(places, dtype=torch.long).reshape(-1, 4).unbind(1)
    ids[where] = torch.tensor(numbers, dtype=torch.long)
    there[where] = True
    return Choices(ids, there, torch.tensor(whole, dtype=torch.bool))
