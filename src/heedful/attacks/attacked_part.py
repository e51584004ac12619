"""Texts that are attacked together, here or in another place, and what became of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from heedful.attacks.attack import ATTACKS, Attack
from heedful.attacks.attack_result import frame_of
from heedful.attacks.constraints.substitutes import KnownWords
from heedful.attacks.draft import Draft, Source
from heedful.attacks.driver import TOGETHER, Attacked, Driver
from heedful.attacks.options import AttackOptions
from heedful.attacks.space import SearchSpace
from heedful.attacks.victim import Victim, knows_at
from heedful.checking import build
from heedful.errors import BadInput
from heedful.models.stages import Auditable


class Part(NamedTuple):
    """Texts that are attacked together, and the number of each among all."""

    rows: Sequence[int]
    sources: Sequence[Source]
    labels: Sequence[int]


class PartDone(NamedTuple):
    """What became of some texts of a part."""

    frame: pl.DataFrame
    attacked: int
    """Texts that were not skipped."""
    proposed: bool
    """Whether a candidate was found for any word, of this part or an earlier one."""


Elsewhere = Callable[[Sequence[Part], Callable[[PartDone], None]], None]
"""Does parts in other places, and tells of each that is done."""

_SECONDS = 5.0
"""What an interruption loses at most of texts that are done."""


class Assembled:
    """An attack on one victim, which does part after part."""

    def __init__(
        self, victim: Victim, attack: Attack, more: Sequence[KnownWords], together: int = TOGETHER
    ) -> None:
        self._victim, self._attack = victim, attack
        self._space = SearchSpace(attack, *more)
        self._driver = Driver(attack, victim, self._space, together=together)

    @classmethod
    def of(cls, model: Auditable, options: Mapping[str, Any]) -> Assembled:
        """Make one from options."""
        from heedful.attacks.run_attack import victim_of

        chosen, (victim, _) = build(AttackOptions, options), victim_of(model)
        more = (known_words_of(victim),) if chosen.known_words else ()
        return cls(victim, ATTACKS.get(chosen.recipe)(chosen), more)

    def do(
        self, part: Part, keep: Callable[[PartDone], None], advance: Callable[[int], None] = lambda more: None
    ) -> None:
        """Attack the texts of a part, and give those that are done to be kept every few seconds."""
        waiting: list[Attacked] = []
        given = time.monotonic()

        def give() -> None:
            nonlocal given
            frame = frame_of(waiting, _unknown(self._victim, self._attack, waiting))
            attacked = sum(text.status != "skipped" for text in waiting)
            waiting.clear()
            keep(PartDone(frame, attacked, self._space.proposed > 0))
            given = time.monotonic()

        def tell(text: Attacked) -> None:
            waiting.append(text)
            advance(1)
            if time.monotonic() - given >= _SECONDS:
                give()

        self._driver.run(zip(part.rows, part.sources, part.labels, strict=True), done=tell)
        if waiting:
            give()


def _unknown(victim: Victim, assembled: Attack, texts: Sequence[Attacked]) -> dict[int, tuple[bool, bool]]:
    """Say of successful attacks whether they use unknown words, and whether they work only through these."""
    known: dict[int, list[bool]] = {}
    knows = knows_at(victim)
    for text in texts:
        if text.status == "successful":
            if victim.knows([]) is None:
                return {}
            known[text.number] = [
                (knows(text.draft, position, [word]) or [True])[0]
                for position, word in text.draft.new.items()
            ]
    partly = {
        text.number: (text, Draft(text.source, _keep(text.draft, known[text.number])))
        for text in texts
        if text.number in known and not all(known[text.number])
    }
    if not partly:
        return dict.fromkeys(known, (False, False))
    without = victim.read(victim.keys([draft for _, draft in partly.values()]))
    fails = {
        number: not assembled.goal.judge(row[None], text.label).reached[0]
        for (number, (text, _)), row in zip(partly.items(), without, strict=True)
    }
    return {number: (number in partly, bool(fails.get(number, False))) for number in known}


def _keep(draft: Draft, known: Sequence[bool]) -> dict[int, str]:
    """Leave what the victim knows; where a merged word goes, the word that went for it comes back."""
    can_read = dict(zip(draft.new, known, strict=True))
    return {
        place: word
        for place, word in draft.new.items()
        if can_read[place] and (word or can_read.get(place - 1, True))
    }


def known_words_of(victim: Victim) -> KnownWords:
    """Allow only substitutes that a victim can tell from unknown words."""
    if victim.knows([]) is None:
        raise BadInput(
            "Known words need a model with a vocabulary of words, and this one has none: leave them out."
        )
    return KnownWords(knows_at(victim))
