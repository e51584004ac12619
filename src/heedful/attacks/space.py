"""An attack's candidates and constraints, put together: which words may be replaced, and by what."""

from __future__ import annotations

from collections.abc import Sequence

from heedful.attacks.attack import Attack
from heedful.attacks.constraints.constraint import PlaceConstraint, TextConstraint, WordConstraint
from heedful.attacks.draft import Draft
from heedful.attacks.requests import Compare, Propose


class SearchSpace:
    """Answers what searches ask of candidates and constraints, for many texts at once."""

    def __init__(self, attack: Attack, *more: WordConstraint) -> None:
        self._attack = attack
        self._places = [c for c in attack.constraints if isinstance(c, PlaceConstraint)]
        self._words = [*(c for c in attack.constraints if isinstance(c, WordConstraint)), *more]
        self._texts = [c for c in attack.constraints if isinstance(c, TextConstraint)]
        self.proposed = 0
        """Candidates that the source gave by now, before any constraint."""

    @property
    def lazy(self) -> bool:
        """Whether there are constraints that are asked after the victim."""
        return self._attack.lazy and bool(self._texts)

    def positions(self, draft: Draft) -> Sequence[int]:
        """Words that may be replaced."""
        return [
            position
            for position in range(len(draft.source))
            if all(constraint.allows(draft, position) for constraint in self._places)
        ]

    def propose(self, requests: Sequence[Propose]) -> list[list[list[Draft]]]:
        """Give the drafts of every request, position by position, each list sorted by its texts."""
        places = [(request.draft, position) for request in requests for position in request.positions]
        allowed = [
            (draft, position)
            for draft, position in places
            if all(constraint.allows(draft, position) for constraint in self._places)
        ]
        found = {
            (id(draft), position): words
            for (draft, position), words in zip(
                allowed, self._attack.candidates.propose(allowed), strict=True
            )
        }
        drafts = [
            [
                self._drafts(request.draft, position, found.get((id(request.draft), position), []))
                for position in request.positions
            ]
            for request in requests
        ]
        return drafts if self.lazy or not self._texts else self._filtered(drafts)

    def compare(self, requests: Sequence[Compare]) -> list[list[float | None]]:
        """Give how similar drafts are to what they were made of; None where a constraint refuses them."""
        similar = iter(self._similar([draft for request in requests for draft in request.drafts]))
        return [[next(similar) for _ in request.drafts] for request in requests]

    def _drafts(self, draft: Draft, position: int, words: list[str]) -> list[Draft]:
        self.proposed += len(words)
        for constraint in self._words:
            if words:
                words = constraint.keep(draft, position, words)
        # What follows the word belongs to the order: "can" stands before "can't", and "can " before both.
        rest = draft.source.text[draft.source.spans[position][1] :]
        return [draft.replaced(position, word) for word in sorted(words, key=lambda word: word + rest)]

    def _similar(self, drafts: list[Draft]) -> list[float | None]:
        result: list[float | None] = [1.0] * len(drafts)
        for constraint in self._texts:
            open_ = [place for place, similarity in enumerate(result) if similarity is not None]
            for place, found in zip(
                open_, constraint.compare([drafts[place] for place in open_]), strict=True
            ):
                result[place] = found
        return result

    def _filtered(self, drafts: list[list[list[Draft]]]) -> list[list[list[Draft]]]:
        similar = iter(self._similar([one for some in drafts for each in some for one in each]))
        kept: list[list[list[Draft]]] = []
        for some in drafts:
            kept.append([])
            for each in some:
                passing = []
                for one in each:
                    one.similarity = next(similar)
                    if one.similarity is not None:
                        passing.append(one)
                kept[-1].append(passing)
        return kept
