"""A victim that votes by words, an attack without assets, and texts for both."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from heedful.attacks.attack import Attack
from heedful.attacks.candidates.of_original import OfOriginal
from heedful.attacks.constraints.places import NoWordTwice
from heedful.attacks.draft import Source
from heedful.attacks.driver import Driver
from heedful.attacks.searches.greedy import Greedy
from heedful.attacks.space import SearchSpace
from heedful.attacks.victim import FunctionVictim

VOTES = {
    "fine": 2.0,
    "good": 1.0,
    "okay": 0.2,
    "fair": 0.5,
    "dull": -2.0,
    "slow": -1.0,
    "calm": 0.1,
    "film": 0.3,
}
SYNONYMS = {
    "fine": ["good", "okay", "fair"],
    "good": ["okay", "fine"],
    "slow": ["calm"],
    "film": ["movie", "picture"],
    "dull": ["calm", "slow"],
}


def probabilities(texts: list[str]) -> list[list[float]]:
    """Negative and positive, by the votes of the words; words without a vote say nothing."""
    found = []
    for text in texts:
        p = 1 / (1 + math.exp(-sum(VOTES.get(word, 0.0) for word in text.lower().split())))
        found.append([1 - p, p])
    return found


class Dictionary:
    """Substitutes from a dictionary."""

    def __init__(self, synonyms: dict[str, list[str]]) -> None:
        self.synonyms = synonyms

    def propose(self, places):
        return [self.synonyms.get(draft.word(position), []) for draft, position in places]


@pytest.fixture
def votes() -> Callable[[list[str]], list[list[float]]]:
    return probabilities


@pytest.fixture
def synonyms() -> dict[str, list[str]]:
    return SYNONYMS


@pytest.fixture
def dictionary() -> type[Dictionary]:
    return Dictionary


@pytest.fixture
def toy_attack() -> Callable[..., Attack]:
    def make(*more, importance="deletion", synonyms=SYNONYMS, **options) -> Attack:
        return Attack(Dictionary(synonyms), (NoWordTwice(), *more), Greedy(importance), **options)

    return make


@pytest.fixture
def run_search() -> Callable[..., list]:
    """Attack texts by a search, substitutes from a dictionary."""

    def run(search, texts, labels, *constraints, victim=probabilities, synonyms=SYNONYMS, together=256):
        attack = Attack(OfOriginal(Dictionary(synonyms)), constraints, search, lazy=False)
        found = {}
        cut = [(number, Source.cut(text), labels[number]) for number, text in enumerate(texts)]
        driver = Driver(attack, FunctionVictim(victim), SearchSpace(attack), together=together)
        driver.run(cut, done=lambda text: found.__setitem__(text.number, text))
        return [found[number] for number in range(len(texts))]

    return run


@pytest.fixture
def synonyms_file(tmp_path: Path) -> Path:
    path = tmp_path / "synonyms.txt"
    path.write_text("".join(f"{word} {' '.join(others)}\n" for word, others in SYNONYMS.items()))
    return path
