"""What a model reads where a substitute stands: its tokens between those of its neighbours, which it may join."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise

from heedful.attacks.draft import Source
from heedful.attacks.pieces import Pieces
from heedful.data.words.substitution import Span
from heedful.data.words.vocabulary import Vocabulary

_WHOLE = re.compile(r"\w(.*\w)?", re.DOTALL)

Token = tuple[int, int, int]
"""Its number, and where it begins and ends."""


class InPlace:
    """Cuts pieces of texts (no token holds a space) into tokens, each distinct one once."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._given = vocabulary
        self._tokens: dict[str, list[Token]] = {}

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return self._given.uncut()  # a large one takes long to copy

    def cut(self, pieces: Iterable[str]) -> None:
        """Look at pieces together, which is faster than one by one."""
        new = list(dict.fromkeys(piece for piece in pieces if piece not in self._tokens))
        if not new:
            return
        found = self._vocabulary.encode(new)
        tokens = [
            (number, start, end)
            for number, (start, end) in zip(found.ids.tolist(), found.offsets.tolist(), strict=True)
        ]
        rows = pairwise(found.rows.tolist())
        self._tokens |= {piece: tokens[a:b] for piece, (a, b) in zip(new, rows, strict=True)}

    def tokens(self, piece: str) -> list[Token]:
        """Give the tokens of a piece."""
        self.cut([piece])
        return self._tokens[piece]

    def length(self, pieces: Pieces) -> int:
        """How many tokens a text has, also those that a model cuts off."""
        return sum(len(self.tokens(piece)) for piece in pieces.texts)

    def substitutes(
        self, source: Source, words: Sequence[Sequence[str]]
    ) -> list[list[tuple[int, ...] | None]]:
        """Give the tokens of every word's substitutes, each in the text as it was.

        None where a substitute and what stands beside it are not read one by one: then it says something else beside its
        neighbours than by itself. So it may be where two words without a space between them are replaced and a sign ends
        one of the substitutes.
        """
        pieces = Pieces(source)
        able = [pieces.of_word[position] for position, some in enumerate(words) if some]
        crowded = {place for place in able if able.count(place) > 1}
        placed = {
            (position, word): pieces.placed(position, {position: word})
            for position, some in enumerate(words)
            for word in some
        }
        self.cut([*pieces.texts, *(text for text, _ in placed.values())])
        found: list[list[tuple[int, ...] | None]] = []
        for position, some in enumerate(words):
            place = pieces.of_word[position]
            _, own = pieces.placed(position, {})
            found.append(
                [
                    None
                    if place in crowded and not _WHOLE.fullmatch(word)
                    else self._between(pieces.texts[place], own, *placed[position, word])
                    for word in some
                ]
            )
        return found

    def _between(self, piece: str, span: Span, changed: str, new_span: Span) -> tuple[int, ...] | None:
        """Give the tokens of the new stretch; None where one reaches beyond it, or others are not what they were."""
        before, after = (_parted(self._tokens[one], at) for one, at in ((piece, span), (changed, new_span)))
        if before is None or after is None or (before[0], before[2]) != (after[0], after[2]):
            return None
        return tuple(number for number, _, _ in after[1])


def _parted(tokens: Sequence[Token], span: Span) -> tuple[list[Token], list[Token], list[Token]] | None:
    """Part tokens into those before, in and after a stretch, the last counted from its end; None where one crosses it."""
    start, end = span
    before = [token for token in tokens if token[2] <= start]
    inside = [token for token in tokens if token[1] >= start and token[2] <= end]
    after = [(number, a - end, b - end) for number, a, b in tokens if a >= end]
    return (before, inside, after) if len(before) + len(inside) + len(after) == len(tokens) else None
