"""Models side by side: what a comparison gives back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from heedful.comparison.compared_numbers import ComparedNumber
from heedful.output.tables import Mark

if TYPE_CHECKING:
    from heedful.output.terminal import Screen

ComparisonFormat = Literal["text", "md", "csv", "latex", "json"]


@dataclass(frozen=True)
class Value:
    """A number of a model or method, how it differs from the reference, and what came of it."""

    estimate: float | None
    low: float | None
    high: float | None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    mark: Mark = ""
    warning: bool = False
    """Whether it is a number of steadiness of attention that lost its sharpness, and so says nothing good."""


@dataclass(frozen=True)
class Entry:
    """A row: one run, or all seeds of a method."""

    name: str
    method: str
    runs: tuple[Path, ...]
    seeds: tuple[int | None, ...]
    values: dict[tuple[str, str], Value]
    keeps_sharpness: bool | None
    """Within a tenth of the reference's, or above it; None where it is not known."""
    keeps_f1: bool | None
    """Within half a point of the reference's, or above it; None without labels."""

    @property
    def comparable(self) -> bool:
        """Whether it keeps all of these that are known."""
        return self.keeps_sharpness is not False and self.keeps_f1 is not False


@dataclass(frozen=True, repr=False)
class Comparison:
    """`show()`, `to_frame()`, `write(format)`, `save(file)`, `figure(file)`."""

    entries: tuple[Entry, ...]
    """What the tables show, in the order of the runs."""
    points: tuple[Entry, ...] = field(repr=False)
    """Every run by itself, for the figure."""
    columns: tuple[ComparedNumber, ...] = field(repr=False)
    reference: str
    data: str
    texts: int
    options: dict[str, Any] = field(repr=False)
    notes: tuple[str, ...] = field(repr=False)

    def __repr__(self) -> str:
        names = ", ".join(entry.name for entry in self.entries)
        return f"Comparison: {names}, on {self.texts:,} texts of {self.data}; show() tells all of it"

    def _repr_html_(self) -> str:
        """What a notebook shows: the table of models, and each audit's numbers to unfold."""
        from heedful.comparison.comparison_html import comparison_html

        return comparison_html(self)

    def entry(self, name: str) -> Entry:
        """Find a row by its name."""
        return next(entry for entry in self.entries if entry.name == name)

    def show(self, screen: Screen | None = None) -> None:
        """Print the tables."""
        from heedful.comparison.screen import show
        from heedful.output.terminal import Screen

        show(self, screen or Screen())

    def to_frame(self) -> pl.DataFrame:
        """One line for each row and number."""
        schema = {
            "run": pl.String,
            "method": pl.String,
            "seed": pl.String,
            "audit": pl.String,
            "number": pl.String,
            **dict.fromkeys(
                ("estimate", "low", "high", "difference", "difference_low", "difference_high"), pl.Float64
            ),
            "best": pl.String,
            "warning": pl.Boolean,
            "comparable": pl.Boolean,
        }
        lines = [_line(entry, column) for entry in self.entries for column in self.columns]
        return pl.DataFrame(lines, schema=schema, orient="row")

    def write(self, form: ComparisonFormat) -> str:
        """Give the comparison as text of a format."""
        from heedful.comparison.formats import write

        return write(self, form)

    def save(self, path: str | Path, form: ComparisonFormat | None = None) -> Path:
        """Write a file whole or not at all; its name ends in the format if none is given."""
        from heedful.comparison.formats import format_of
        from heedful.storage import write_text

        write_text(Path(path), self.write(form or format_of(Path(path))))
        return Path(path)

    def figure(self, path: str | Path) -> Path:
        """Draw the frontier, steadiness against sharpness, as SVG or PNG."""
        from heedful.comparison.stability_frontier import save

        return save(self, Path(path))


def seeds_of(entry: Entry) -> str:
    """The seeds of a row, as a person lists them."""
    return " ".join(str(seed) for seed in entry.seeds if seed is not None)


def _line(entry: Entry, column: ComparedNumber) -> Sequence[Any]:
    value = entry.values[column.key]
    return (
        " ".join(run.name for run in entry.runs),
        entry.method,
        seeds_of(entry),
        column.audit,
        column.number,
        value.estimate,
        value.low,
        value.high,
        value.difference,
        value.difference_low,
        value.difference_high,
        value.mark,
        value.warning,
        entry.comparable,
    )
