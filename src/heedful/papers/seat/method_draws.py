"""Numbers of a method, seed by seed, with draws: the same texts are drawn anew for all methods, so that they compare text by text."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from functools import lru_cache, reduce
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import torch
from jaxtyping import Bool, Float

from heedful.audits.running.result import INSTANCES, PREDICTIONS
from heedful.audits.subject.ties import settled
from heedful.measures.overlap import top_k_overlap
from heedful.measures.resampling import Spread, over_seeds
from heedful.output.numbers import NOTHING, significant
from heedful.output.numbers import with_interval as interval
from heedful.papers.measured_numbers import MeasuredNumber
from heedful.papers.results import MeasuredRun, Results

DRAWS = 1000
TOP = 7
TextValues = Float[np.ndarray, " texts"]


class DrawnNumber(NamedTuple):
    """A number of every seed: of the texts as they are, and then of texts drawn anew; and of how many texts it is."""

    values: Float[np.ndarray, "seeds draws"]
    texts: int

    @property
    def estimate(self) -> float:
        """The mean over seeds."""
        return float(self.values[:, 0].mean())

    def spread(self) -> Spread:
        """The mean over seeds with its interval, which does not go below zero where no draw does."""
        estimate, low, high = over_seeds(self.values)
        return Spread(estimate, max(low, 0.0) if np.nanmin(self.values) >= 0 else low, high)


class Methods:
    """Some models of one dataset with the seeds and texts that all of them have."""

    def __init__(self, results: Results, dataset: str, models: Iterable[str], audit: str) -> None:
        runs = {name: {run.seed: run for run in results.of(dataset, name, audit)} for name in models}
        self.seeds = sorted(set.intersection(*(set(found) for found in runs.values())))
        self.runs = {name: [found[seed] for seed in self.seeds] for name, found in runs.items()}
        self.audit = audit
        read = [run.frames[audit]["row"].to_numpy() for found in self.runs.values() for run in found]
        self.rows = reduce(np.intersect1d, read) if read else np.array([], dtype=np.int64)
        self.times = drawn_texts(dataset, len(self.rows))

    def mean(self, *names: str, column: str) -> list[DrawnNumber]:
        """Means over texts of one column for each model and seed, of the texts for which all models of a seed have a value."""
        frames = [[run.frames[self.audit] for run in self.runs[name]] for name in names]
        values = np.array([[_aligned(frame, column, self.rows) for frame in found] for found in frames])
        able = np.isfinite(values).all(0)
        return [self._means(found, able) for found in values]

    def f1(self, *names: str) -> list[DrawnNumber]:
        """F1 of the positive class on clean texts, for each model and seed."""
        return [
            DrawnNumber(np.stack([self._f1(run) for run in self.runs[name]]), len(self.rows))
            for name in names
        ]

    def overlap(self, name: str, vanilla: str) -> DrawnNumber | None:
        """Share of the top items that are those of the vanilla model of the same seed; None where nothing is kept."""
        parts = []
        for run, base in zip(self.runs[name], self.runs[vanilla], strict=True):
            if run.audited is None or base.audited is None:
                return None
            parts.append(_aligned(same_top(run.audited, base.audited), "overlap", self.rows))
        values = np.stack(parts)
        return self._means(values, np.isfinite(values))

    def _means(
        self, values: Float[np.ndarray, "seeds texts"], able: Bool[np.ndarray, "seeds texts"]
    ) -> DrawnNumber:
        """Average over the texts that are able, of a seed."""
        sums = self.times @ np.where(able, values, 0.0).T
        counted = self.times @ able.T.astype(np.float64)
        means = np.divide(sums, counted, out=np.full(sums.shape, np.nan), where=counted > 0)
        return DrawnNumber(means.T, int(able.sum(1).min()))

    def _f1(self, run: MeasuredRun) -> Float[np.ndarray, " draws"]:
        frame = _of(run.frames[self.audit], self.rows)
        true = frame["label"].to_numpy() == 1
        predicted = (frame["predicted"] == run.labels[1]).to_numpy()
        # F1 = 2 · hits / (predicted + true): sums over texts, so that drawn texts only weigh them.
        hits, both = 2.0 * (true & predicted), true.astype(np.float64) + predicted
        drawn: Float[np.ndarray, " draws"] = self.times @ hits / np.maximum(self.times @ both, 1)
        return drawn


@lru_cache(maxsize=8)
def drawn_texts(dataset: str, texts: int) -> Float[np.ndarray, "draws texts"]:
    """How often each text is drawn: once, and then anew; the same for all that is measured on a dataset."""
    random = np.random.default_rng(zlib.crc32(dataset.encode()))
    if texts == 0:
        return np.zeros((DRAWS + 1, 0))
    drawn = (np.bincount(random.integers(texts, size=texts), minlength=texts) for _ in range(DRAWS))
    return np.stack([np.ones(texts), *drawn]).astype(np.float64)


@lru_cache(maxsize=4096)
def same_top(first: Path, second: Path) -> pl.DataFrame:
    """Overlap of the top items of two kept audits of the same texts, row by row."""
    one, other = (
        pl.read_parquet(folder / INSTANCES / f"{PREDICTIONS}.parquet", columns=["row", "weights"])
        for folder in (first, second)
    )
    both = one.join(other, on="row", suffix="_other").sort("row")
    ours, theirs = (_padded(both[name]) for name in ("weights", "weights_other"))
    mask = ~ours.isnan()
    first_top, second_top = (settled(weights.nan_to_num().double(), mask) for weights in (ours, theirs))
    overlap = top_k_overlap(first_top, second_top, k=TOP, mask=mask)
    return pl.DataFrame({"row": both["row"], "overlap": overlap.numpy()})


def _padded(weights: pl.Series) -> torch.Tensor:
    rows = [torch.tensor(row) for row in weights.to_list()]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=torch.nan)


def _of(frame: pl.DataFrame, rows: np.ndarray) -> pl.DataFrame:
    if np.array_equal(frame["row"].to_numpy(), rows):
        return frame
    return frame.filter(pl.col("row").is_in(rows.tolist())).sort("row")


def _aligned(frame: pl.DataFrame, column: str, rows: np.ndarray) -> TextValues:
    return _of(frame.select("row", pl.col(column).cast(pl.Float64)), rows)[column].to_numpy()


def as_printed(number: float | None) -> str:
    """A number of the paper.

    >>> as_printed(20.145), as_printed(3.81e-08), as_printed(None)
    ('20.145', '3.81e-08', '–')
    """
    return NOTHING if number is None else f"{number:g}"


def with_interval(found: MeasuredNumber | None) -> str:
    """A number with its 95 % interval; of two seeds it has none."""
    if found is None or np.isnan(found.estimate):
        return NOTHING
    if np.isnan(found.low):
        return significant(found.estimate)
    return interval(found.estimate, found.low, found.high, significant)
