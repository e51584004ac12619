"""An attack without assets, and texts for it."""

from __future__ import annotations

import json

import polars as pl
import pytest

from heedful.attacks.attack import ATTACKS, Attack
from heedful.attacks.constraints.places import NoWordTwice
from heedful.attacks.resources import own_synonyms
from heedful.attacks.searches.greedy import Greedy

SYNONYMS = {
    "fine": ["good", "great"],
    "film": ["plot", "script"],
    "warm": ["dull", "funny"],
    "old": ["thin", "zzz"],
    "great": ["fine"],
    "dull": ["warm"],
    "plot": ["film"],
}
TEXTS = [
    "a fine film",
    "warm old plot",
    "great dull film",
    "the old film is warm",
    "dull",
    "fine fine film",
    "up it",
]


def toy(options):
    candidates = own_synonyms(options)
    assert candidates is not None
    return Attack(candidates=candidates, constraints=(NoWordTwice(),), search=Greedy("deletion"))


@pytest.fixture
def toy_attack(monkeypatch):
    """Make it known by its name."""
    list(ATTACKS)
    for name in ("_things", "_descriptions"):
        monkeypatch.setattr(ATTACKS, name, dict(getattr(ATTACKS, name)))
    ATTACKS.register("toy", "synonyms of a file")(toy)


@pytest.fixture
def files(tmp_path, toy_attack):
    """Texts with labels, and a file of synonyms."""

    def make(classifier, texts=TEXTS):
        labels = [classifier.predict([text])[0].label for text in texts]
        labels[0] = next(name for name in classifier.labels if name != labels[0])  # one is wrong before
        data = tmp_path / "texts.csv"
        pl.DataFrame({"text": texts, "label": labels}).write_csv(data)
        words = tmp_path / "synonyms.json"
        words.write_text(json.dumps(SYNONYMS), encoding="utf-8")
        return {"dataset": data, "attacks": ("toy",), "attack_synonyms": str(words), "progress": False}

    return make


@pytest.fixture
def synonyms():
    """What the attack may put in the place of words."""
    return SYNONYMS
