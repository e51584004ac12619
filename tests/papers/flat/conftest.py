"""A small corpus with planted words, and synonyms of these."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from heedful.papers.attacked_training import AttackChoices
from heedful.papers.flat.recipe import FLAT
from heedful.papers.recipe import Dataset, Recipe

TINY = {
    "epochs": 2,
    "hidden": 6,
    "embedding_size": 8,
    "vectors": None,
    "train_embeddings": True,
    "learning_rate": 1e-2,
    "test_fraction": 0.3,
    "max_length": None,
}
WORDS = (("dull", "slow", "grim", "drab"), ("great", "warm", "funny", "grand"))
SYNONYMS = {
    "dull": "grand",
    "slow": "warm",
    "great": "drab",
    "warm": "slow",
    "funny": "grim",
    "plot": "story",
}


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    """The experiments of the paper, on a small file."""
    random = np.random.default_rng(0)
    lines = ["text,label"]
    for i in range(160):
        first, second = random.choice(WORDS[i % 2], 2)
        lines.append(
            f"the plot of film {i} seemed {first} and {second} throughout,{('negative', 'positive')[i % 2]}"
        )
    data = tmp_path / "films.csv"
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    everywhere = [replace(experiment, datasets=None) for experiment in FLAT.experiments]
    return replace(FLAT, datasets={str(data): Dataset(30, TINY)}, experiments=tuple(everywhere))


@pytest.fixture
def choices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AttackChoices:
    """An attack that needs no resource: substitutes from a file of synonyms, and stop words from here."""
    monkeypatch.setattr(
        "heedful.attacks.published.pwws.nltk_stop_words", lambda: frozenset({"the", "of", "and"})
    )
    path = tmp_path / "synonyms.txt"
    path.write_text("".join(f"{word} {other}\n" for word, other in SYNONYMS.items()), encoding="utf-8")
    return AttackChoices(synonyms=str(path), rounds=2, texts=60)
