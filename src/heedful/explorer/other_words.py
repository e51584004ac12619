"""A text with some words deleted or replaced: what reading it again gives, and what zeroing their weights gives."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from heedful.errors import BadInput
from heedful.explorer.given_weights import HeadWeights
from heedful.explorer.text_reading import TextReading


def changed_text(read: TextReading, words: Mapping[int, str]) -> str:
    """Write a text with other words in the place of some; an empty one deletes, with the space that it leaves.

    Everything else stays as it was, so that nothing else changes the answer.
    """
    _check(read, words)
    text, parts, at = read.text, [], 0
    for word in sorted(words):
        start, end = read.spans[word]
        if start < at:  # it shares letters with the one before
            continue
        before, new = text[at:start], words[word].strip()
        if not new:
            if text[end : end + 1].isspace() and (not before or before[-1:].isspace()):
                end += 1
            elif before[-1:].isspace() and end == len(text):
                before = before[:-1]
        parts += [before, new]
        at = end
    changed = "".join([*parts, text[at:]])
    if not changed.strip():
        raise BadInput("Nothing would be left of the text: keep one word at least.")
    return changed


def without_weights(read: TextReading, words: Mapping[int, str]) -> HeadWeights:
    """Give the weights with those of some words at zero, and the others scaled up; zeros where nothing is left."""
    _check(read, words)
    gone = torch.isin(read.word_of, torch.tensor(sorted(words), dtype=torch.long))
    left = read.reading.weights[0].double().masked_fill(gone, 0)
    return left / left.sum(-1, keepdim=True).clamp(min=torch.finfo(torch.float64).tiny)


def _check(read: TextReading, words: Mapping[int, str]) -> None:
    if not words:
        raise BadInput("No word is changed: name one at least.")
    if wrong := [word for word in words if not 0 <= word < len(read.spans)]:
        raise BadInput(f"There is no word {wrong[0]}: the text has the words 0 to {len(read.spans) - 1}.")
