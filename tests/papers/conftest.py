"""Runs made by hand, so that what a recipe must say of them is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest

from heedful.papers.results import MeasuredRun

Make = Callable[..., MeasuredRun]


@pytest.fixture
def measured() -> Make:
    """Give a function that makes a measured run from the columns of one audit."""

    def make(
        model: str = "bilstm",
        audit: str = "agreement",
        *,
        dataset: str = "sst2",
        seed: int = 0,
        labels: Sequence[str] = ("negative", "positive"),
        **columns: Sequence[object],
    ) -> MeasuredRun:
        size = len(next(iter(columns.values())))
        usual: Mapping[str, Sequence[object]] = {
            "row": range(size),
            "predicted": [labels[i % len(labels)] for i in range(size)],
            "items": [5] * size,
        }
        metrics = {
            "test": {"f1": 0.8, "accuracy": 0.7},
            "sizes": {"train": 100, "dev": 10, "test": 200},
            "notes": ["train is a sample."],
        }
        frame = pl.DataFrame({**usual, **columns})
        return MeasuredRun(
            dataset, model, seed, Path("runs/x"), metrics, tuple(labels), size, ("A note.",), {audit: frame}
        )

    return make
