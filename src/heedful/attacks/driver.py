"""Carry out an attack on many texts at a time: their searches ask in turn, and are answered in large batches."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from heedful.attacks.attack import Attack
from heedful.attacks.draft import Draft, Source
from heedful.attacks.requests import Compare, Propose, ProposeEach, Request, Score, Scored, Steps
from heedful.attacks.space import SearchSpace
from heedful.attacks.victim import Victim

Status = Literal["successful", "failed", "skipped"]
TOGETHER = 256
"""Texts under attack at a time: more make larger batches and take more memory; the outcome is the same."""


@dataclass
class Attacked:
    """One text: how it stands, and in the end what became of it."""

    number: int
    source: Source
    label: int
    status: Status = "failed"
    draft: Draft = field(init=False)
    queries: int = 0
    """How often the victim was asked, also for what it had read before."""
    read: int = 0
    """How many texts it had to read for that: those it reads alike count once."""
    seen: dict[Hashable, NDArray[np.float64]] = field(default_factory=dict, repr=False)
    before: NDArray[np.float64] = field(init=False)
    after: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.draft = Draft(self.source)


class Driver:
    """An attack, a victim, and the texts that are under way."""

    def __init__(
        self, attack: Attack, victim: Victim, space: SearchSpace, *, together: int = TOGETHER
    ) -> None:
        self._attack, self._victim, self._space, self._together = attack, victim, space, together

    def run(self, texts: Iterable[tuple[int, Source, int]], *, done: Callable[[Attacked], None]) -> None:
        """Attack texts, each given by its number, itself and its label; `done` is told of each, in no order."""
        waiting = iter(texts)
        active: list[tuple[Attacked, Steps | None, Request]] = []
        while True:
            active += [
                (text, None, Score([text.draft]))
                for text in self._begin(waiting, self._together - len(active))
            ]
            if not active:
                return
            answers = self._answer([(text, request) for text, _, request in active])
            going: list[tuple[Attacked, Steps | None, Request]] = []
            for (text, steps, _), answer in zip(active, answers, strict=True):
                next_step = (
                    self._begin_search(text, answer) if steps is None else _advance(text, steps, answer)
                )
                if next_step is None:
                    self._end(text)
                    done(text)
                else:
                    going.append((text, *next_step))
            active = going

    def _begin(self, waiting: Iterator[tuple[int, Source, int]], room: int) -> Iterator[Attacked]:
        for _, (number, text, label) in zip(range(room), waiting, strict=False):
            yield Attacked(number, text, label)

    def _begin_search(self, text: Attacked, first: Scored) -> tuple[Steps, Request] | None:
        text.before = text.after = first.probabilities[0]
        if first.reached[0]:
            text.status = "skipped"
            return None
        return _advance(text, self._attack.search.steps(text.draft, first, self._space), None)

    def _end(self, text: Attacked) -> None:
        if text.status != "skipped" and text.draft.new:
            (key,) = self._victim.keys([text.draft])
            text.after = text.seen[key]
            if self._attack.goal.judge(text.after[None], text.label).reached[0]:
                text.status = "successful"
        text.seen = {}

    def _answer(self, asked: Sequence[tuple[Attacked, Request]]) -> list[Any]:
        """Answer requests of one kind together."""
        answers: list[Any] = [None] * len(asked)

        def fill(kind: type | tuple[type, ...], answer: Callable[[list[Any]], Sequence[Any]]) -> None:
            places = [place for place, (_, request) in enumerate(asked) if isinstance(request, kind)]
            if places:
                for place, found in zip(places, answer([asked[place] for place in places]), strict=True):
                    answers[place] = found

        fill((Propose, ProposeEach), lambda some: self._space.propose([request for _, request in some]))
        fill(Compare, lambda some: self._space.compare([request for _, request in some]))
        fill(Score, self._score)
        return answers

    def _score(self, asked: Sequence[tuple[Attacked, Score]]) -> list[Scored]:
        """Let the victim read what is new, once, whichever text it belongs to."""
        keys = iter(self._victim.keys([draft for _, request in asked for draft in request.drafts]))
        own = [[next(keys) for _ in request.drafts] for _, request in asked]
        unread = dict.fromkeys(
            key for (text, _), some in zip(asked, own, strict=True) for key in some if key not in text.seen
        )
        found = dict(zip(unread, self._victim.read(list(unread)), strict=True)) if unread else {}
        scored = []
        for (text, _), some in zip(asked, own, strict=True):
            text.queries += len(some)
            new = {key: found[key] for key in some if key not in text.seen}
            text.read += len(new)
            text.seen |= new
            scored.append(self._attack.goal.judge(np.stack([text.seen[key] for key in some]), text.label))
        return scored


def _advance(text: Attacked, steps: Steps, answer: Any) -> tuple[Steps, Request] | None:
    """Go on with a search until it asks again; None where it has ended."""
    try:
        return steps, (next(steps) if answer is None else steps.send(answer))
    except StopIteration as end:
        text.draft = end.value
        return None
