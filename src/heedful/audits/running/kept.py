"""Where finished audits are kept while others still run: in memory, and in a folder if there is one."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
from pydantic import ValidationError

from heedful.audits.audit import AUDITS, Summary
from heedful.audits.running.result import INSTANCES, PREDICTIONS, SUMMARIES, read_frame, write_frame
from heedful.errors import BadInput
from heedful.storage import remove_leftovers, write_json


class Keep:
    """An audit is finished when its summary is there, because that is written last."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.frames: dict[str, pl.DataFrame] = {}
        self.summaries: dict[str, Summary] = {}
        if folder is not None:
            self._find_finished(folder)

    def predictions(self, frame: pl.DataFrame) -> None:
        """Keep what the model said."""
        self._put(PREDICTIONS, frame)

    def audit(self, frame: pl.DataFrame, summary: Summary) -> None:
        """Keep the rows and the summary of an audit."""
        self._put(summary.audit, frame)
        self.summaries[summary.audit] = summary
        if self.folder is not None:
            write_json(self.folder / SUMMARIES / f"{summary.audit}.json", summary.model_dump(mode="json"))

    def _put(self, name: str, frame: pl.DataFrame) -> None:
        self.frames[name] = frame
        if self.folder is not None:
            write_frame(self.folder / INSTANCES / f"{name}.parquet", frame)

    def _find_finished(self, folder: Path) -> None:
        for part in (INSTANCES, SUMMARIES):
            remove_leftovers(folder / part)
        for name in AUDITS:
            path = folder / SUMMARIES / f"{name}.json"
            rows = folder / INSTANCES / f"{name}.parquet"
            if path.is_file() and rows.is_file():
                try:
                    summary = Summary(**json.loads(path.read_text(encoding="utf-8")))
                    frame = read_frame(rows)
                except (ValueError, TypeError, ValidationError, BadInput):
                    continue  # damaged: measured again
                if summary.revision != AUDITS.get(name).revision:
                    continue  # by an earlier heedful, whose numbers meant something else
                self.frames[name], self.summaries[name] = frame, summary
