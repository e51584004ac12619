"""What docs/results.md tells of: trainings with what they should reach, and studies. Both scripts of the page read it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from heedful.papers.attacked_training import AttackChoices
from heedful.papers.recipe import Recipe, RecipeCase

DOCS = Path(__file__).parent
MEASURED = DOCS / "measured"
TRAINED = MEASURED / "trained.parquet"
SEEDS = 3
VECTORS = "HEEDFUL_ATTACK_VECTORS"
"""The environment names the file that heedful reproduce flat was given with --attack-vectors."""
_GLOVE = "--vectors glove-840b-300d"


class Training(NamedTuple):
    """One row of the first table."""

    name: str
    metric: str
    aim: float
    """What to reach."""
    seeds: int
    flags: str
    """What stands behind `heedful train`."""

    @property
    def command(self) -> str:
        """What a user types."""
        return f"heedful train {self.flags}"


TRAININGS = [
    Training("sst2", "f1", 0.80, 3, f"sst2 {_GLOVE}"),
    Training("mr", "f1", 0.75, 3, f"mr {_GLOVE}"),
    Training("20news_sports", "f1", 0.88, 3, f"20news_sports {_GLOVE}"),
    Training("ag_news_binary", "f1", 0.94, 3, f"ag_news_binary {_GLOVE}"),
    Training("trec", "accuracy", 0.85, 3, f"trec {_GLOVE}"),
    Training("babi_1", "accuracy", 0.99, 3, "babi_1 --preset jain-wallace"),
    Training("snli", "accuracy", 0.60, 3, f"snli {_GLOVE}"),
    Training("tweeteval_emotion_binary", "f1", 0.70, 3, f"tweeteval_emotion_binary {_GLOVE}"),
    Training("sst2 with minilm-l6", "f1", 0.88, 1, "sst2 --encoder hf:minilm-l6"),
    Training("imdb", "f1", 0.86, 1, f"imdb {_GLOVE} --max-length 250 --min-count 5 --epochs 3"),
]


class Question(NamedTuple):
    """A study, and what it is asked with."""

    figure: str
    study: str
    asked: dict[str, Any]

    @property
    def command(self) -> str:
        """What a user types."""
        flags = (f"--{key}" if value is True else f"--{key} {value}" for key, value in self.asked.items())
        return f"heedful study {self.study} {' '.join(flags)}"


QUESTIONS = [
    Question("strength", "strength", {"bases": 3, "seeds": 2}),
    Question("heads", "heads", {"bases": 3, "seeds": 2}),
    Question("temperature", "temperature", {"bases": 3, "seeds": 1}),
    Question("placement", "placement", {"bases": 3, "seeds": 1, "quick": True}),
    Question("curve-mlp", "curve", {"dataset": "sst2", "seeds": 1}),
    Question("curve-bilstm", "curve", {"dataset": "sst2", "encoder": "bilstm", "seeds": 1}),
]


def cases(recipe: Recipe) -> list[RecipeCase]:
    """Every run of a paper that the page counts."""
    if recipe.attacks:
        return _attacked(recipe)
    knows = recipe.twins or any(dataset.seeds > 1 for dataset in recipe.datasets.values())
    return recipe.cases(seeds=None if knows else SEEDS)


def _attacked(recipe: Recipe) -> list[RecipeCase]:
    """One seed of all that is usual and costly, three of the LSTM on sst2, and a transformer on trec."""
    attacks = AttackChoices(vectors=os.environ.get(VECTORS))
    found = recipe.cases(recipe.experiments, attacks=attacks, costly=True)
    found += recipe.cases(datasets=["sst2"], encoders=["lstm"], seeds=SEEDS, attacks=attacks)
    found += recipe.cases(datasets=["trec"], encoders=["hf:minilm-l6"], attacks=attacks)
    return list({case.name: case for case in reversed(found)}.values())[::-1]
