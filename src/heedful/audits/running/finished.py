"""Audits that are finished while others still run: in memory, and in a folder if there is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import ValidationError

from heedful.audits.audit import AUDITS, Summary
from heedful.audits.running.folders import same_numbers
from heedful.audits.running.result import INSTANCES, PREDICTIONS, SUMMARIES, read_frame, write_frame
from heedful.errors import BadInput, HeedfulError
from heedful.intake.json_text import read_json
from heedful.runs import Run
from heedful.storage import remove_leftovers, write_json


class FinishedAudits:
    """An audit is finished when its summary is there, because that is written last."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.frames: dict[str, pl.DataFrame] = {}
        self.summaries: dict[str, Summary] = {}
        if folder is not None:
            self._find_finished(folder)

    def add_predictions(self, frame: pl.DataFrame) -> None:
        """Save what the model predicted."""
        self._put(PREDICTIONS, frame)

    def kept_predictions(self) -> pl.DataFrame | None:
        """What the model predicted when this folder was last written; None if that is not there."""
        path = None if self.folder is None else self.folder / INSTANCES / f"{PREDICTIONS}.parquet"
        try:
            return read_frame(path) if path is not None and path.is_file() else None
        except BadInput:
            return None  # damaged: asked again

    def add(self, frame: pl.DataFrame, summary: Summary) -> None:
        """Save the rows and the summary of an audit."""
        self._put(summary.audit, frame)
        self.summaries[summary.audit] = summary
        if self.folder is not None:
            write_json(self.folder / SUMMARIES / f"{summary.audit}.json", summary.model_dump(mode="json"))

    def _put(self, name: str, frame: pl.DataFrame) -> None:
        self.frames[name] = frame
        if self.folder is not None:
            write_frame(self.folder / INSTANCES / f"{name}.parquet", frame)

    def take_from(self, folders: Sequence[Path], decides: Mapping[str, Any]) -> None:
        """Take finished audits of the same model and texts from folders that differ only in options these audits do not read."""
        for folder in folders:
            try:
                found = Run(folder).config()
            except (OSError, HeedfulError):
                continue
            for name in AUDITS:
                same = name not in self.summaries and same_numbers(name, decides, found)
                if same and (finished := _read(folder, name)) is not None:
                    self.add(*finished)

    def _find_finished(self, folder: Path) -> None:
        for part in (INSTANCES, SUMMARIES):
            remove_leftovers(folder / part)
        for name in AUDITS:
            if (finished := _read(folder, name)) is not None:
                self.frames[name], self.summaries[name] = finished


def _read(folder: Path, name: str) -> tuple[pl.DataFrame, Summary] | None:
    """Read an audit from a folder, if it is finished and its numbers mean the same as now."""
    path = folder / SUMMARIES / f"{name}.json"
    rows = folder / INSTANCES / f"{name}.parquet"
    if not (path.is_file() and rows.is_file()):
        return None
    try:
        summary = Summary(**read_json(path))
        frame = read_frame(rows)
    except (ValueError, TypeError, ValidationError, BadInput):
        return None  # damaged: measured again
    if summary.revision != AUDITS.get(name).revision:
        return None  # by an earlier heedful, whose numbers meant something else
    return frame, summary
