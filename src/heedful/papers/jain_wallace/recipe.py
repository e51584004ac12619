"""Jain & Wallace 2019, Attention is not Explanation: Tables 1, 2 and Figures 1–8."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from heedful.audits.audit import BINS, in_bin
from heedful.audits.chart_kinds import histogram, violins
from heedful.audits.exhibits import Chart
from heedful.measures.divergence import LN_2
from heedful.output.numbers import (
    NOTHING,
    fixed,
    give_or_take,
    mean,
    mean_and_deviation,
    percentage,
    quartiles,
)
from heedful.output.panels import Panel, together
from heedful.output.tables import Table
from heedful.papers.jain_wallace import review
from heedful.papers.jain_wallace.agreement_figures import (
    FIGURE_3,
    FIGURE_4,
    FIGURE_5,
    figure_2,
    figure_2_drawn,
)
from heedful.papers.jain_wallace.corpora_table import ENCODERS, measure_of, table_1
from heedful.papers.jain_wallace.jain_wallace_claims import CLAIMS
from heedful.papers.paper_page import Picture
from heedful.papers.recipe import Dataset, Experiment, Model, Recipe, published, register
from heedful.papers.results import MeasuredRun, Results, by_class, column, rows_of

VECTORS = "glove-840b-300d"
_COLOURS = "Colours: predicted class. All seeds together."
_JSD_BINS = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, LN_2]


def table_2(results: Results) -> list[Table]:
    """Kendall's τ of attention with gradients and with leave-one-out, by predicted class."""
    names = {
        "tau_g": "attention and gradient",
        "tau_loo": "attention and leave-one-out",
        "tau_g_loo": "gradient and leave-one-out",
    }
    return [_taus(results, name, f"Kendall's τ of {pair}") for name, pair in names.items()]


def _taus(results: Results, name: str, title: str) -> Table:
    rows = []
    for dataset, model, runs in results.pairs("agreement"):
        printed = published("jain_wallace")["table_2"].get(dataset, {})
        for place, (label, where) in enumerate(by_class(runs)):
            theirs = printed.get("all" if place == 0 else str(place - 1), {}).get(model, {})
            rows.append([dataset, label, model, *_tau(runs, name, where), *_printed(theirs.get(name))])
    return Table(
        ["dataset", "predicted class", "encoder", "ours", "sig.", "by seed", "paper", "sig."], rows, title
    )


def _tau(runs: list[MeasuredRun], name: str, where: pl.Expr | None) -> list[str]:
    means = [np.nanmean(values) for run in runs if len(values := column([run], "agreement", name, where))]
    spread = f"{fixed(min(means), 2)}–{fixed(max(means), 2)}" if len(means) > 1 else NOTHING
    values, significant = (column(runs, "agreement", n, where) for n in (name, f"{name}_significant"))
    return [mean_and_deviation(values), mean(significant), spread]


def _printed(numbers: list[float] | None) -> list[str]:
    return [give_or_take(numbers[0], numbers[1]), fixed(numbers[2], 2)] if numbers else [NOTHING, NOTHING]


def figure_6(results: Results) -> list[Table]:
    """Median change of the prediction over shuffles, by the largest weight."""
    return [
        _by_weight(
            results,
            "permutation",
            "permutation_change",
            "Median change of the prediction when weights are shuffled: median over texts [quartiles], number of texts",
        )
    ]


def figure_7(results: Results) -> list[Table]:
    """How the texts are spread over ε-max JSD."""
    rows = []
    for dataset, model, runs in results.pairs("counterfactual"):
        for label, where in by_class(runs):
            values = column(runs, "counterfactual", "eps_max_jsd", where)
            counts, _ = np.histogram(values.clip(0, LN_2), _JSD_BINS)
            shares = counts / len(values) if len(values) else np.full(len(counts), np.nan)
            exact = all(run.frames["counterfactual"]["exact"].all() for run in runs)
            rows.append(
                [
                    dataset,
                    label,
                    model,
                    "exact" if exact else "at least",
                    mean(values),
                    *map(percentage, shares),
                    str(len(values)),
                ]
            )
    bins = [f"{low:.1f}–{high:.2f}".rstrip("0") for low, high in pairwise(_JSD_BINS)]
    return [
        Table(
            ["dataset", "predicted class", "encoder", "", "mean", *bins, "texts"],
            rows,
            "Share of texts by ε-max JSD",
        ),
    ]


def figure_8(results: Results) -> list[Table]:
    """ε-max JSD by the largest weight."""
    return [
        _by_weight(
            results,
            "counterfactual",
            "eps_max_jsd",
            "ε-max JSD by the largest weight: median over texts [quartiles], number of texts",
        )
    ]


def _by_weight(results: Results, audit: str, name: str, title: str) -> Table:
    rows = []
    for dataset, model, runs in results.pairs(audit):
        for label, where in by_class(runs):
            cells = []
            for low, high in BINS:
                chosen = in_bin(low, high) if where is None else where & in_bin(low, high)
                values = column(runs, audit, name, chosen)
                cells.append(f"{quartiles(values)} {len(values)}" if len(values) else NOTHING)
            rows.append([dataset, label, model, *cells])
    bins = [f"largest weight {fixed(low, 2)}–{fixed(high, 2)}" for low, high in BINS]
    return Table(["dataset", "predicted class", "encoder", *bins], rows, title)


def _drawn(
    number: int, audit: str, title: str, draw: Callable[[pl.DataFrame], Chart]
) -> Callable[[Results], list[Picture]]:
    """A drawing for every corpus, with a panel for every encoder."""

    def pictures(results: Results) -> list[Picture]:
        found = []
        for dataset in results.datasets:
            panels = [
                Panel(model, draw(rows_of(runs, audit)).spec)
                for name, model, runs in results.pairs(audit)
                if name == dataset
            ]
            if panels:
                spec = together(panels, title=f"{title}, {dataset}", caption=[_COLOURS], columns=3)
                found.append(Picture(f"figure-{number}-{dataset}", f"{title}, by encoder, {dataset}", spec))
        return found

    return pictures


def _violins(column: str, axis: str, high: float) -> Callable[[pl.DataFrame], Chart]:
    def draw(rows: pl.DataFrame) -> Chart:
        return violins(rows, column, BINS, title="", axis=axis, high=high)

    return draw


def _spread_of_jsd(rows: pl.DataFrame) -> Chart:
    return histogram(rows, "eps_max_jsd", title="", axis="ε-max JSD", low=0, high=LN_2)


def described(runs: Sequence[MeasuredRun]) -> list[str]:
    """Size and performance beside those of Table 1, which are the BiLSTM's."""
    theirs: dict[str, Any] = published("jain_wallace")["corpora"][runs[0].dataset]
    measure = measure_of(runs[0].dataset)
    ours = np.mean([run.metrics["test"][measure] for run in runs])
    printed = fixed(theirs["performance"], 2) if runs[0].model == "bilstm" else NOTHING
    return [measure, fixed(float(ours)), printed, f"{theirs['train']:,}", f"{theirs['test']:,}"]


_NO_NUMBERS = "The paper shows this as a picture and prints no number for it."
_ABSENT = "ADR Tweets, Diabetes and Anemia cannot be had here (tweets by number; hospital records under a licence), nor the CNN questions; bAbI 2 and 3 are not in this recipe."

JAIN_WALLACE = register(
    Recipe(
        name="jain-wallace",
        title="Jain & Wallace 2019, Attention is not Explanation",
        description="Attention is not Explanation: Tables 1, 2, Figures 1 to 8, and fourteen claims",
        options={"preset": "jain-wallace", "vectors": VECTORS},
        datasets={
            "sst2": Dataset(1000),
            "imdb": Dataset(500, {"limit": 4000, "max_length": 250}),
            "20news_sports": Dataset(500),
            "ag_news_binary": Dataset(1000),
            "babi_1": Dataset(1000, {"vectors": None}),
            "snli": Dataset(1000),
        },
        models=tuple(Model(name, name, {"encoder": name}) for name in ENCODERS),
        experiments=(
            Experiment(
                "table",
                1,
                "Which corpora, and how well do models do?",
                "sharpness",
                table_1,
                (
                    "The paper has performance for the BiLSTM alone, and says that the others are comparable for classification and markedly worse for questions.",
                    _ABSENT,
                ),
                corpora=True,
            ),
            Experiment(
                "table",
                2,
                "Does attention agree with gradients and leave-one-out?",
                "agreement",
                table_2,
                (
                    "sig. is the share of texts with p ≤ 0.05. The paper prints nothing for the CNN, for leave-one-out with the average encoder, "
                    "and for gradients against leave-one-out. It does not say which "
                    "of SNLI's classes is 0, 1 or 2: they stand beside ours by number.",
                ),
            ),
            Experiment(
                "figure",
                1,
                "Two heatmaps, one prediction",
                "sharpness",
                review.figure_1,
                (
                    "The review of the paper's figure, read by models that did not see it in training; ε is 0.01. The paper's other heatmap was searched for, ours is "
                    "the farthest there is. The paper gives ŷ = 0.01 for positive. One text decides nothing: Figure 7 has all.",
                ),
                (review.MODEL,),
                review.ON,
                base_only=True,
                pictures=review.figure_1_drawn,
            ),
            Experiment(
                "figure",
                2,
                "How is agreement with gradients spread?",
                "agreement",
                figure_2,
                (_NO_NUMBERS + " It says that densities centre around 0.5 or below with a BiLSTM.",),
                pictures=figure_2_drawn,
            ),
            Experiment(
                "figure",
                3,
                "Does leave-one-out agree more with gradients than with attention?",
                "agreement",
                FIGURE_3.tables,
                (_NO_NUMBERS + " Its caption says that the difference is more than 0.2 on average.",),
                ("bilstm",),
                pictures=FIGURE_3.pictures,
            ),
            Experiment(
                "figure",
                4,
                "Do gradients agree more with leave-one-out than with attention?",
                "agreement",
                FIGURE_4.tables,
                (_NO_NUMBERS + " Its caption says that the difference is about 0.25 on average.",),
                ("bilstm",),
                pictures=FIGURE_4.pictures,
            ),
            Experiment(
                "figure",
                5,
                "Does attention over an average encoder agree more with leave-one-out?",
                "agreement",
                FIGURE_5.tables,
                (_NO_NUMBERS + " Its caption says that the difference is about 0.375 on average.",),
                ("bilstm", "average"),
                pictures=FIGURE_5.pictures,
            ),
            Experiment(
                "figure",
                6,
                "Does shuffling the weights change the prediction?",
                "permutation",
                figure_6,
                (_NO_NUMBERS + " It says that many texts change little although one weight is large.",),
                pictures=_drawn(
                    6,
                    "permutation",
                    "Change of the prediction when weights are shuffled",
                    _violins("permutation_change", "median Δŷ", 1.0),
                ),
            ),
            Experiment(
                "figure",
                7,
                "How different can a heatmap be and still give this prediction?",
                "counterfactual",
                figure_7,
                (
                    _NO_NUMBERS + " It says that values near the bound of 0.69 are frequent.",
                    "ε is 0.01, and 0.05 for babi_1, as in the paper. Exact for two classes; for more a search, so at least as large.",
                ),
                pictures=_drawn(7, "counterfactual", "How different another heatmap can be", _spread_of_jsd),
            ),
            Experiment(
                "figure",
                8,
                "Are different heatmaps harder to find where attention is peaked?",
                "counterfactual",
                figure_8,
                (_NO_NUMBERS + " It says that there is a negative trend, and a weak one.",),
                pictures=_drawn(
                    8,
                    "counterfactual",
                    "How different another heatmap can be, by the largest weight",
                    _violins("eps_max_jsd", "ε-max JSD", LN_2),
                ),
            ),
        ),
        claims=CLAIMS,
        differences={
            f"Vectors: a subset of 33,860 words of GloVe 840B ({VECTORS}) in place of fastText (SST, IMDB, 20 Newsgroups) "
            "or all of GloVe 840B (AG News, SNLI); other words are drawn from its distribution.": (
                "sst2",
                "imdb",
                "20news_sports",
                "ag_news_binary",
                "snli",
            ),
            "imdb: trained on a sample of 4,000 reviews, cut at 250 words.": ("imdb",),
            "ag_news_binary, snli: the files at hand are part of the original training sets.": (
                "ag_news_binary",
                "snli",
            ),
            "babi_1: the size of the average encoder, at most 40 epochs and a patience of 5 are ours.": (
                "babi_1",
            ),
            "snli, babi_1: the decoder is the one of the released code, not the linear one of the paper.": (
                "snli",
                "babi_1",
            ),
            "The epoch is selected on dev, never on test. The released code drops the longest text of each split; we keep it.": (),
            "ε-max JSD is the exact maximum for two classes, not the result of a search, and so never smaller.": (),
        },
        described=described,
        besides=review.besides,
    )
)
