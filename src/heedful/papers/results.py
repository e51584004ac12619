"""What was measured: the runs of a recipe with the rows of their audits, and what is missing."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from heedful.papers.measured_numbers import Numbers

if TYPE_CHECKING:
    from heedful.audits.audit import Summary


@dataclass(frozen=True)
class MeasuredRun:
    """One trained and audited model."""

    dataset: str
    model: str
    seed: int
    folder: Path
    metrics: Mapping[str, Any]
    labels: tuple[str, ...]
    texts: int
    """How many texts were audited."""
    notes: tuple[str, ...]
    frames: Mapping[str, pl.DataFrame]
    summaries: Mapping[str, Summary] = field(default_factory=dict)
    audited: Path | None = None
    """Where its audit is kept, with the weights of every text."""


class Missing(NamedTuple):
    """A run that was asked for and is not in the results, and why."""

    what: str
    why: str


@dataclass(frozen=True)
class Results:
    """All runs of a recipe that there are, in the order of its datasets and models."""

    runs: tuple[MeasuredRun, ...] = ()
    missing: tuple[Missing, ...] = ()
    numbers: Numbers = field(default_factory=Numbers)
    """What recipes whose parts can be put together measured of their runs; these need not be available."""
    corpora: Numbers = field(default_factory=Numbers)
    """How large the corpora are, where an experiment counts them."""

    @property
    def datasets(self) -> list[str]:
        """Those that were measured."""
        return list(dict.fromkeys(run.dataset for run in self.runs))

    def of(self, dataset: str, model: str, audit: str | None = None) -> list[MeasuredRun]:
        """All seeds of a model, or those that an audit was asked of."""
        return [
            run
            for run in self.runs
            if (run.dataset, run.model) == (dataset, model) and (audit is None or audit in run.frames)
        ]

    def on(self, datasets: Container[str]) -> Results:
        """Those on some datasets."""
        return Results(
            tuple(run for run in self.runs if run.dataset in datasets),
            self.missing,
            Numbers(tuple(number for number in self.numbers.rows if number.dataset in datasets)),
            Numbers(tuple(number for number in self.corpora.rows if number.dataset in datasets)),
        )

    def pairs(self, audit: str | None = None) -> Iterator[tuple[str, str, list[MeasuredRun]]]:
        """Every dataset and model with its seeds; with an audit, those that were asked it."""
        for dataset, model in dict.fromkeys((run.dataset, run.model) for run in self.runs):
            if found := self.of(dataset, model, audit):
                yield dataset, model, found

    def seeds(self, audit: str, *, dataset: str, model: str) -> set[int]:
        """Seeds of a model that an audit was asked of."""
        return {run.seed for run in self.of(dataset, model, audit)}

    def by_text(
        self,
        audit: str,
        value: pl.Expr,
        *,
        dataset: str,
        model: str,
        where: pl.Expr | None = None,
        seeds: Container[int] | None = None,
    ) -> pl.DataFrame:
        """One value per text (`row`, `value`), averaged over the seeds, or over some of them; texts without one are left out.

        Averaging first keeps texts that several seeds read from counting as several texts.
        """
        parts = [pl.DataFrame(schema={"row": pl.Int64, "value": pl.Float64})]
        for run in self.of(dataset, model, audit):
            if seeds is not None and run.seed not in seeds:
                continue
            frame = run.frames[audit]
            kept = frame if where is None else frame.filter(where)
            parts.append(kept.select(pl.col("row").cast(pl.Int64), value.cast(pl.Float64).alias("value")))
        whole = pl.concat(parts).filter(pl.col("value").is_finite())
        return whole.group_by("row").agg(pl.col("value").mean()).sort("row")


def column(runs: Iterable[MeasuredRun], audit: str, name: str, where: pl.Expr | None = None) -> np.ndarray:
    """Values of all seeds, one after the other."""
    parts = [
        (run.frames[audit] if where is None else run.frames[audit].filter(where))[name].to_numpy()
        for run in runs
    ]
    return np.concatenate([np.asarray(part, dtype=np.float64) for part in parts] or [np.array([])])


def rows_of(runs: Iterable[MeasuredRun], audit: str) -> pl.DataFrame:
    """Rows of all seeds below each other."""
    return pl.concat([run.frames[audit] for run in runs], how="diagonal_relaxed")


def by_class(runs: list[MeasuredRun]) -> Iterator[tuple[str, pl.Expr | None]]:
    """Give 'all' and every class, with the filter on what was predicted; many classes are taken together."""
    yield "all", None
    labels = runs[0].labels
    if len(labels) <= 3:
        for label in labels:
            yield label, pl.col("predicted") == label
