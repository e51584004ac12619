"""Texts in which some words are replaced by others, and everything else stays as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from heedful.data.tokens import Tokens

Span = tuple[int, int]


class Change(NamedTuple):
    """A stretch of a text, and the stretch of the changed text that stands in its place; an empty one was inserted or deleted."""

    before: Span
    after: Span


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


def changes_between(before: Sequence[Span], after: Sequence[Span], places: Sequence[int]) -> list[Change]:
    """Say what was changed where the words of these places were replaced, each by one other.

    >>> changes_between([(0, 1), (2, 6)], [(0, 1), (2, 7)], [1])
    [Change(before=(2, 6), after=(2, 7))]
    """
    return [Change(before[place], after[place]) for place in sorted(places)]


def aligned(before: Sequence[Span], after: Sequence[Span], changes: Sequence[Change]) -> list[int]:
    """Find each word of a text in the changed one: the number of its counterpart there, or −1.

    A word that was changed is the same word as what stands in its place; of several on one side, the first is that of
    the first. Other words are found where they have moved to. A word that is cut differently there, or not at all
    because the text is cut off before it, has no counterpart.

    >>> before, after = [(0, 1), (2, 6), (7, 11)], [(0, 1), (2, 7), (8, 12)]  # a fine film → a great film
    >>> aligned(before, after, [Change((2, 6), (2, 7))])
    [0, 1, 2]
    """
    found = [-1] * len(before)
    place_of = {span: place for place, span in enumerate(after)}
    ordered = sorted(changes)
    for place, (start, end) in enumerate(before):
        if not any(_overlap((start, end), change.before) for change in ordered):
            gone = [change for change in ordered if change.before[1] <= start]
            shift = sum((a[1] - a[0]) - (b[1] - b[0]) for b, a in gone)
            found[place] = place_of.get((start + shift, end + shift), -1)
    for change in ordered:
        old = [place for place, span in enumerate(before) if _overlap(span, change.before)]
        new = [place for place, span in enumerate(after) if _overlap(span, change.after)]
        for place, other in zip(old, new, strict=False):
            found[place] = other
    return found


def counterparts(
    before: Sequence[Sequence[Span]], after: Sequence[Sequence[Span]], changes: Sequence[Sequence[Change]]
) -> Int[Tensor, "batch words"]:
    """Find the words of many texts in the changed ones: `aligned`, padded with −1.

    >>> counterparts([[(0, 1)], [(0, 1), (2, 6)]], [[(0, 1)], [(0, 1), (2, 7)]], [[], [Change((2, 6), (2, 7))]])
    tensor([[ 0, -1],
            [ 0,  1]])
    """
    found = [aligned(*row) for row in zip(before, after, changes, strict=True)]
    padded = torch.full((len(found), max(map(len, found), default=0)), -1)
    for row, words in zip(padded, found, strict=True):
        row[: len(words)] = torch.tensor(words, dtype=torch.long)
    return padded


def shared_numbers(
    counterpart: Sequence[int], after: Sequence[Span], changes: Sequence[Change]
) -> list[int] | None:
    """Number the words of a changed text by the words of the text they are found in (see `aligned`), or say None.

    All words that stand in the place of one have its number. Where one of the texts is cut off before the other, its
    words are a part of the other's, and what the changed text has beyond them is counted on. None: some words that both
    texts go on to have no counterpart, because they are cut differently.

    >>> shared_numbers([0, 1, 3], [(0, 1), (2, 6), (6, 7), (8, 12)], [Change((2, 6), (2, 7))])  # film → film!
    [0, 1, 1, 2]
    >>> shared_numbers([0, 1, -1], [(0, 1), (2, 7)], []), shared_numbers([0, -1, 2], [(0, 1), (2, 5), (6, 9)], [])
    ([0, 1], None)
    """
    number = {other: place for place, other in enumerate(counterpart) if other >= 0}
    for _, stretch in changes:
        parts = [place for place, span in enumerate(after) if _overlap(span, stretch)]
        whole = [number[place] for place in parts if place in number]
        number |= dict.fromkeys(parts, whole[0]) if len(whole) == 1 else {}
    lost = [place for place, other in enumerate(counterpart) if other < 0]
    new = [place for place in range(len(after)) if place not in number]
    if (lost and new) or not (_at_end(lost, len(counterpart)) and _at_end(new, len(after))):
        return None
    number |= {place: len(counterpart) + extra for extra, place in enumerate(new)}
    return [number[place] for place in range(len(after))]


class Stretches(NamedTuple):
    """Two texts cut into stretches that can be compared: a word, or all words that stand in the place of each other."""

    before: list[int]
    """The stretch of each word of the text; stretches are counted from 0, each at its first word."""
    after: list[int]
    """The stretch of each word of the changed text, counted likewise."""
    counterpart: list[int]
    """Of each stretch of the text the number of the changed text's that it is, or −1."""
    replaced: list[tuple[int, int]]
    """Stretches that were changed, each with what stands in its place."""


def stretches(before: Sequence[Span], after: Sequence[Span], changes: Sequence[Change]) -> Stretches:
    """Join all words of a change, on both sides; other words are those that `aligned` finds.

    >>> stretches([(0, 1), (2, 6), (7, 11)], [(0, 1), (2, 6), (7, 11), (12, 16)], [Change((2, 6), (2, 11))])
    Stretches(before=[0, 1, 2], after=[0, 1, 1, 2], counterpart=[0, 1, 2], replaced=[(1, 1)])
    >>> stretches([(0, 4), (5, 9)], [(0, 4)], [Change((0, 9), (0, 4))])  # very good → fine
    Stretches(before=[0, 0], after=[0], counterpart=[0], replaced=[(0, 0)])
    """
    # Words of both texts, one after the other; each leads to an earlier one of its stretch, and the first to itself.
    leads = list(range(len(before) + len(after)))

    def first(word: int) -> int:
        while leads[word] != word:
            word = leads[word]
        return word

    def join(members: Sequence[int]) -> None:
        firsts = [first(member) for member in members]
        for one in firsts:
            leads[one] = min(firsts)

    for place, other in enumerate(aligned(before, after, changes)):
        if other >= 0:
            join([place, len(before) + other])
    touched: set[int] = set()
    for change in changes:
        old = [place for place, span in enumerate(before) if _overlap(span, change.before)]
        new = [len(before) + place for place, span in enumerate(after) if _overlap(span, change.after)]
        if old and new:
            join([*old, *new])
            touched.update(old)
    group = [first(word) for word in range(len(leads))]
    sides = group[: len(before)], group[len(before) :]
    numbers = [{one: number for number, one in enumerate(dict.fromkeys(side))} for side in sides]
    counterpart = [numbers[1].get(one, -1) for one in numbers[0]]
    replaced = sorted({numbers[0][group[place]] for place in touched})
    return Stretches(
        [numbers[0][one] for one in sides[0]],
        [numbers[1][one] for one in sides[1]],
        counterpart,
        [(number, counterpart[number]) for number in replaced],
    )


def recased(word: str, like: str) -> str:
    """Write a word as another is written: in capitals, with one, or as it is.

    >>> recased("good", "FINE"), recased("good", "Fine"), recased("good", "fine")
    ('GOOD', 'Good', 'good')
    """
    if like.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if like[:1].isupper() else word


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _trimmed(text: str, span: Span) -> Span:
    start, end = span
    word = text[start:end]
    return start + len(word) - len(word.lstrip()), end - len(word) + len(word.rstrip())


def _at_end(places: Sequence[int], count: int) -> bool:
    return list(places) == list(range(count - len(places), count))
