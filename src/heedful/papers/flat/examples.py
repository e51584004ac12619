"""What single models say: the paper's own examples explained, and how many words a model knows."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import polars as pl

from heedful.explainers.explain import explain
from heedful.output.numbers import fixed
from heedful.papers.flat.word_importance import classifier_of, kept_words
from heedful.papers.recipe import published
from heedful.papers.results import MeasuredRun

EXAMPLES, VOCABULARY = "examples", "vocabulary"
_SCHEMA = pl.Schema({"example": pl.Int64(), "label": pl.String(), "words": pl.String()})


def explained(run: MeasuredRun) -> pl.DataFrame:
    """Explain each of the paper's examples, as it is and attacked: the prediction, and every word with its integrated gradient."""
    kept = run.frames.get(EXAMPLES)
    return _explained(run.folder) if kept is None else kept


def vocabulary_of(run: MeasuredRun) -> int | None:
    """How many words a run's model knows; None where it is not there."""
    if (kept := run.frames.get(VOCABULARY)) is not None:
        return int(kept["words"][0])
    classifier = classifier_of(run.folder)
    return None if classifier is None else len(classifier.vocabulary)


def besides(run: MeasuredRun) -> dict[str, pl.DataFrame]:
    """Give what tables read of a run besides its audits."""
    kept = {name: run.frames[name] for name in (EXAMPLES, VOCABULARY) if name in run.frames}
    if VOCABULARY not in kept and (words := vocabulary_of(run)) is not None:
        kept[VOCABULARY] = pl.DataFrame({"words": [words]})
    if EXAMPLES not in kept and run.dataset == _of_examples() and len(shown := explained(run)):
        kept[EXAMPLES] = shown
    return {**kept, **kept_words(run)}


def _of_examples() -> str:
    """Both examples are of the first corpus of the paper's tables."""
    order: list[str] = published("flat")["order"]
    return order[0]


@lru_cache(maxsize=64)
def _explained(folder: Path) -> pl.DataFrame:
    classifier = classifier_of(folder)
    rows = []
    for number, example in enumerate(published("flat")["figure_3"]):
        texts = [example["original"], example["attacked"]]
        for found in explain(classifier, texts, "integrated_gradients") if classifier else ():
            words = (f"{found.text[item.start : item.end]} ({fixed(item.weight, 2)})" for item in found.items)
            rows.append((number, found.label, " ".join(words)))
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")
