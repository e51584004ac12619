"""Questions in the manner of bAbI tasks 1 to 3, with the sentences their answers follow from."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from heedful.data.corpora.synthetic.world import OBJECTS, PLACES, Manner, World
from heedful.data.corpus import Corpus, Span, Split

BabiTask = Literal[1, 2, 3]

SIZES: Mapping[str, int] = MappingProxyType({"train": 9000, "dev": 1000, "test": 1000})

# The probabilities are set so that stories resemble the original's in their verbs and lengths.
TASKS: Mapping[BabiTask, Manner] = MappingProxyType(
    {
        1: Manner(objects=(), ask=1.0, move=1.0, take_there=0.0, drop_there=0.0),
        2: Manner(objects=OBJECTS, ask=0.65, move=0.37, take_there=1.0, drop_there=0.2),
        3: Manner(objects=OBJECTS, ask=0.35, move=0.37, take_there=0.2, drop_there=0.2),
    }
)

_QUESTIONS_PER_STORY = 5
_SENTENCES_PER_ROUND = 2
# A question is about news: the latest of its supporting sentences is one of the last five, as in the original.
_NEWS = 5


class Question(NamedTuple):
    """A question, its answer, and the numbers of the sentences that the answer follows from."""

    text: str
    answer: str
    support: tuple[int, ...]


class Instance(NamedTuple):
    """One question with the story up to it."""

    document: str
    question: Question
    evidence: list[Span]


def babi_corpus(task: BabiTask, *, seed: int = 0, sizes: Mapping[str, int] = SIZES) -> Corpus:
    """Make questions that take one (1), two (2) or three (3) supporting sentences, recorded as evidence.

    The answer follows from these sentences alone. The original's third task is looser: where the object was
    dropped, it names the dropping, from which nobody can tell that it had been carried there.
    """
    splits = {}
    for name, size in sizes.items():
        # A string seeds by its SHA-512: the same on every machine, and unrelated between splits.
        rng = random.Random(f"babi/{task}/{seed}/{name}")
        instances = itertools.chain.from_iterable(_story(task, rng) for _ in itertools.count())
        splits[name] = _columns(list(itertools.islice(instances, size)))
    notes = ("Stories come from heedful's own simulator, in the manner of bAbI, not from bAbI itself.",)
    return Corpus(f"babi_{task}_generated", "qa", PLACES, splits, notes)


def _story(task: BabiTask, rng: random.Random) -> Iterator[Instance]:
    world = World(TASKS[task], rng)
    asked = 0
    while asked < _QUESTIONS_PER_STORY:
        for _ in range(_SENTENCES_PER_ROUND):
            world.step()
        oldest = len(world.sentences) - _NEWS
        questions = [question for question in _questions(task, world) if max(question.support) >= oldest]
        if questions and rng.random() < TASKS[task].ask:
            asked += 1
            question = rng.choice(questions)
            yield Instance(" ".join(world.sentences), question, _spans(world.sentences, question.support))


def _questions(task: BabiTask, world: World) -> Iterator[Question]:
    match task:
        case 1:
            for person, move in world.last_move.items():
                yield Question(f"Where is {person}?", move.place, (move.sentence,))
        case 2:
            for thing, known in world.whereabouts.items():
                yield Question(
                    f"Where is the {thing}?", known.move.place, (known.handled, known.move.sentence)
                )
        case 3:
            for thing, (taken, before, after) in world.journeys.items():
                yield Question(
                    f"Where was the {thing} before the {after.place}?",
                    before.place,
                    (taken, before.sentence, after.sentence),
                )


def _spans(sentences: list[str], support: tuple[int, ...]) -> list[Span]:
    """Give the characters of the supporting sentences in the story, in its order, full stops included."""
    starts = list(itertools.accumulate((len(sentence) + 1 for sentence in sentences), initial=0))
    return [(starts[i], starts[i] + len(sentences[i])) for i in sorted(support)]


def _columns(instances: list[Instance]) -> Split:
    return Split(
        texts=[instance.document for instance in instances],
        labels=np.array([PLACES.index(instance.question.answer) for instance in instances], dtype=np.int64),
        queries=[instance.question.text for instance in instances],
        evidence=[instance.evidence for instance in instances],
    )
