"""An attack's candidates and constraints, put together: which words may be replaced, and by what."""

from __future__ import annotations

from collections.abc import Sequence

from heedful.attacks.attack import Attack
from heedful.attacks.candidates.edits import Edits
from heedful.attacks.constraints.constraint import (
    Bound,
    ContextConstraint,
    PlaceConstraint,
    TextConstraint,
    WordConstraint,
)
from heedful.attacks.draft import Draft
from heedful.attacks.requests import Compare, Propose, ProposeEach


class SearchSpace:
    """Answers what searches ask of candidates and constraints, for many texts at once."""

    def __init__(self, attack: Attack, *more: WordConstraint) -> None:
        self._attack = attack
        self._places = [c for c in attack.constraints if isinstance(c, PlaceConstraint)]
        self._words = [*(c for c in attack.constraints if isinstance(c, WordConstraint)), *more]
        self._bounds = [c for c in attack.constraints if isinstance(c, Bound)]
        self._contexts = [c for c in attack.constraints if isinstance(c, ContextConstraint)]
        self._texts = [c for c in attack.constraints if isinstance(c, TextConstraint)]
        self.proposed = 0
        """Candidates that the source gave by now, before any constraint."""

    @property
    def lazy(self) -> bool:
        """Whether there are constraints that are asked after the victim."""
        return self._attack.lazy and bool(self._texts)

    def positions(self, draft: Draft) -> Sequence[int]:
        """Words that may be replaced."""
        return [position for position in range(len(draft.source)) if self._allows(draft, position)]

    def admits(self, draft: Draft) -> bool:
        """Whether a draft is within every bound."""
        return all(bound.admits(draft) for bound in self._bounds)

    def propose(self, requests: Sequence[Propose | ProposeEach]) -> list[list[list[Draft]]]:
        """Give the drafts of every request, place by place, each list sorted by its texts."""
        places = [place for request in requests for place in request.places]
        allowed = [number for number, place in enumerate(places) if self._allows(*place)]
        found: list[list[Draft]] = [[] for _ in places]
        for number, drafts in zip(allowed, self._drafts([places[n] for n in allowed]), strict=True):
            found[number] = drafts
        each = iter(found)
        proposed = [[next(each) for _ in request.places] for request in requests]
        return proposed if self.lazy or not self._texts else self._filtered(proposed)

    def compare(self, requests: Sequence[Compare]) -> list[list[float | None]]:
        """Give how similar drafts are to what they were made of; None where a constraint refuses them."""
        similar = iter(self._similar([draft for request in requests for draft in request.drafts]))
        return [[next(similar) for _ in request.drafts] for request in requests]

    def _allows(self, draft: Draft, position: int) -> bool:
        return all(constraint.allows(draft, position) for constraint in self._places)

    def _drafts(self, places: Sequence[tuple[Draft, int]]) -> list[list[Draft]]:
        """Ask for candidates, and leave those that no constraint refuses."""
        candidates = self._attack.candidates
        if isinstance(candidates, Edits):
            edits = candidates.propose_edits(places, self._allows)
            words = [list(dict.fromkeys(edit.word for edit in some)) for some in edits]
            kept = [set(some) for some in self._kept(places, words)]
            return [
                [edit.apply(*place) for edit in sorted(some) if edit.word in words]
                for place, some, words in zip(places, edits, kept, strict=True)
            ]
        words = self._kept(places, candidates.propose(places))
        return [
            [draft.replaced(position, word) for word in _by_text(some, draft, position)]
            for (draft, position), some in zip(places, words, strict=True)
        ]

    def _kept(self, places: Sequence[tuple[Draft, int]], words: list[list[str]]) -> list[list[str]]:
        self.proposed += sum(map(len, words))
        for constraint in self._words:
            words = [
                constraint.keep(*place, some) if some else []
                for place, some in zip(places, words, strict=True)
            ]
        for judge in self._contexts:
            words = judge.keep_each(places, words)
        return words

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


def _by_text(words: Sequence[str], draft: Draft, position: int) -> list[str]:
    """Sort words by the texts that they make."""
    # What follows the word belongs to the order: "can" stands before "can't", and "can " before both.
    rest = draft.source.text[draft.source.spans[position][1] :]
    return sorted(words, key=lambda word: word + rest)
