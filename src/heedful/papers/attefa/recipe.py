"""Amini & Kosseim 2022, How (Un)Faithful is Attention?: Tables 1–5 and Figures 1, 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from heedful.audits.chart_kinds import scatter
from heedful.measures.divergence import LN_2
from heedful.measures.imitation import attefa_spread
from heedful.output.interval_dots import IntervalDot, interval_dots
from heedful.output.numbers import NOTHING, fixed, give_or_take, percentage, quartiles, with_interval
from heedful.output.panels import Panel, together
from heedful.output.tables import Table
from heedful.papers.attefa.attefa_claims import CLAIMS, RULE
from heedful.papers.attefa.score_samples import (
    MOCK,
    REAL,
)
from heedful.papers.attefa.twinned import Twinned, twinned
from heedful.papers.corpus_counts import WORDS, by_class_cell, count_cell
from heedful.papers.paper_page import Picture
from heedful.papers.recipe import Dataset, Experiment, Model, Recipe, published, register
from heedful.papers.results import MeasuredRun, Results, column, rows_of

VECTORS = {"mock": "glove-6b-50d", "real": "glove-840b-300d"}
_DIGITS = {"epoch": 0, "f1": 3, "tvd": 3, "jsd": 3, "attefa": 4}
_HEADINGS = ["epoch", "F1", "TVD", "JSD", "AtteFa"]
_SAME, _OTHER = 0.05, 0.9
_POINTS = 200
"""Points of a panel: more cannot be told apart in it. Numbers are of all."""


_PRINTED = ("train", "train_length", "test", "test_length")


def table_1(results: Results) -> list[Table]:
    """Sizes of the corpora beside the paper's."""
    counts = results.corpora
    rows = []
    for dataset in counts.datasets:
        printed = published("attefa")["table_1"]["mock" if dataset in MOCK else dataset]
        ours = [
            cell
            for split in ("train", "test")
            for cell in (by_class_cell(counts, dataset, split), count_cell(counts, dataset, WORDS, split, 1))
        ]
        rows.append(
            [
                dataset,
                *(c for pair in zip(ours, (str(printed[n]) for n in _PRINTED), strict=True) for c in pair),
            ]
        )
    names = ("train", "length of train", "test", "length of test")
    headings = ["dataset", *(heading for name in names for heading in (name, "paper"))]
    return [Table(headings, rows, "Texts by class, in the order of the labels, and mean length in words")]


def table_2(results: Results) -> list[Table]:
    """F1 of the base models."""
    rows = []
    for dataset, model, runs in results.pairs():
        printed = published("attefa")["table_2"][dataset]
        theirs = printed.get("wiegreffe_pinter", {}).get(model)
        ours = runs[0].metrics["test"]["f1"]
        rows.append([dataset, model, *map(fixed, (ours, printed[model], theirs))])
    return [Table(["dataset", "encoder", "ours", "paper", "Wiegreffe & Pinter"], rows, "Test F1 of the base")]


def table_3(results: Results) -> list[Table]:
    """What twins reach, ours above the paper's."""
    rows = []
    for dataset, model, found in _measured(results):
        ours = [
            _mean_and_deviation(np.array([getattr(twin, name) for twin in found.twins]), digits)
            for name, digits in _DIGITS.items()
        ]
        corrected = _mean_and_deviation(np.array([twin.corrected for twin in found.twins]), 4)
        rows.append([dataset, model, "ours", str(len(found.twins)), *ours, corrected])
        printed: Mapping[str, Any] = published("attefa")["table_3"][dataset][model]
        theirs = [
            give_or_take(printed[name][0], printed[name][1], digits) for name, digits in _DIGITS.items()
        ]
        rows.append([dataset, model, "paper", "9", *theirs, NOTHING])
    return [
        Table(
            ["dataset", "encoder", "", "twins", *_HEADINGS, "corrected"],
            rows,
            "Mean ± standard deviation over twins",
        )
    ]


def table_4(results: Results) -> list[Table]:
    """Twin by twin on the Mock corpora."""
    return [_by_seed(results, MOCK)]


def table_5(results: Results) -> list[Table]:
    """Twin by twin on real text."""
    return [_by_seed(results, REAL)]


def _by_seed(results: Results, datasets: Sequence[str]) -> Table:
    rows = []
    for dataset, model, found in _measured(results):
        printed = published("attefa")["by_seed"].get(dataset, {}).get(model, {})
        for twin in found.twins if dataset in datasets else ():
            ours = [fixed(getattr(twin, name), digits) for name, digits in _DIGITS.items()]
            theirs = fixed(printed[twin.seed][-1]) if twin.seed in printed else NOTHING
            rows.append([dataset, model, str(twin.seed), *ours, fixed(twin.corrected, 4), theirs])
    return Table(["dataset", "encoder", "seed", *_HEADINGS, "corrected", "AtteFa in the paper"], rows)


def figure_1(results: Results) -> list[Table]:
    """AtteFa by corpus, with how sure it is."""
    rows = []
    for dataset, model, found in _measured(results):
        scores = [twin.attefa for twin in found.twins]
        intervals = [_sure(found.scores(corrected=corrected)) for corrected in (False, True)]
        printed = published("attefa")["table_3"][dataset][model]["attefa"]
        rows.append(
            [
                dataset,
                model,
                intervals[0],
                f"{fixed(min(scores))}–{fixed(max(scores))}",
                give_or_take(printed[0], printed[1], 3),
                intervals[1],
            ]
        )
    return [
        Table(
            ["dataset", "encoder", "AtteFa (95 % interval)", "twins", "paper", "corrected (95 % interval)"],
            rows,
        )
    ]


def figure_2(results: Results) -> list[Table]:
    """JSD against TVD, text by text."""
    rows = []
    for dataset, model, runs in results.pairs("imitation"):
        tvd, jsd = (column(runs, "imitation", f"twin_{name}") for name in ("tvd", "jsd"))
        easy = float(np.mean((tvd < _SAME) & (jsd > _OTHER)))
        printed = published("attefa")["table_3"][dataset][model]
        rows.append(
            [
                dataset,
                model,
                fixed(tvd.mean() / 2),
                fixed(printed["tvd"][0]),
                fixed(jsd.mean() * LN_2),
                fixed(printed["jsd"][0]),
                quartiles(tvd / 2),
                quartiles(jsd * LN_2),
                percentage(easy),
                f"{len(tvd):,}",
            ]
        )
    headings = [
        "dataset",
        "encoder",
        "TVD",
        "paper",
        "JSD",
        "paper",
        "TVD over texts",
        "JSD over texts",
        "imitated elsewhere",
        "texts",
    ]
    return [Table(headings, rows, "Means, and medians over texts [quartiles]")]


def figure_1_drawn(results: Results) -> list[Picture]:
    """AtteFa of every twin, the mean with its interval, and the paper's mean ± standard deviation."""
    dots = []
    for dataset, model, found in _measured(results):
        scores = [twin.attefa for twin in found.twins]
        estimate, low, high = attefa_spread(found.scores())
        dots.append(IntervalDot(dataset, model, float(estimate), float(low), float(high), scores))
        mean, deviation = published("attefa")["table_3"][dataset][model]["attefa"]
        dots.append(IntervalDot(dataset, f"{model}, the paper", mean, mean - deviation, mean + deviation))
    if not dots:
        return []
    caption = [
        "Small: single twins. Lines: 95 % intervals over twins and texts; of the paper ± the standard deviation of nine twins."
    ]
    spec = interval_dots(
        dots, title="How faithful is attention, by corpus?", axis="AtteFa", caption=caption, domain=(0, 1)
    )
    return [Picture("figure-1", "AtteFa by corpus and encoder, with that of the paper", spec)]


def figure_2_drawn(results: Results) -> list[Picture]:
    """JSD against TVD, a point for every text, a drawing for every encoder."""
    drawn = []
    for name in dict.fromkeys(model for _, model, _ in results.pairs("imitation")):
        panels = []
        for dataset, model, runs in results.pairs("imitation"):
            if model == name:
                rows = rows_of(runs, "imitation").select(
                    tvd=pl.col("twin_tvd") / 2, jsd=pl.col("twin_jsd") * LN_2
                )
                shown = rows.sample(_POINTS, seed=0) if len(rows) > _POINTS else rows
                panels.append(
                    Panel(dataset, scatter(shown, "jsd", "tvd", title="", axes=("JSD", "TVD")).spec)
                )
        title = f"How far twins attend elsewhere, and how far they predict otherwise, {name}"
        caption = [f"Means over twins; at most {_POINTS} texts are drawn in a panel."]
        spec = together(panels, title=title, caption=caption, columns=3, height=150)
        drawn.append(Picture(f"figure-2-{name.lower()}", f"{title}: a point for every text", spec))
    return drawn


def _measured(results: Results) -> list[tuple[str, str, Twinned]]:
    return [(dataset, model, twinned(runs[0])) for dataset, model, runs in results.pairs("imitation")]


def _sure(scores: np.ndarray) -> str:
    """A score with its interval over twins and texts; of two twins there is none."""
    return with_interval(*attefa_spread(scores), fixed)


def _mean_and_deviation(values: np.ndarray, digits: int) -> str:
    return NOTHING if np.isnan(values).any() else give_or_take(values.mean(), values.std(), digits)


def described(runs: Sequence[MeasuredRun]) -> list[str]:
    """Size and F1 beside those of Tables 1 and 2."""
    theirs, f1 = (published("attefa")[name][runs[0].dataset] for name in ("corpora", "table_2"))
    ours = runs[0].metrics["test"]["f1"]
    return ["f1", fixed(ours), fixed(f1[runs[0].model]), f"{theirs['train']:,}", f"{theirs['test']:,}"]


def lead(results: Results) -> str:
    """Say how many twins there are and what ± means."""
    counts = sorted({len(found.twins) for *_, found in _measured(results)})
    twins = "–".join(map(str, dict.fromkeys(counts[:1] + counts[-1:]))) or "no"
    return (
        f"Bases: {len(results.runs)} (seed 0). Twins of each: {twins}; --seeds counts twins. ± is the standard deviation over twins, of the "
        "population, as in the paper. TVD is in the paper's units: half of the difference of one sigmoid, at most 0.5, which "
        "is half of heedful's own (over both classes, at most 1). JSD is in nats, at most 0.693. AtteFa is the same in both. "
        "The corrected score is ours: TVD over that of the best prediction that reads nothing, before it is divided by JSD."
    )


ATTEFA = register(
    Recipe(
        name="attefa",
        title="Amini & Kosseim 2022, How (Un)Faithful is Attention?",
        description="How (Un)Faithful is Attention?: Tables 1 to 5, Figures 1, 2, and seven claims",
        options={"preset": "attefa", "vectors": VECTORS["real"]},
        datasets={name: Dataset(None, {"vectors": VECTORS["mock"], "open_vocabulary": True}) for name in MOCK}
        | {
            "sst2": Dataset(None),
            "imdb": Dataset(1000, {"limit": 4000, "max_length": 250}),
            "ag_news_binary": Dataset(None),
            "20news_sports": Dataset(None),
        },
        models=(
            Model("LSTM", "bilstm", {"encoder": "bilstm"}),
            Model("MLP", "average", {"encoder": "average"}),
        ),
        experiments=(
            Experiment(
                "table",
                1,
                "Which corpora?",
                "",
                table_1,
                ("The paper has one row for all Mock corpora. Diabetes and Anemia cannot be had here.",),
                corpora=True,
            ),
            Experiment("table", 2, "How well do the bases classify?", "sharpness", table_2),
            Experiment(
                "table", 3, "Can twins give the same predictions with other attention?", "imitation", table_3
            ),
            Experiment(
                "table",
                4,
                "Twin by twin, on the Mock corpora",
                "imitation",
                table_4,
                (
                    "The paper's own rows stand beside ours where they are legible in its text and give the means of its Table 3.",
                ),
                datasets=MOCK,
            ),
            Experiment(
                "table",
                5,
                "Twin by twin, on real text",
                "imitation",
                table_5,
                (
                    "The paper's own rows stand beside ours where they are legible in its text and give the means of its Table 3.",
                ),
                datasets=REAL,
            ),
            Experiment(
                "figure",
                1,
                "How faithful is attention, by corpus?",
                "imitation",
                figure_1,
                (
                    "The paper draws its real corpora alone, and prints the numbers in Table 3: they stand here.",
                ),
                pictures=figure_1_drawn,
            ),
            Experiment(
                "figure",
                2,
                "How far do twins get from the base's attention, and how close to its predictions?",
                "imitation",
                figure_2,
                (
                    f"Imitated elsewhere: texts where twins move the prediction by less than {_SAME} (TVD {_SAME / 2}) with a JSD of more than "
                    f"{_OTHER} of its bound, on average over twins. The paper draws this and prints the means in Table 3.",
                ),
                pictures=figure_2_drawn,
            ),
        ),
        claims=CLAIMS,
        differences={
            f"Vectors: GloVe of 50 dimensions and 400,000 words ({VECTORS['mock']}) in place of fastText of 300: they hold 5,454 of "
            "the 7,209 opinion words, the other vectors at hand 3,346. Words of dev and test that these vectors hold are known although "
            "train does not have them (--open-vocabulary), as with fastText: of the words planted in Mock-1's test texts 31 % are not in train.": MOCK,
            f"Vectors: a subset of 33,860 words of GloVe 840B ({VECTORS['real']}) in place of fastText; other words are drawn from "
            "its distribution.": REAL,
            "imdb: trained on a sample of 4,000 reviews, cut at 250 words.": ("imdb",),
            "ag_news_binary: the files at hand are part of the original training set.": ("ag_news_binary",),
            "The epochs of bases and twins are selected on dev, never on test as in the paper, which says that it takes the base's lowest ROC AUC "
            "and must mean the highest.": (),
            "Diabetes and Anemia are hospital records under a licence that forbids passing them on, and are left out.": (),
        },
        described=described,
        twins=True,
        lead=lead,
        rule=RULE,
    )
)
