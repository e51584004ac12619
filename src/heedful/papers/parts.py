"""What was measured of one dataset and encoder, small enough to keep: its share of a page, and draws that decide claims.

A paper takes hours. What several machines measured of it is put together on one page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from heedful.errors import BadInput
from heedful.papers.claims import Sample
from heedful.papers.page import Picture, Table
from heedful.papers.results import Missing
from heedful.storage import write_text

_DIGITS = 5
_VERSION = 1


class KeptSample(BaseModel):
    """A number of a claim with its draws, rounded."""

    model_config = ConfigDict(extra="forbid")
    dataset: str
    model: str
    estimate: float
    draws: list[float | None]
    size: int
    seeds: list[list[float]] = []
    """None where it was measured before seeds entered intervals: such a number is of the seeds it has."""

    @classmethod
    def of(cls, sample: Sample) -> KeptSample:
        """Round what decides a claim; what is not a number is nothing."""
        draws = [float(f"{x:.{_DIGITS}g}") if math.isfinite(x) else None for x in sample.draws.tolist()]
        seeds = [[float(value) for value in group] for group in sample.seeds]
        return cls(**{**sample._asdict(), "draws": draws, "seeds": seeds})

    def sample(self) -> Sample:
        """Give it as it was."""
        draws = np.array([np.nan if x is None else x for x in self.draws])
        return Sample(self.dataset, self.model, self.estimate, draws, self.size, tuple(self.seeds))


def _even(table: Table) -> Table:
    if any(len(row) != len(table.headings) for row in table.rows):
        raise ValueError("a row is longer or shorter than the headings")
    return table


class Part(BaseModel):
    """All that a page says of one dataset and encoder."""

    model_config = ConfigDict(extra="forbid")
    version: int = Field(_VERSION, ge=_VERSION, le=_VERSION)
    recipe: str
    dataset: str
    encoder: str
    runs: int
    seeds: list[int]
    amount: int
    """Texts and audits of all runs: the part with more of them is the better one."""
    tables: dict[str, list[Annotated[Table, AfterValidator(_even)]]]
    pictures: dict[str, list[Picture]]
    samples: dict[str, list[KeptSample]]
    models: Table
    notes: list[str]
    missing: list[Missing]
    seeded: bool = False
    """Whether intervals in its tables speak of other seeds; those of parts that were measured before do not."""

    @property
    def place(self) -> tuple[str, str]:
        """What it is about."""
        return self.dataset, self.encoder

    @property
    def file(self) -> str:
        """The name it is kept under."""
        return f"{self.recipe}-{self.dataset}-{self.encoder.replace(':', '-')}.json"


def keep(parts: Iterable[Part], folder: Path) -> list[Path]:
    """Write parts into a folder; one that is there and has more is left as it is."""
    written = []
    for part in parts:
        path = folder / part.file
        if path.exists() and _read(path).amount > part.amount:
            continue
        write_text(path, part.model_dump_json(indent=0) + "\n")
        written.append(path)
    return written


def kept(recipe: str, folder: Path) -> list[Part]:
    """Read all parts of a recipe that a folder holds."""
    return [_read(path) for path in sorted(folder.glob(f"{recipe}-*.json"))]


def best(parts: Iterable[Part], order: Sequence[tuple[str, str]]) -> list[Part]:
    """Of several parts about the same the one with most, the later of equals; in the given order."""
    found: dict[tuple[str, str], Part] = {}
    for part in parts:
        other = found.get(part.place)
        if other is None or part.amount >= other.amount:
            found[part.place] = part
    return [found[place] for place in order if place in found]


def join(tables: Iterable[Table]) -> list[Table]:
    """Put rows below each other that have the same title and headings.

    >>> join([Table(["a"], [["1"]], "t"), Table(["a"], [["2"]], "u"), Table(["a"], [["3"]], "t")])
    [Table(headings=['a'], rows=[['1'], ['3']], title='t'), Table(headings=['a'], rows=[['2']], title='u')]
    """
    found: dict[tuple[str, tuple[str, ...]], Table] = {}
    for table in tables:
        key = (table.title, tuple(table.headings))
        above = found.get(key)
        found[key] = table if above is None else replace(above, rows=[*above.rows, *table.rows])
    return list(found.values())


def _read(path: Path) -> Part:
    try:
        return Part.model_validate_json(path.read_text(encoding="utf-8"))
    except (ValidationError, OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"{path} does not hold a part of a paper's page: it is damaged, or of another version of heedful. Delete it, or measure it again."
        ) from error
