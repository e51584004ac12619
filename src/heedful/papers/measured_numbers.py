"""Numbers that were measured, one row each: what pages are made from, and small enough to keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

TRAINING = "training"
"""What stands in place of an audit where a number comes from the training."""


class MeasuredNumber(NamedTuple):
    """One number of a model: of one seed, or over all its seeds with an interval."""

    dataset: str
    model: str
    audit: str
    measure: str
    estimate: float
    low: float = np.nan
    """Ends of the interval; NaN where there is none."""
    high: float = np.nan
    seed: int | None = None
    """None where it is over all seeds."""
    group: str = ""
    """Which texts, or which epoch, where it is not about all."""
    seeds: int | None = None
    """How many it is over."""
    texts: int | None = None
    """How many it is over."""
    each: Sequence[float] | None = None
    """What every seed gives alone, for the number of a claim."""
    draws: Sequence[float] | None = None
    """Of texts drawn anew, for the number of a claim."""


SCHEMA = pl.Schema(
    {
        "dataset": pl.String(),
        "model": pl.String(),
        "audit": pl.String(),
        "measure": pl.String(),
        "estimate": pl.Float64(),
        "low": pl.Float64(),
        "high": pl.Float64(),
        "seed": pl.Int64(),
        "group": pl.String(),
        "seeds": pl.Int64(),
        "texts": pl.Int64(),
        "each": pl.List(pl.Float64()),
        "draws": pl.List(pl.Float32()),
    }
)
_Key = tuple[str, str, str, str, int | None, str]


@dataclass(frozen=True)
class Numbers:
    """All that was measured of some models, found by what it is about."""

    rows: tuple[MeasuredNumber, ...] = ()

    @cached_property
    def _found(self) -> dict[_Key, MeasuredNumber]:
        return {(n.dataset, n.model, n.audit, n.measure, n.seed, n.group): n for n in self.rows}

    def get(
        self, dataset: str, model: str, audit: str, measure: str, *, seed: int | None = None, group: str = ""
    ) -> MeasuredNumber | None:
        """Give one number, or None where it was not measured."""
        return self._found.get((dataset, model, audit, measure, seed, group))

    def of(
        self, dataset: str | None = None, model: str | None = None, audit: str | None = None
    ) -> Iterator[MeasuredNumber]:
        """Go through the numbers of a dataset, a model, an audit, in the order in which they were measured."""
        for n in self.rows:
            if dataset in (None, n.dataset) and model in (None, n.model) and audit in (None, n.audit):
                yield n

    @cached_property
    def datasets(self) -> list[str]:
        """Those that were measured."""
        return list(dict.fromkeys(n.dataset for n in self.rows))

    def to_frame(self) -> pl.DataFrame:
        """One row for each number."""
        return pl.DataFrame([n._asdict() for n in self.rows], schema=SCHEMA, orient="row").with_columns(
            pl.col(pl.Float64).fill_nan(None)
        )

    @classmethod
    def from_frame(cls, frame: pl.DataFrame) -> Numbers:
        """Read what `to_frame` gives."""
        known = frame.select(list(SCHEMA)).with_columns(pl.col(pl.Float64).fill_null(np.nan))
        return cls(tuple(MeasuredNumber(**row) for row in known.iter_rows(named=True)))
