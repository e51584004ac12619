"""Particle swarm search: drafts move towards the best that they, and all of them, have found."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heedful.attacks.draft import Draft
from heedful.attacks.ranking import beats, ranked
from heedful.attacks.requests import Propose, Request, Score, Scored, Steps
from heedful.attacks.searches.random_numbers import draw, text_generator
from heedful.attacks.searches.search import Space

Words = tuple[str, ...]
"""What stands in the places of a text."""


class Particle(NamedTuple):
    """Words, and how far they are on the way to the goal."""

    words: Words
    score: float
    reached: bool


@dataclass(frozen=True)
class ParticleSwarm:
    """In each iteration particles move, then some mutate: a word is replaced by its best substitute.

    A particle takes a word of its own best, and of the best of all, with a probability that grows with its velocity there;
    the velocity grows where its word is another than theirs. Which word mutates is drawn by how much its best substitute
    raises the score, and whether one does, by how much of the text is still as it was. Substitutes are those of the
    original words.
    """

    particles: int = 60
    iterations: int = 20
    first_inertia: float = 0.8
    last_inertia: float = 0.2
    most_velocity: float = 3.0
    seed: int = 0

    def steps(self, draft: Draft, first: Scored, space: Space) -> Steps:
        """Work on one text."""
        positions = space.positions(draft)
        proposed: list[list[Draft]] = yield Propose(draft, positions)
        substitutes = {
            position: [one.word(position) for one in drafts]
            for position, drafts in zip(positions, proposed, strict=True)
            if drafts
        }
        if not substitutes:
            return draft
        swarm = _Swarm(self, draft, substitutes, space)
        start = Particle(draft.source.words, float(first.score[0]), bool(first.reached[0]))
        best = yield from swarm.search(start)
        return swarm.draft(best.words) if beats(best.score, start.score) else draft


class _Swarm:
    """The particles of one text."""

    def __init__(
        self, settings: ParticleSwarm, draft: Draft, substitutes: dict[int, list[str]], space: Space
    ) -> None:
        self._settings, self._draft, self._space = settings, draft, space
        self._substitutes = substitutes
        self._generator = text_generator(settings.seed, draft.source)
        self._mutations: dict[Words, list[Particle]] = {}

    def draft(self, words: Words) -> Draft:
        return self._draft.with_words(dict(enumerate(words)))

    def search(self, start: Particle) -> Generator[Request, Any, Particle]:
        settings, generator, length = self._settings, self._generator, len(start.words)
        particles = yield from self._mutated([start] * settings.particles)
        own = list(particles)
        swarm_best = _best(own)
        # One velocity for all words of a particle at first, as in the published code.
        speed = generator.uniform(-settings.most_velocity, settings.most_velocity, (settings.particles, 1))
        velocity = np.repeat(speed, length, axis=1)
        for iteration in range(settings.iterations):
            if swarm_best.reached:
                break
            part = iteration / settings.iterations
            inertia = settings.first_inertia - part * (settings.first_inertia - settings.last_inertia)
            to_own, to_swarm_best = 0.8 - 0.6 * part, 0.2 + 0.6 * part
            moved = []
            for place, particle in enumerate(particles):
                velocity[place] = next_velocity(
                    velocity[place], particle.words, (own[place].words, swarm_best.words), inertia=inertia,
                    most=settings.most_velocity,
                )  # fmt: skip
                probabilities = move_probabilities(velocity[place])
                words = particle.words
                for elite, probability in ((own[place], to_own), (swarm_best, to_swarm_best)):
                    if generator.random() < probability:
                        words = self._turned(words, elite.words, probabilities)
                moved.append(words)
            particles = yield from self._scored(moved)
            if not any(particle.reached for particle in particles):
                kept = [1 - 2 * self._share_changed(particle.words) for particle in particles]
                mutating = [
                    place for place, probability in enumerate(kept) if generator.random() < probability
                ]
                mutants = yield from self._mutated([particles[place] for place in mutating])
                for place, mutant in zip(mutating, mutants, strict=True):
                    particles[place] = mutant
            own = [_best([old, new]) for old, new in zip(own, particles, strict=True)]
            swarm_best = _best([swarm_best, *own])
        return swarm_best

    def _turned(self, words: Words, towards: Words, probabilities: NDArray[np.float64]) -> Words:
        new = turned(words, towards, probabilities, self._generator.random(len(words)))
        return new if self._space.admits(self.draft(new)) else words

    def _share_changed(self, words: Words) -> float:
        pairs = zip(words, self._draft.source.words, strict=True)
        return sum(one != other for one, other in pairs) / len(words)

    def _scored(self, texts: Sequence[Words]) -> Generator[Request, Any, list[Particle]]:
        scored: Scored = yield Score([self.draft(words) for words in texts])
        return [
            Particle(words, float(score), bool(reached))
            for words, score, reached in zip(texts, scored.score, scored.reached, strict=True)
        ]

    def _mutated(self, particles: Sequence[Particle]) -> Generator[Request, Any, list[Particle]]:
        """Replace a word of each particle, drawn by how much that helps; particles that nothing helps stay."""
        new = {particle.words: None for particle in particles if particle.words not in self._mutations}
        yield from self._find_mutations(list(new))
        result = []
        for particle in particles:
            options = self._mutations[particle.words]
            gains = [max(0.0, option.score - particle.score) for option in options]
            helps = any(beats(option.score, particle.score) for option in options)
            result.append(options[draw(self._generator, range(len(options)), gains)] if helps else particle)
        return result

    def _find_mutations(self, texts: Sequence[Words]) -> Generator[Request, Any, None]:
        """Find the best substitute of every word of these texts that may be replaced."""
        drafts: list[Draft] = []
        groups: list[tuple[Words, list[Words]]] = []
        for words in texts:
            base = self.draft(words)
            self._mutations[words] = []
            for position in self._space.positions(base):
                others = [word for word in self._substitutes.get(position, ()) if word != words[position]]
                if others:
                    groups.append(
                        (words, [(*words[:position], word, *words[position + 1 :]) for word in others])
                    )
                    drafts += [base.replaced(position, word) for word in others]
        if not drafts:
            return
        scored: Scored = yield Score(drafts)
        at = 0
        for words, options in groups:
            best = at + ranked(scored.score[at : at + len(options)])[0]
            self._mutations[words].append(
                Particle(options[best - at], float(scored.score[best]), bool(scored.reached[best]))
            )
            at += len(options)


def next_velocity(
    velocity: NDArray[np.float64], words: Words, elites: Sequence[Words], *, inertia: float, most: float
) -> NDArray[np.float64]:
    """Give a particle's velocity: it grows where its word is another than an elite's, and shrinks where it is the same.

    >>> next_velocity(np.zeros(2), ("a", "b"), [("a", "c"), ("a", "d")], inertia=0.5, most=3.0).tolist()
    [-3.0, 3.0]
    """
    pull = [
        sum(-most if elite[place] == word else most for elite in elites) for place, word in enumerate(words)
    ]
    return np.clip(inertia * velocity + (1 - inertia) * np.array(pull), -most, most)


def move_probabilities(velocity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give how probable it is that each word becomes an elite's: the sigmoid of the velocity.

    >>> move_probabilities(np.array([-3.0, 0.0, 3.0])).round(3).tolist()
    [0.047, 0.5, 0.953]
    """
    result: NDArray[np.float64] = 1 / (1 + np.exp(-velocity))
    return result


def turned(
    words: Words, towards: Words, probabilities: NDArray[np.float64], numbers: NDArray[np.float64]
) -> Words:
    """Take those of the other words whose random number is below their probability.

    >>> turned(("a", "b"), ("x", "y"), np.array([0.9, 0.1]), np.array([0.5, 0.5]))
    ('x', 'b')
    """
    return tuple(
        other if number < probability else word
        for word, other, probability, number in zip(words, towards, probabilities, numbers, strict=True)
    )


def _best(particles: Sequence[Particle]) -> Particle:
    """Give the first of those that reach the goal by the highest score; else of all."""
    able = [particle for particle in particles if particle.reached] or list(particles)
    return able[ranked([particle.score for particle in able])[0]]
