"""Table 9 and Figures 3 to 5 of FLAT: single words, and two examples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from heedful.output.charts import ACCENT, chart_of, finish
from heedful.output.numbers import NOTHING, fixed, power, quartiles
from heedful.output.tables import Table
from heedful.papers.flat.examples import explained
from heedful.papers.flat.methods import ABLATED, ABLATIONS, METHODS, WHOLE, WORDY, model_name, named
from heedful.papers.flat.paper_tables import SHARPNESS
from heedful.papers.flat.word_importance import WordCounts, correlations, synonym_gaps, word_counts
from heedful.papers.paper_page import Picture
from heedful.papers.recipe import published
from heedful.papers.results import MeasuredRun, Results

MASKED = named("FLAT", encoders=WORDY)
_POINTS = 2000
_AXES = (("frequency", "substitutions"), ("frequency", "importance"), ("substitutions", "importance"))
_SPOKEN = {
    "frequency": "word frequency",
    "substitutions": "substitution frequency",
    "importance": "global importance",
}
_PRINTED = ("sst2", model_name("LSTM", "FLAT", "textfooler"))


def table_9(results: Results) -> list[Table]:
    """Pearson's r of importance, frequency and substitutions."""
    rows = []
    for run, counts in _counted(results):
        for pair, (r, p_value, words) in correlations(counts).items():
            theirs = published("flat")["table_9"][pair] if (run.dataset, run.model) == _PRINTED else None
            paper = NOTHING if theirs is None else fixed(theirs[0])
            p = NOTHING if np.isnan(p_value) else power(p_value)
            rows.append([run.dataset, run.model, str(run.seed), pair, fixed(r), paper, p, f"{words:,}"])
    headings = ["dataset", "model", "seed", "pair", "r", "paper", "p", "words"]
    return [Table(headings, rows)] if rows else []


def figure_3(results: Results) -> list[Table]:
    """Integrated gradients of the paper's two examples, word by word."""
    rows = []
    for number, example in enumerate(published("flat")["figure_3"]):
        for name in (model_name(e, m, a) for a in ("textfooler", "pwws") for e in WORDY for m in METHODS):
            for run in results.of(_PRINTED[0], name, SHARPNESS)[:1]:
                theirs = example["predictions"].get(name.split(" ")[0], [NOTHING, NOTHING])
                if not name.endswith("(TextFooler)"):
                    theirs = [NOTHING, NOTHING]
                found = explained(run).filter(pl.col("example") == number)
                for (label, words), paper in zip(
                    found.select("label", "words").iter_rows(), theirs, strict=False
                ):
                    rows.append([name, label, paper, words])
    headings = ["model", "prediction", "paper", "words with their integrated gradients"]
    return [Table(headings, rows)] if rows else []


def figure_4(results: Results) -> list[Table]:
    """What the drawings show, in numbers: importance by how often words are seen and replaced."""
    rows = []
    for run, counts in _counted(results):
        for column in ("frequency", "substitutions"):
            values = getattr(counts, column)
            for low, high in ((0, 0), (1, 1), (2, 4), (5, 19), (20, 10**9)):
                inside = (values >= low) & (values <= high)
                if not inside.any() or (column == "frequency" and high == 0):
                    continue
                span = str(low) if low == high else f"{low} or more" if high == 10**9 else f"{low} to {high}"
                box = quartiles(counts.importance[inside])
                rows.append([run.dataset, run.model, _SPOKEN[column], span, box, f"{int(inside.sum()):,}"])
    headings = ["dataset", "model", "", "times", "global importance", "words"]
    return [Table(headings, rows, "Median over words [quartiles], seed 0")] if rows else []


def pictures(results: Results) -> list[Picture]:
    """The three scatter plots."""
    drawn = []
    for run, counts in _counted(results):
        for x, y in _AXES:
            name = f"words-{run.dataset}-{run.model}-{x}-{y}".lower().replace(" ", "-")
            name = name.replace("(", "").replace(")", "")
            words = f"{_SPOKEN[y]} against {_SPOKEN[x]}, {run.dataset}, {run.model}"
            drawn.append(Picture(name, words, _scatter(counts, x, y, words)))
    return drawn


def figure_5(results: Results) -> list[Table]:
    """How differently a word and its synonyms count."""
    rows = []
    for weights, name in zip((WHOLE, *ABLATIONS), ABLATED, strict=True):
        for dataset in results.datasets:
            for run in results.of(dataset, name, SHARPNESS):
                gaps, counts = synonym_gaps(run), word_counts(run)
                if gaps is None or counts is None:
                    continue
                numbers = [fixed(float(gaps.mean()), 4), fixed(float(gaps.var()), 5)]
                mask = quartiles(counts.importance)
                box = quartiles(gaps, lambda x: fixed(x, 4))
                rows.append([dataset, weights, str(run.seed), box, *numbers, f"{len(gaps):,}", mask])
    headings = ["dataset", "weights", "seed", "gap", "mean", "variance", "words", "masks"]
    title = "|φ of a word − φ of a synonym|, averaged over synonyms: median over words [quartiles]"
    return [Table(headings, rows, title)] if rows else []


def _counted(results: Results) -> Iterator[tuple[MeasuredRun, WordCounts]]:
    """Seed 0 of every model with masks whose words can be read."""
    for dataset in results.datasets:
        for name in MASKED:
            for run in results.of(dataset, name, SHARPNESS):
                if run.seed == 0 and (counts := word_counts(run)) is not None:
                    yield run, counts


def _scatter(counts: WordCounts, x: str, y: str, title: str) -> dict[str, Any]:
    import altair as alt

    # Rare words are many: they are drawn at random, and so are the rest.
    shown = np.random.default_rng(0).permutation(np.flatnonzero(counts.frequency))[:_POINTS]
    across, up = getattr(counts, x)[shown].tolist(), getattr(counts, y)[shown].tolist()
    data = [{"x": float(a), "y": float(b)} for a, b in zip(across, up, strict=True)]

    def scale(axis: str) -> Any:
        return alt.Scale(zero=True) if axis == "importance" else alt.Scale(type="symlog")

    chart = (
        chart_of(data)
        .mark_circle(size=14, opacity=0.4, color=ACCENT)
        .encode(
            x=alt.X("x:Q", title=_SPOKEN[x], scale=scale(x)), y=alt.Y("y:Q", title=_SPOKEN[y], scale=scale(y))
        )
        .properties(width=360, height=260)
    )
    return finish(chart, title=title)
