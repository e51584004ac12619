"""Serrano & Smith 2019, Is Attention Interpretable?: Table 2 and Figures 5, 6, 10, 11."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heedful.output.numbers import NOTHING, fixed, percentage, quartiles
from heedful.output.tables import Table
from heedful.papers.recipe import Dataset, Experiment, Model, Recipe, published, register
from heedful.papers.results import MeasuredRun, Results, column
from heedful.papers.serrano_smith.serrano_smith_claims import (
    CLAIMS,
    ENCODERS,
    FLIPPED,
    NETWORKS,
    RANKINGS,
    models_with,
)

VECTORS = "glove-840b-300d"
_OUTCOMES = {"both": (1, 1), "only top": (1, 0), "only random": (0, 1), "neither": (0, 0)}
_COUNTERPART = {"imdb_rating": "IMDB"}
"""Which of the paper's corpora a dataset stands in for; the others have none here."""


def table_2(results: Results) -> list[Table]:
    """What flips the decision when one item is erased, in percent of the texts."""
    return [
        _flips(results, "attention", "Top item by attention (the paper: Table 2)"),
        _flips(results, "product", "Top item by attention × gradient (the paper: Figure 13)"),
    ]


def _flips(results: Results, ranking: str, title: str) -> Table:
    rows = []
    for dataset, model, runs in results.pairs("single_erasure"):
        top, other = (column(runs, "single_erasure", f"{ranking}_{end}") for end in ("flips", "other_flips"))
        ours = [percentage(((top == a) & (other == b)).mean(), 1) for a, b in _OUTCOMES.values()]
        rows.append([f"{dataset} (ours)", model, *ours, str(len(top))])
        rows += _printed(ranking, model, (_COUNTERPART[dataset],) if dataset in _COUNTERPART else ())
    paper = [name for name in published("serrano_smith")["corpora"] if name not in _COUNTERPART.values()]
    for model in dict.fromkeys(row[1] for row in rows):
        rows += _printed(ranking, model, paper)
    return Table(["corpus", "model", *_OUTCOMES, "texts"], rows, title)


def _printed(ranking: str, model: str, corpora: Sequence[str]) -> list[list[str]]:
    """Rows of the paper, in the same form."""
    printed = published("serrano_smith")["flips"][ranking].get(model, {})
    sizes = published("serrano_smith")["corpora"]
    return [
        [
            f"{name} (paper)",
            model,
            *(percentage(share / 100, 1) for share in printed[name]),
            f"{sizes[name]['test']:,}",
        ]
        for name in corpora
        if name in printed
    ]


def figure_5(results: Results) -> list[Table]:
    """Fractions of items on the three architectures of the figure, and which ranking is sooner."""
    rows = []
    for dataset, model, runs in _only(results, *_FIGURE_5):
        attention, gradient = (
            column(runs, "flip_set", f"{name}_fraction", FLIPPED) for name in ("attention", "gradient")
        )
        shares = [
            float(np.mean(first < second - 1e-9)) if len(first) else np.nan
            for first, second in ((gradient, attention), (attention, gradient))
        ]
        rows.append([dataset, model, *map(percentage, shares)])
    return [
        _removed(results, "fraction", *_FIGURE_5),
        Table(
            ["dataset", "model", "gradient sooner", "attention sooner"],
            rows,
            "Whose order flips the decision with fewer items (the paper: gradient for over half of the texts in 10 of 16 "
            "models with encoders, and at least 1.6 times as often as attention in all)",
        ),
    ]


def figure_6(results: Results) -> list[Table]:
    """Fractions of items without an encoder, and the tail that the caption mentions."""
    rows = []
    for dataset, model, runs in _only(results, *models_with("noenc")):
        shares = [column(runs, "flip_set", f"{name}_fraction", FLIPPED) > 0.5 for name in RANKINGS]
        rows.append([dataset, model, *(percentage(s.mean(), 1) if len(s) else NOTHING for s in shares)])
    printed = published("serrano_smith")["figure_6"]
    tail = ", ".join(f"{share} %" for share in printed["above_half"])
    return [
        _removed(results, "fraction", *models_with("noenc")),
        Table(
            ["dataset", "model", *RANKINGS],
            rows,
            "Share of texts that need more than half of their items erased "
            f"(the paper: {tail} in the order of its legend, for {printed['model']} on {printed['corpus']})",
        ),
    ]


def figure_10(results: Results) -> list[Table]:
    """Fractions of items on all models."""
    return [_removed(results, "fraction", *models_with(*ENCODERS))]


def figure_11(results: Results) -> list[Table]:
    """Attention mass on all models."""
    return [_removed(results, "mass", *models_with(*ENCODERS))]


def _removed(results: Results, what: str, *models: str) -> Table:
    rows = []
    for dataset, model, runs in _only(results, *models):
        boxes = [
            quartiles(column(runs, "flip_set", f"{name}_{what}", FLIPPED)) for name in (*RANKINGS, "minimum")
        ]
        all_texts = sum(len(run.frames["flip_set"]) for run in runs)
        kept = len(column(runs, "flip_set", "row", FLIPPED))
        rows.append([dataset, model, *boxes, f"{kept:,}", f"{all_texts - kept:,}"])
    erased = "items" if what == "fraction" else "attention"
    return Table(
        ["dataset", "model", *RANKINGS, "true minimum", "texts", "never flip"],
        rows,
        f"Share of {erased} erased before the decision flips: median over texts [quartiles]",
    )


def _only(results: Results, *models: str) -> list[tuple[str, str, list[MeasuredRun]]]:
    return [(dataset, model, runs) for dataset, model, runs in results.pairs("flip_set") if model in models]


def described(runs: Sequence[MeasuredRun]) -> list[str]:
    """Size and accuracy, beside those of the corpus it stands in for."""
    ours = np.mean([run.metrics["test"]["accuracy"] for run in runs])
    name = _COUNTERPART.get(runs[0].dataset)
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


_FIGURE_5 = ("HANrnn", "FLANrnn", "FLANconv")
_NO_NUMBERS = "The paper shows this as box plots and prints no number for them."
_MINIMUM = "The true minimum is ours: the smallest set whose erasure flips the decision, which the paper holds to be out of reach."

SERRANO_SMITH = register(
    Recipe(
        name="serrano-smith",
        title="Serrano & Smith 2019, Is Attention Interpretable?",
        description="Is Attention Interpretable?: Table 2, Figures 5, 6, 10, 11, and eleven claims",
        options={
            "preset": "serrano-smith",
            "vectors": VECTORS,
            "epochs": 15,
            "learning_rate": 0.001,
            "min_count": 2,
        },
        datasets={
            "sst5": Dataset(1000),
            "imdb_rating": Dataset(500, {"limit": 4000, "max_length": 250}),
            "20news": Dataset(500, {"limit": 4000, "max_length": 250}),
            "ag_news": Dataset(1000, {"limit": 8000}),
        },
        models=tuple(
            Model(network + name, name, {"encoder": encoder, "hierarchical": hierarchical})
            for network, hierarchical in NETWORKS.items()
            for name, encoder in ENCODERS.items()
        ),
        experiments=(
            Experiment(
                "table",
                2,
                "Does the most attended item alone decide?",
                "single_erasure",
                table_2,
                (
                    "Yahoo, Amazon and Yelp have no counterpart here; of the tables by attention the paper prints HANrnn's alone "
                    "as text. In the released code the random other item could be the top one itself; here it never is.",
                ),
            ),
            Experiment(
                "figure",
                5,
                "How much must be erased to flip a decision?",
                "flip_set",
                figure_5,
                (_NO_NUMBERS, _MINIMUM),
                _FIGURE_5,
            ),
            Experiment(
                "figure",
                6,
                "And without an encoder?",
                "flip_set",
                figure_6,
                (_NO_NUMBERS, _MINIMUM),
                models_with("noenc"),
            ),
            Experiment(
                "figure",
                10,
                "How much must be erased, on all models?",
                "flip_set",
                figure_10,
                (_NO_NUMBERS, _MINIMUM),
            ),
            Experiment(
                "figure",
                11,
                "How much attention must be erased, on all models?",
                "flip_set",
                figure_11,
                (_NO_NUMBERS,),
            ),
        ),
        claims=CLAIMS,
        differences={
            "Corpora: sst5, 20news and ag_news take the place of Yahoo Answers, Amazon and Yelp, and imdb_rating (eight "
            "ratings) that of another collection of IMDB reviews (ten ratings).": (),
            f"Vectors: a subset of 33,860 words of GloVe 840B ({VECTORS}) in place of word2vec trained on each corpus; other "
            "words are drawn from its distribution.": (),
            "Learning rate 0.001, at most 15 epochs, and words seen twice are known: ours, because the corpora are smaller.": (),
            "The epoch is selected on dev, never on test.": (),
            "imdb_rating, 20news: trained on a sample of 4,000 texts, cut at 250 words.": (
                "imdb_rating",
                "20news",
            ),
            "ag_news: trained on a sample of 8,000 texts of a part of the original training set.": (
                "ag_news",
            ),
            "sst5: single sentences, so that a HAN has only the few texts of two sentences or more to attend over.": (
                "sst5",
            ),
            "Random rankings: the mean of five, where the paper plots the first of five.": (),
        },
        described=described,
    )
)
