"""Sizes of the corpora and accuracy of the models, beside the paper's (Tables 1 and 3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heedful.output.numbers import NOTHING, fixed
from heedful.output.tables import Table
from heedful.papers.corpus_counts import DEVIATION, SENTENCES, TEXTS, WORDS, classes, count_cell
from heedful.papers.recipe import published
from heedful.papers.results import MeasuredRun, Results
from heedful.papers.serrano_smith.serrano_smith_claims import ENCODERS, models_with

COUNTERPART = {"imdb_rating": "IMDB"}
"""Which of the paper's corpora a dataset stands in for; the others have none here."""
_SIZES = ("words", "words_deviation", "sentences", "sentences_deviation", "train", "test", "classes")


def table_1(results: Results) -> list[Table]:
    """Corpora, ours above the paper's."""
    counts = results.corpora
    rows = []
    for dataset in counts.datasets:
        lengths = [
            count_cell(counts, dataset, f"{name}{of}", "test", 1)
            for name in (WORDS, SENTENCES)
            for of in ("", DEVIATION)
        ]
        both = sum(
            found.estimate
            for split in ("train", "dev")
            if (found := counts.get(dataset, "", "corpus", TEXTS, group=split))
        )
        sizes = [
            f"{both:,.0f}",
            count_cell(counts, dataset, TEXTS, "test"),
            str(len(classes(counts, dataset))),
        ]
        rows.append([f"{dataset} (ours)", *lengths, *sizes])
    for name, printed in published("serrano_smith")["corpora"].items():
        rows.append([f"{name} (paper)", *(f"{printed[size]:,}" for size in _SIZES)])
    headings = ["corpus", "words", "s.d.", "sentences", "s.d.", "train + dev", "test", "classes"]
    return [Table(headings, rows, "Lengths: mean over test texts, as they are read")]


def table_3(results: Results) -> list[Table]:
    """Test accuracy in percent, ours above the paper's."""
    names = models_with(*ENCODERS)
    rows = []
    for dataset in results.datasets:
        reached = [
            [100 * run.metrics["test"]["accuracy"] for run in results.of(dataset, name)] for name in names
        ]
        rows.append([f"{dataset} (ours)", *(fixed(float(np.mean(v)), 1) if v else NOTHING for v in reached)])
    for name, printed in published("serrano_smith")["corpora"].items():
        rows.append([f"{name} (paper)", *(fixed(printed["accuracy"][model], 1) for model in names)])
    return [Table(["corpus", *names], rows, "Test accuracy in percent, mean over seeds")]


def described(runs: Sequence[MeasuredRun]) -> list[str]:
    """Size and accuracy, beside those of the corpus it stands in for."""
    ours = np.mean([run.metrics["test"]["accuracy"] for run in runs])
    name = COUNTERPART.get(runs[0].dataset)
    if name is None:
        return ["accuracy", fixed(float(ours)), NOTHING, NOTHING, NOTHING]
    theirs = published("serrano_smith")["corpora"][name]
    return [
        "accuracy",
        fixed(float(ours)),
        fixed(theirs["accuracy"][runs[0].model] / 100),
        f"{theirs['train']:,}",
        f"{theirs['test']:,}",
    ]
