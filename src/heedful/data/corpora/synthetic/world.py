"""The small world of bAbI tasks 1 to 3: who is where, who holds what, and which sentence said so."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import NamedTuple

PEOPLE = ("Daniel", "John", "Mary", "Sandra")
PLACES = ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")
OBJECTS = ("apple", "football", "milk")

_GO = ("went to", "went back to", "moved to", "journeyed to", "travelled to")
_TAKE = ("took", "got", "grabbed", "picked up")
_DROP = ("dropped", "left", "discarded", "put down")


@dataclass(frozen=True)
class Manner:
    """How a story goes: the probabilities of its events."""

    objects: tuple[str, ...]
    ask: float
    """That a question is asked as soon as there is one."""
    move: float
    """That a person moves though there is something to take or drop."""
    take_there: float
    """That a sentence about taking something ends with "there"."""
    drop_there: float
    """That dropping something is."""


class Move(NamedTuple):
    """A move in the story: the number of its sentence, and where to."""

    sentence: int
    place: str


class Whereabouts(NamedTuple):
    """Why an object is where it is: it was taken or dropped, by somebody who had gone or then went there."""

    handled: int
    move: Move


class Journey(NamedTuple):
    """The last change of an object's place: its carrier took it, was at one place, went to the next."""

    taken: int
    before: Move
    after: Move


class World:
    """A story in the making.

    Everybody and everything begins somewhere, and the story does not say where. So the world keeps apart what
    is true (who may take what) and what was told, which alone may be asked about.
    """

    def __init__(self, manner: Manner, rng: random.Random) -> None:
        self.sentences: list[str] = []
        self.last_move: dict[str, Move] = {}
        self.whereabouts: dict[str, Whereabouts] = {}
        self.journeys: dict[str, Journey] = {}
        self._manner = manner
        self._rng = rng
        self._place = {one: rng.choice(PLACES) for one in (*PEOPLE, *manner.objects)}
        self._holder: dict[str, str] = {}
        self._handled: dict[str, int] = {}

    def step(self) -> None:
        """Let somebody do something, and tell it in one sentence."""
        person = self._rng.choice(PEOPLE)
        held = [thing for thing in self._manner.objects if self._holder.get(thing) == person]
        lying = [
            thing
            for thing in self._manner.objects
            if thing not in self._holder and self._place[thing] == self._place[person]
        ]
        if not held + lying or self._rng.random() < self._manner.move:
            self._go(person, held)
            return
        thing = self._rng.choice(held + lying)
        if thing in held:
            self._drop(person, thing)
        else:
            self._take(person, thing)

    def _go(self, person: str, held: list[str]) -> None:
        place = self._rng.choice([place for place in PLACES if place != self._place[person]])
        before = self.last_move.get(person)
        after = Move(self._tell(person, self._rng.choice(_GO), place), place)
        self.last_move[person] = after
        self._place[person] = place
        for thing in held:
            self.whereabouts[thing] = Whereabouts(self._handled[thing], after)
            if before is None:  # the object came from a place that was never told
                self.journeys.pop(thing, None)
            else:
                self.journeys[thing] = Journey(self._handled[thing], before, after)

    def _take(self, person: str, thing: str) -> None:
        self._holder[thing] = person
        self._handle(person, self._rng.choice(_TAKE), thing, there=self._manner.take_there)

    def _drop(self, person: str, thing: str) -> None:
        del self._holder[thing]
        self._place[thing] = self._place[person]
        self._handle(person, self._rng.choice(_DROP), thing, there=self._manner.drop_there)

    def _handle(self, person: str, verb: str, thing: str, *, there: float) -> None:
        ending = " there" if self._rng.random() < there else ""
        self._handled[thing] = self._tell(person, verb, thing + ending)
        move = self.last_move.get(person)
        if move is None:
            self.whereabouts.pop(thing, None)
        else:
            self.whereabouts[thing] = Whereabouts(self._handled[thing], move)

    def _tell(self, person: str, verb: str, ending: str) -> int:
        self.sentences.append(f"{person} {verb} the {ending}.")
        return len(self.sentences) - 1
