"""Everything an attack may put in the place of each word of a text, whatever it would choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heedful.attacks.attack import Attack
from heedful.attacks.constraints.constraint import ContextConstraint, TextConstraint, WordConstraint
from heedful.attacks.draft import Draft, Source
from heedful.attacks.requests import Propose
from heedful.attacks.space import SearchSpace


def substitutes(attack: Attack, texts: Sequence[Source], *more: WordConstraint) -> list[list[list[str]]]:
    """Give the substitutes of every word of every text; none for words that the attack leaves alone.

    Constraints on places and on words count, those on whole texts or on what stands around a word do not: what they allow
    depends on what else is replaced. An attack can make no text with others if the original text decides what it may put in
    (`Attack.by_original`); one that takes neighbours of neighbours, or words that the text as it is by now suggests, can.
    """
    space = SearchSpace(_without_context(attack), *more)
    drafts = [Draft(text) for text in texts]
    asked = [Propose(draft, range(len(draft.source))) for draft in drafts]
    return [
        [[draft.new[position] for draft in found] for position, found in enumerate(places)]
        for places in space.propose(asked)
    ]


def _without_context(attack: Attack) -> Attack:
    kept = tuple(
        c
        for c in attack.constraints
        if not isinstance(c, TextConstraint | ContextConstraint) and getattr(c, "by_original", True)
    )
    return replace(attack, constraints=kept)
