"""What Jain & Wallace claim, as numbers that decide."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from heedful.audits.questions.counterfactual import DIFFERENT
from heedful.audits.questions.permutation import SMALL
from heedful.papers.claims import Claim, Sample, rank_correlation
from heedful.papers.jain_wallace.corpora_table import measure_of
from heedful.papers.results import Results

_HIGH = 0.5
"""A weight of at least half is called large: no other can be larger."""
_TAU_RANGE = "0.08 to 0.47 over corpora and classes"
_PEAKED = pl.col("largest_weight") >= _HIGH
_AVERAGE = {"average": "bilstm"}

_CLASSIFIED, _ANSWERED = ("sst2", "imdb", "20news_sports", "ag_news_binary"), ("babi_1",)
_DRAWS = 1000


def _lost(datasets: tuple[str, ...]) -> Callable[[Results], list[Sample]]:
    """Test performance of the other encoders − that of the BiLSTM of the same seed; of single texts it is not kept."""

    def samples(results: Results) -> list[Sample]:
        found = []
        for dataset in datasets:
            reached = {
                model: {r.seed: r.metrics["test"][measure_of(dataset)] for r in results.of(dataset, model)}
                for model in ("bilstm", "average", "cnn")
            }
            for model in ("average", "cnn"):
                seeds = sorted(reached[model].keys() & reached["bilstm"].keys())
                lost = [reached[model][seed] - reached["bilstm"][seed] for seed in seeds]
                if lost:
                    (size, *_) = (r.metrics["sizes"]["test"] for r in results.of(dataset, model))
                    mean = float(np.mean(lost))
                    found.append(Sample(dataset, model, mean, np.full(_DRAWS, mean), size, (lost,)))
        return found

    return samples


CLAIMS = (
    Claim(
        "jw-1",
        "With a BiLSTM, attention agrees only weakly with gradients.",
        "4.1, Table 2",
        "mean τ_g",
        "agreement",
        pl.col("tau_g"),
        ("bilstm",),
        below=0.5,
        published=_TAU_RANGE,
    ),
    Claim(
        "jw-2",
        "With a BiLSTM, attention agrees only weakly with leave-one-out.",
        "4.1, Table 2",
        "mean τ_loo",
        "agreement",
        pl.col("tau_loo"),
        ("bilstm",),
        below=0.5,
        published="0.05 to 0.44",
    ),
    Claim(
        "jw-3",
        "Attention agrees better with gradients over an average encoder than over a BiLSTM.",
        "4.1, Table 2",
        "τ_g of average − τ_g of BiLSTM",
        "agreement",
        pl.col("tau_g"),
        ("average",),
        above=0.0,
        against=_AVERAGE,
        published="positive in every row, 0.13 to 0.67",
    ),
    Claim(
        "jw-4",
        "The same for leave-one-out.",
        "4.1, Figure 5",
        "τ_loo of average − τ_loo of BiLSTM",
        "agreement",
        pl.col("tau_loo"),
        ("average",),
        above=0.0,
        against=_AVERAGE,
        published="about 0.375",
    ),
    Claim(
        "jw-5",
        "With a BiLSTM, leave-one-out agrees more with gradients than with attention.",
        "4.1, Figure 3",
        "τ(gradient, leave-one-out) − τ_loo",
        "agreement",
        pl.col("tau_g_loo") - pl.col("tau_loo"),
        ("bilstm",),
        above=0.0,
        published="more than 0.2, SNLI excepted",
    ),
    Claim(
        "jw-6",
        "With a BiLSTM, gradients agree more with leave-one-out than with attention.",
        "4.1, Figure 4",
        "τ(gradient, leave-one-out) − τ_g",
        "agreement",
        pl.col("tau_g_loo") - pl.col("tau_g"),
        ("bilstm",),
        above=0.0,
        published="about 0.25",
    ),
    Claim(
        "jw-7",
        f"With a BiLSTM, shuffling the weights often changes little (less than {SMALL}, for a quarter of the texts "
        f"or more) even where one weight is at least {_HIGH}.",
        "4.2.1, Figure 6",
        f"share with a median change below {SMALL}",
        "permutation",
        pl.col("indifferent"),
        ("bilstm",),
        above=0.25,
        where=_PEAKED,
    ),
    Claim(
        "jw-8",
        f"With a BiLSTM, most texts have a very different heatmap (JSD of at least {DIFFERENT:.2f}) that gives the same "
        "prediction.",
        "4.2.2, Figure 7",
        "share of such texts",
        "counterfactual",
        pl.col("replaceable"),
        ("bilstm",),
        above=0.5,
    ),
    Claim(
        "jw-9",
        "With a BiLSTM, such heatmaps are only slightly harder to find where attention is peaked.",
        "4.2.2, Figure 8",
        "Spearman's correlation of largest weight and ε-max JSD",
        "counterfactual",
        rank_correlation("largest_weight", "eps_max_jsd"),
        ("bilstm",),
        above=-0.5,
        below=0.0,
    ),
    Claim(
        "jw-10",
        "With a BiLSTM, most texts whose attention is peaked have a very different heatmap too.",
        "4.2.2, Figure 8",
        f"share of such texts where one weight is at least {_HIGH}",
        "counterfactual",
        pl.col("replaceable"),
        ("bilstm",),
        above=0.5,
        where=_PEAKED,
    ),
    Claim(
        "jw-11",
        "With a BiLSTM, most texts have a τ_g of 0.5 or less.",
        "4.1, Figure 2",
        "share of such texts",
        "agreement",
        pl.when(pl.col("tau_g").is_finite()).then(pl.col("tau_g") <= _HIGH),
        ("bilstm",),
        above=0.5,
        published="densities centre around 0.5 or below in most corpora",
    ),
    Claim(
        "jw-12",
        "With a BiLSTM, leave-one-out agrees more with gradients than with attention by over 0.2.",
        "4.1, Figure 3",
        "τ(gradient, leave-one-out) − τ_loo",
        "agreement",
        pl.col("tau_g_loo") - pl.col("tau_loo"),
        ("bilstm",),
        above=0.2,
        published="> 0.2 on average",
    ),
    Claim(
        "jw-13",
        "Other encoders classify about as well as a BiLSTM (F1 lower by less than 0.05).",
        "2, Table 1",
        "test F1 − that of the BiLSTM of the same seed",
        "sharpness",
        _lost(_CLASSIFIED),
        ("bilstm", "average", "cnn"),
        above=-0.05,
        published="comparable",
    ),
    Claim(
        "jw-14",
        "They answer questions markedly worse (accuracy lower by more than 0.1).",
        "2, Table 1",
        "test accuracy − that of the BiLSTM of the same seed",
        "sharpness",
        _lost(_ANSWERED),
        ("bilstm", "average", "cnn"),
        below=-0.1,
        published="markedly worse",
    ),
)
