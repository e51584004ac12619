"""The tokens of everything that attacks may put in the place of words, for models that are asked about all of it at once."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from heedful.attacks.attack import Attack
from heedful.attacks.constraints.constraint import WordConstraint
from heedful.attacks.draft import Source
from heedful.attacks.in_place import InPlace
from heedful.attacks.pieces import Pieces
from heedful.attacks.reach import substitutes
from heedful.data.tokens import Tokens
from heedful.data.words.substitution import Span, word_spans, words_of
from heedful.data.words.vocabulary import Vocabulary

SPLIT = "have substitutes that the model does not read as words of their own"
CUT = "are longer than the model reads, or could become so"


class TokensInReach:
    """Substitutes of several attacks, each as the model reads it in its place."""

    def __init__(
        self, vocabulary: Vocabulary, attacks: Sequence[Attack], more: Sequence[WordConstraint] = ()
    ) -> None:
        self._attacks, self._more = attacks, more
        self._in_place, self._longest = InPlace(vocabulary), vocabulary.longest

    def of(self, tokens: Tokens) -> tuple[list[list[list[list[int]]]], list[str]]:
        """Give the substitutes of every word the model reads, and why they are not all there is to say (`SPLIT`, `CUT`, or "")."""
        sources = [Source.cut(text) for text in tokens.texts]
        proposed = [substitutes(attack, sources, *self._more) for attack in self._attacks]
        numbers = words_of(tokens)
        sizes = torch.zeros(len(sources), numbers.shape[1] + 1, dtype=torch.long)
        sizes.scatter_add_(1, numbers + 1, torch.ones_like(numbers))  # what belongs to no word comes first
        given, reasons = [], []
        for number, (source, spans) in enumerate(zip(sources, word_spans(tokens), strict=True)):
            words = [
                list(dict.fromkeys(word for some in proposed for word in some[number][position]))
                for position in range(len(source))
            ]
            ids, split = self._ids(source, words, spans)
            extra = sum(
                max([0, *(len(option) - int(size) for option in options)])
                for size, options in zip(sizes[number, 1:], ids, strict=False)
            )
            length = self._in_place.length(Pieces(source))
            cut = self._longest is not None and length + extra > self._longest
            given.append(ids)
            reasons.append(CUT if cut else SPLIT if split else "")
        return given, reasons

    def _ids(
        self, source: Source, words: Sequence[Sequence[str]], spans: Sequence[Span]
    ) -> tuple[list[list[list[int]]], bool]:
        """Lay the substitutes out by the model's own words, and say whether some have no place there."""
        place_of = {span: place for place, span in enumerate(spans)}
        ids: list[list[list[int]]] = [[] for _ in spans]
        split = False
        for span, some in zip(source.spans, self._in_place.substitutes(source, words), strict=True):
            known = [option for option in some if option is not None]
            split |= len(known) < len(some) or bool(some and span not in place_of)
            if span in place_of:
                ids[place_of[span]] = [list(option) for option in dict.fromkeys(known)]
        return ids, split
