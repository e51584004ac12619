"""All cases of the panel as one table, which comes with heedful, so that a policy can be judged without training anything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from heedful.audits.audit import Number
from heedful.audits.running.result import read_frame, write_frame
from heedful.panel.case import Case

MEASURED = Path(__file__).with_name("measured.parquet")
"""What was measured of the panel; docs/make_panel.py adds to it."""

_OF_CASE = [name for name in Case.model_fields if name != "numbers"]


def write_table(cases: Sequence[Case], path: Path) -> None:
    """Write one row for every number of every case, in one order, so that equal cases are equal files."""
    rows = [
        {**{name: getattr(case, name) for name in _OF_CASE}, "measure": measure, **_fields(number)}
        for case in sorted(cases, key=lambda c: c.name)
        for measure, number in sorted(case.numbers.items())
    ]
    write_frame(path, pl.DataFrame(rows, infer_schema_length=None))


def read_table(path: Path = MEASURED) -> list[Case]:
    """Read the cases back."""
    cases = []
    for _, rows in read_frame(path).group_by(["corpus", "member", "source"], maintain_order=True):
        numbers = {
            row["measure"]: Number(
                name=row["measure"].partition(".")[2],
                estimate=row["estimate"],
                low=row["low"],
                high=row["high"],
                std=row["std"],
                count=row["count"],
                missing=row["missing"],
                bound=row["bound"],
            )
            for row in rows.iter_rows(named=True)
        }
        first = rows.row(0, named=True)
        cases.append(Case(**{name: first[name] for name in _OF_CASE if name in first}, numbers=numbers))
    return cases


def joined(*parts: Sequence[Case]) -> list[Case]:
    """Put cases together; of the same case the last counts."""
    return list({case.name: case for part in parts for case in part}.values())


def _fields(number: Number) -> dict[str, float | int | str | None]:
    return {
        name: getattr(number, name)
        for name in ("estimate", "low", "high", "std", "count", "missing", "bound")
    }
