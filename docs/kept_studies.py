"""Studies as numbers in docs/measured: one row for every value of a control, and one for every point of a curve."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import polars as pl

from heedful.audits.running.result import write_frame
from heedful.papers.attefa.studies.curve import CurvePoint
from heedful.papers.attefa.studies.run_study import Studied, StudyRow
from heedful.papers.attefa.studies.study import STUDIES
from heedful.papers.results import Missing

_ORIGIN = ("command", "commit", "versions")


def keep(studied: Studied, figure: str, folder: Path, **origin: str | None) -> None:
    """Write the rows of a study, and its points if it has any; `origin` names command, commit and versions."""
    besides = {
        "notes": list(studied.notes),
        "missing": [": ".join(lack) for lack in studied.missing],
        "intervals": studied.intervals,
    }
    for path, shown in zip(_files(figure, folder), (studied.rows, studied.points), strict=True):
        if shown:
            beside = besides | {name: origin.get(name) for name in _ORIGIN}
            frame = pl.DataFrame([{**asdict(row), **beside} for row in shown], infer_schema_length=None)
            strings = [name for name in _ORIGIN if frame.schema[name] == pl.Null]
            write_frame(path, frame.with_columns(pl.col(strings).cast(pl.String)))


def kept(study: str, figure: str, folder: Path) -> Studied | None:
    """Read a study, if the folder has it."""
    (rows, besides), (points, _) = (
        _read(path, kind) for path, kind in zip(_files(figure, folder), (StudyRow, CurvePoint), strict=True)
    )
    if not rows:
        return None
    missing = tuple(Missing(*lack.split(": ", 1)) for lack in besides["missing"])
    notes = tuple(besides["notes"])
    return Studied(STUDIES.get(study), tuple(rows), missing, notes, tuple(points), besides["intervals"])


def _files(figure: str, folder: Path) -> tuple[Path, Path]:
    return folder / f"study-{figure}.parquet", folder / f"study-{figure}-points.parquet"


def _read(path: Path, kind: type[Any]) -> tuple[list[Any], dict[str, Any]]:
    """The rows of a file, and what stands beside the first of them."""
    if not path.exists():
        return [], {}
    frame = pl.read_parquet(path)
    own = [field.name for field in fields(kind)]
    found = [
        kind(**{name: tuple(row[name]) if isinstance(row[name], list) else row[name] for name in own})
        for row in frame.iter_rows(named=True)
    ]
    return found, frame.drop(own).row(0, named=True)
