"""Substitutes of the original words, whatever stands in their places by now."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from heedful.attacks.candidates.candidates import Candidates
from heedful.attacks.draft import Draft, Source


class OfOriginal:
    """Asks another source for each word of a text once, as it was at first."""

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates
        self._found: WeakKeyDictionary[Source, dict[int, list[str]]] = WeakKeyDictionary()

    def propose(self, places: Sequence[tuple[Draft, int]]) -> list[list[str]]:
        """Leave out what stands there now."""
        new = dict.fromkeys(
            (draft.source, position)
            for draft, position in places
            if position not in self._found.setdefault(draft.source, {})
        )
        originals = {source: Draft(source) for source, _ in new}
        words = self._candidates.propose([(originals[source], position) for source, position in new])
        for (source, position), some in zip(new, words, strict=True):
            self._found[source][position] = some
        return [
            [word for word in self._found[draft.source][position] if word != draft.word(position)]
            for draft, position in places
        ]
