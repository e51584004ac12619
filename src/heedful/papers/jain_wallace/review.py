"""Figure 1 of Jain & Wallace: the paper's own review, with attention and with the farthest heatmap that predicts the same."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from heedful.audits.running.result import PREDICTIONS
from heedful.audits.running.run import audit
from heedful.data.corpora.given import as_data
from heedful.errors import BadInput
from heedful.models.classifier import Classifier
from heedful.output.numbers import NOTHING, fixed, significant
from heedful.output.shaded_words import ShadedText, shaded_words
from heedful.output.tables import Table
from heedful.papers.paper_page import Picture
from heedful.papers.recipe import published
from heedful.papers.results import MeasuredRun, Results

REVIEW = "review"
"""What is kept of it: every word with its weights, and the numbers of the text beside each."""
ON, MODEL = ("sst2", "imdb"), "bilstm"
_ASKED = ("agreement", "permutation", "counterfactual")
_NUMBERS = {
    "probability": "predicted",
    "counterfactual_probability": "predicted with the other weights",
    "eps_max_jsd": "JSD of both",
    "tau_g": "τ_g",
    "tau_loo": "τ_loo",
    "permutation_change": "median change when shuffled",
}
_TOP = 3


def besides(run: MeasuredRun) -> dict[str, pl.DataFrame]:
    """Give what figures read of a run besides its audits."""
    found = explained(run) if _about(run) else None
    return {} if found is None else {REVIEW: found}


def explained(run: MeasuredRun) -> pl.DataFrame | None:
    """Every word of the review with both weights; None where the model is not there."""
    kept = run.frames.get(REVIEW)
    return _explained(run.folder) if kept is None else kept


def figure_1(results: Results) -> list[Table]:
    """What the model says, and the words that both heatmaps point at."""
    printed = published("jain_wallace")["figure_1"]["numbers"]
    rows = []
    for run, frame in _found(results):
        first = frame.row(0, named=True)
        rows.append(
            [
                run.dataset,
                first["label"],
                *(significant(first[name]) for name in _NUMBERS),
                _top(frame, "weight"),
                _top(frame, "other"),
            ]
        )
    if not rows:
        return []
    theirs = [fixed(printed[name], 3) if name in printed else NOTHING for name in _NUMBERS]
    rows.append(["the paper", printed["label"], *theirs, printed["top"], printed["other"]])
    return [
        Table(["model of", "label", *_NUMBERS.values(), "most attention", "most of the other weights"], rows)
    ]


def figure_1_drawn(results: Results) -> list[Picture]:
    """Both heatmaps, one below the other."""
    drawn = []
    for run, frame in _found(results):
        first = frame.row(0, named=True)
        texts = [
            ShadedText(
                name,
                list(zip(frame["word"], frame[column], strict=True)),
                f"→ {first['label']}, {significant(first[said])}",
            )
            for name, column, said in (
                ("attention", "weight", "probability"),
                ("other weights", "other", "counterfactual_probability"),
            )
        ]
        title = f"Two heatmaps, one prediction (BiLSTM, {run.dataset})"
        caption = [
            f"The review of the paper's figure. JSD of the two heatmaps: {significant(first['eps_max_jsd'])} of 0.693."
        ]
        spec = shaded_words(texts, title=title, caption=caption)
        drawn.append(
            Picture(
                f"figure-1-{run.dataset}",
                f"Two heatmaps of a review with the same prediction, {run.dataset}",
                spec,
            )
        )
    return drawn


def _about(run: MeasuredRun) -> bool:
    return run.dataset in ON and run.model == MODEL and run.seed == 0


def _found(results: Results) -> list[tuple[MeasuredRun, pl.DataFrame]]:
    own = [(run, explained(run)) for run in results.runs if _about(run)]
    return [(run, frame) for run, frame in own if frame is not None]


def _top(frame: pl.DataFrame, column: str) -> str:
    most = frame.sort(column, descending=True, maintain_order=True).head(_TOP)
    return ", ".join(f"{word} {fixed(weight, 2)}" for word, weight in most.select("word", column).iter_rows())


@lru_cache(maxsize=8)
def _explained(folder: Path) -> pl.DataFrame | None:
    try:
        classifier = Classifier.from_pretrained(folder)
    except BadInput:
        return None
    text: str = published("jain_wallace")["figure_1"]["text"]
    frames = audit(classifier, as_data([text]), only=_ASKED).frames
    said, other = frames[PREDICTIONS].row(0, named=True), frames["counterfactual"].row(0, named=True)
    numbers: dict[str, Any] = {
        "label": said["predicted"],
        "probability": said["probability"],
        **{name: other[name] for name in ("counterfactual_probability", "eps_max_jsd")},
        **{name: frames["agreement"][name][0] for name in ("tau_g", "tau_loo")},
        "permutation_change": frames["permutation"]["permutation_change"][0],
    }
    words = [said["text"][start:end] for start, end in zip(said["starts"], said["ends"], strict=True)]
    columns = {"word": words, "weight": other["weights"], "other": other["counterfactual_weights"]}
    return pl.DataFrame(columns).with_columns(pl.lit(value).alias(name) for name, value in numbers.items())
