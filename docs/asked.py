"""What docs/results.md tells of: trainings with what they should reach, and studies. Both scripts of the page read it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from heedful.cli.seeds import spelled
from heedful.papers.attacked_training import AttackChoices
from heedful.papers.recipe import Experiment, Recipe, RecipeCase
from heedful.training.twins import SEEDS as SEEDS_OF_TWINS

DOCS = Path(__file__).parent
MEASURED = DOCS / "measured"
TRAINED = MEASURED / "trained.parquet"
SEEDS = 3
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


def first_seeds(count: int) -> str:
    """Name the first seeds as commands read them."""
    return spelled(range(count))


class Question(NamedTuple):
    """A study, and what it is asked with."""

    figure: str
    study: str
    asked: dict[str, Any]

    @property
    def command(self) -> str:
        """What a user types."""
        named = {"data" if key == "dataset" else key: value for key, value in self.asked.items()}
        named["seeds"] = spelled(SEEDS_OF_TWINS[: named["seeds"]])
        flags = (f"--{key}" if value is True else f"--{key} {value}" for key, value in named.items())
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
    return recipe.cases(seeds=seeds_of(recipe))


def cases_of(recipe: Recipe, experiment: Experiment) -> list[RecipeCase]:
    """Every run that one table or figure is declared with."""
    if not recipe.attacks:
        return recipe.cases([experiment], seeds=seeds_of(recipe), costly=True)
    parts = [part for part in FLAT_PARTS if experiment in part.experiments(recipe)]
    return list({case.name: case for part in parts for case in part.cases(recipe, [experiment])}.values())


def seeds_of(recipe: Recipe) -> int | None:
    """How many seeds a paper is measured with; None where its recipe says so."""
    knows = recipe.twins or any(dataset.seeds > 1 for dataset in recipe.datasets.values())
    return None if knows else SEEDS


class FlatPart(NamedTuple):
    """Some runs of FLAT, measured by one command."""

    name: str
    data: str
    encoders: str
    table: str
    figure: str = ""
    seeds: int = 1
    limit: int | None = None
    """Test texts that are audited; as many as the recipe says if None."""
    attack_texts: int | None = None
    """Training texts that are attacked in every round; as many as the recipe says if None."""

    @property
    def flags(self) -> list[str]:
        """What stands behind `heedful reproduce flat`, but for files that every machine has elsewhere."""
        given = {**self._asdict(), "seeds": first_seeds(self.seeds), "rounds": ROUNDS}
        del given["name"]
        named = {key.replace("_", "-"): value for key, value in given.items() if value}
        return [*(f"--{key}={value}" for key, value in named.items()), "--no-attack-similarity"]

    def experiments(self, recipe: Recipe) -> list[Experiment]:
        """Tables and figures that it measures."""
        asked = [recipe.find("table", number) for number in self.table.split(",")]
        return asked + [recipe.find("figure", number) for number in filter(None, self.figure.split(","))]

    def cases(self, recipe: Recipe, asked: list[Experiment] | None = None) -> list[RecipeCase]:
        """What the command trains and audits, for all that it measures or some of it."""
        attacks = AttackChoices(similarity=False, rounds=ROUNDS, texts=self.attack_texts)
        return recipe.cases(
            asked or self.experiments(recipe),
            datasets=self.data.split(","),
            encoders=self.encoders.split(","),
            seeds=self.seeds,
            texts=self.limit,
            attacks=attacks,
            costly=True,
        )


ROUNDS = 2
"""Of attack and training: as many as in the authors' code."""
FLAT_PARTS = [
    FlatPart("sst2-lstm", "sst2", "lstm", "1,2,3,5,6,7,9", "3,4,5,6"),
    FlatPart("sst2-cnn", "sst2", "cnn", "1,2,3,6,7,9", "3,4,6"),
    FlatPart("trec", "trec", "lstm,cnn", "1,2,3,6,7", "6"),
    FlatPart("attention", "sst2", "bilstm", "11"),
    FlatPart("certified", "sst2", "cnn", "12"),
    FlatPart("transfer", "sst2", "lstm,cnn", "4"),
    FlatPart("lime-trec", "trec", "lstm,cnn", "8"),
    FlatPart("lime-sst2", "sst2", "lstm,cnn", "8"),
    FlatPart("seeds", "sst2", "lstm", "2,3", seeds=3),
    FlatPart("groups", "ag_news", "cnn", "10", limit=300),
    FlatPart("trec-minilm", "trec", "hf:minilm-l6", "2,3", limit=200, attack_texts=500),
    FlatPart("ag_news", "ag_news", "lstm,cnn", "2,3", limit=300, attack_texts=1000),
    FlatPart("imdb", "imdb", "lstm,cnn", "2,3", limit=100),
]


def _attacked(recipe: Recipe) -> list[RecipeCase]:
    """All parts together; a run that several need stands once, with the audits of all."""
    found: dict[str, RecipeCase] = {}
    for case in (case for part in FLAT_PARTS for case in part.cases(recipe)):
        before = found.get(case.name)
        audits = tuple(dict.fromkeys((*(before.audits if before else ()), *case.audits)))
        found[case.name] = replace(case, audits=audits)
    return list(found.values())
