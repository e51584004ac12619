"""Table 1 of Jain & Wallace: the corpora, and how well models with each encoder do on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from heedful.output.numbers import NOTHING, fixed
from heedful.output.tables import Table
from heedful.papers.corpus_counts import VOCABULARY, WORDS, by_class_cell, count_cell
from heedful.papers.recipe import published
from heedful.papers.results import MeasuredRun, Results

ENCODERS = ("bilstm", "average", "cnn")
_ACCURACY = ("babi_1", "snli")
"""Where the paper gives accuracy (or micro-F1, which is the same for one label each)."""


def measure_of(dataset: str) -> str:
    """What the paper measures performance by."""
    return "accuracy" if dataset in _ACCURACY else "f1"


def table_1(results: Results) -> list[Table]:
    """Sizes beside the paper's, and test performance of every encoder."""
    counts = results.corpora
    rows = []
    for dataset in counts.datasets:
        printed: dict[str, Any] = published("jain_wallace")["table_1"].get(dataset, {})
        ours = [
            count_cell(counts, dataset, VOCABULARY),
            count_cell(counts, dataset, WORDS, "test"),
            by_class_cell(counts, dataset, "train"),
            by_class_cell(counts, dataset, "test"),
        ]
        paper = [str(printed.get(name, NOTHING)) for name in ("vocabulary", "length", "train", "test")]
        rows.append([dataset, *(cell for pair in zip(ours, paper, strict=True) for cell in pair)])
    names = ("words of train", "mean length", "train", "test")
    headings = ["dataset", *(heading for name in names for heading in (name, "paper"))]
    tables = [Table(headings, rows, "Texts by class; length is that of test texts, in words")]
    return [*tables, _performance(results)] if results.runs else tables


def _performance(results: Results) -> Table:
    rows = []
    for dataset in results.datasets:
        measure = measure_of(dataset)
        cells = [performance(results.of(dataset, name), measure) for name in ENCODERS]
        printed = published("jain_wallace")["corpora"].get(dataset)
        rows.append([dataset, measure, *cells, fixed(printed["performance"], 2) if printed else NOTHING])
    headings = ["dataset", "measure", *ENCODERS, "bilstm in the paper"]
    return Table(headings, rows, "Test performance: mean over seeds, and each seed")


def performance(runs: list[MeasuredRun], measure: str) -> str:
    """A mean over seeds, with every seed in brackets where there are several."""
    values = [run.metrics["test"][measure] for run in runs]
    if len(values) < 2:
        return fixed(values[0]) if values else NOTHING
    return f"{fixed(float(np.mean(values)))} ({', '.join(map(fixed, values))})"
