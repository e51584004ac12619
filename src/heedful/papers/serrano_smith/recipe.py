"""Serrano & Smith 2019, Is Attention Interpretable?: Tables 1–3 and Figures 3–13."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from heedful.audits.chart_kinds import boxes
from heedful.output.counted_bars import stacked_shares
from heedful.output.numbers import NOTHING, fixed, percentage, quartiles
from heedful.output.panels import Panel, together
from heedful.output.tables import Table
from heedful.papers.corpus_counts import DEVIATION, SENTENCES, TEXTS, WORDS, classes, count_cell
from heedful.papers.paper_page import Picture
from heedful.papers.recipe import Dataset, Experiment, Model, Recipe, published, register
from heedful.papers.results import MeasuredRun, Results, column, rows_of
from heedful.papers.serrano_smith.erasure_figures import (
    HANRNN,
    delta_js,
    delta_js_drawn,
    negatives,
    negatives_drawn,
)
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


def table_2(results: Results) -> list[Table]:
    """What flips the decision when one item is erased, in percent of the texts."""
    return [
        _flips(results, "attention", "Top item by attention (the paper: Table 2)"),
        _flips(results, "product", "Top item by attention × gradient (the paper: Figure 13)"),
    ]


def figure_9(results: Results) -> list[Table]:
    """The same as Table 2 on all models."""
    return [_flips(results, "attention", "Top item by attention (the paper: Figure 9)")]


def figure_12(results: Results) -> list[Table]:
    """The top item by the gradient."""
    return [_flips(results, "gradient", "Top item by gradient (the paper: Figure 12)"), _single(results)]


def figure_13(results: Results) -> list[Table]:
    """The top item by attention × gradient."""
    return [
        _flips(results, "product", "Top item by attention × gradient (the paper: Figure 13)"),
        _single(results),
    ]


def _single(results: Results) -> Table:
    """How many decisions the top item of each ranking flips alone."""
    rankings = ("attention", "gradient", "product")
    rows = [
        [
            dataset,
            model,
            *(percentage(column(runs, "single_erasure", f"{name}_flips").mean(), 1) for name in rankings),
        ]
        for dataset, model, runs in results.pairs("single_erasure")
    ]
    return Table(["dataset", "model", *rankings], rows, "Decisions that the top item flips alone, by ranking")


def _flips_drawn(number: int, ranking: str, spoken: str) -> Callable[[Results], list[Picture]]:
    """A bar for every model of each corpus, and for those of the paper that it prints."""

    def pictures(results: Results) -> list[Picture]:
        bars: dict[str, list[float]] = {}
        for dataset, model, runs in results.pairs("single_erasure"):
            top, other = (
                column(runs, "single_erasure", f"{ranking}_{end}") for end in ("flips", "other_flips")
            )
            bars[f"{dataset} {model}"] = [
                float(((top == a) & (other == b)).mean()) for a, b in _OUTCOMES.values()
            ]
        if not bars:
            return []
        for model, corpora in published("serrano_smith")["flips"].get(ranking, {}).items():
            for name, shares in corpora.items():
                bars[f"{name} {model} (paper)"] = [share / 100 for share in shares]
        title = f"What flips when one item is erased: the top by {spoken}, or a random other"
        spec = stacked_shares(bars, [f"flips: {name}" for name in _OUTCOMES], title=title)
        return [Picture(f"figure-{number}", f"{title}, shares of texts by model", spec)]

    return pictures


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
    printed = published("serrano_smith")["flips"].get(ranking, {}).get(model, {})
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


def _removed_drawn(number: int, what: str, *models: str) -> Callable[[Results], list[Picture]]:
    """Boxes of every ranking; a drawing for every corpus with a panel for each model."""
    erased = "items" if what == "fraction" else "attention"

    def draw(runs: list[MeasuredRun]) -> Panel:
        rows = rows_of(runs, "flip_set").filter(FLIPPED)
        groups = {name: rows[f"{name}_{what}"] for name in (*RANKINGS, "minimum")}
        axis = f"share of {erased} erased"
        return Panel(runs[0].model, boxes(groups, title="", axis=axis, accent="minimum").spec)

    def pictures(results: Results) -> list[Picture]:
        found = []
        for dataset in results.datasets:
            panels = [
                draw(runs)
                for name, _, runs in _only(results, *models)
                if name == dataset and len(column(runs, "flip_set", "row", FLIPPED))
            ]
            if panels:
                title = f"Share of {erased} erased before the decision flips, {dataset}"
                caption = ["Box: half of the texts; line: nine in ten. The minimum is exact."]
                spec = together(panels, title=title, caption=caption, columns=3)
                found.append(Picture(f"figure-{number}-{dataset}", f"{title}, by model and ranking", spec))
        return found

    return pictures


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
_NO_POINTS = "The paper draws this and prints no number. Δα is the difference of the weights, ΔJS that of the effects on the output."
_MINIMUM = "The true minimum is ours: the smallest set whose erasure flips the decision, which the paper holds to be out of reach."

SERRANO_SMITH = register(
    Recipe(
        name="serrano-smith",
        title="Serrano & Smith 2019, Is Attention Interpretable?",
        description="Is Attention Interpretable?: Tables 1 to 3, Figures 3 to 13, and fourteen claims",
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
                1,
                "Which corpora?",
                "",
                table_1,
                (
                    "Texts that were cut count as they are read: imdb_rating and 20news have 250 words at most.",
                ),
                corpora=True,
            ),
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
                "table",
                3,
                "How well do the models classify?",
                "sharpness",
                table_3,
                (
                    "Other corpora than the paper's (see what differs): ours and theirs are not to be compared row by row.",
                ),
            ),
            Experiment(
                "figure",
                3,
                "How far does the top item move the output, by how far its weight stands out?",
                "single_erasure",
                delta_js(HANRNN),
                (_NO_POINTS,),
                (HANRNN,),
                pictures=delta_js_drawn(3, HANRNN),
            ),
            Experiment(
                "figure",
                4,
                "Where a random item matters more, are the weights nearly tied?",
                "single_erasure",
                negatives(HANRNN),
                (_NO_POINTS,),
                (HANRNN,),
                pictures=negatives_drawn(4, HANRNN),
            ),
            Experiment(
                "figure",
                5,
                "How much must be erased to flip a decision?",
                "flip_set",
                figure_5,
                (_NO_NUMBERS, _MINIMUM),
                _FIGURE_5,
                pictures=_removed_drawn(5, "fraction", *_FIGURE_5),
            ),
            Experiment(
                "figure",
                6,
                "And without an encoder?",
                "flip_set",
                figure_6,
                (_NO_NUMBERS, _MINIMUM),
                models_with("noenc"),
                pictures=_removed_drawn(6, "fraction", *models_with("noenc")),
            ),
            Experiment(
                "figure",
                7,
                "The same as Figure 3 on all models",
                "single_erasure",
                delta_js(*models_with(*ENCODERS)),
                (_NO_POINTS + " It says that ΔJS rises earlier for models with less context.",),
                pictures=delta_js_drawn(7, *models_with(*ENCODERS)),
            ),
            Experiment(
                "figure",
                8,
                "The same as Figure 4 on all models",
                "single_erasure",
                negatives(*models_with(*ENCODERS)),
                (_NO_POINTS + " It says that the models of Yahoo are an exception.",),
                pictures=negatives_drawn(8, *models_with(*ENCODERS)),
            ),
            Experiment(
                "figure",
                9,
                "Does the most attended item alone decide, on all models?",
                "single_erasure",
                figure_9,
                ("The paper's tables are in an image but for HANrnn, whose numbers Table 2 repeats.",),
                pictures=_flips_drawn(9, "attention", "attention"),
            ),
            Experiment(
                "figure",
                10,
                "How much must be erased, on all models?",
                "flip_set",
                figure_10,
                (_NO_NUMBERS, _MINIMUM),
                pictures=_removed_drawn(10, "fraction", *models_with(*ENCODERS)),
            ),
            Experiment(
                "figure",
                11,
                "How much attention must be erased, on all models?",
                "flip_set",
                figure_11,
                (_NO_NUMBERS,),
                pictures=_removed_drawn(11, "mass", *models_with(*ENCODERS)),
            ),
            Experiment(
                "figure",
                12,
                "Does the top item by the gradient decide?",
                "single_erasure",
                figure_12,
                (
                    "The paper's tables are in an image. It says that the gradient's top item flips fewer decisions than attention's in 14 of 24 models.",
                ),
                pictures=_flips_drawn(12, "gradient", "gradient"),
            ),
            Experiment(
                "figure",
                13,
                "Does the top item by attention × gradient decide?",
                "single_erasure",
                figure_13,
                (
                    "It says that the product's top item flips more decisions than attention's in all 24 models.",
                ),
                pictures=_flips_drawn(13, "product", "attention × gradient"),
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
        besides=lambda run: {},
    )
)
