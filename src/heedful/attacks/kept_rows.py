"""Where rows are kept while others are still under attack: in a folder, part by part, or in memory alone."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import polars as pl
from pydantic import TypeAdapter

from heedful.attacks.attack_result import (
    ABOUT,
    ROWS,
    SCHEMA,
    About,
    AttackResult,
    read_about,
    read_rows,
    write_frame,
)
from heedful.errors import BadInput
from heedful.intake.json_text import read_json
from heedful.storage import folder_for, locked, remove_leftovers, write_json

LOCK = ".lock"
_PARTS = "parts"
_ASKED = "asked.json"
_ANSWERS = TypeAdapter(dict[str, list[float]])


class Kept:
    """Rows of an attack as they come. In a folder they are written in parts, each whole or not at all, and found again."""

    def __init__(self, folder: Path | None, about: About) -> None:
        self.folder, self.about = folder, about
        self._parts: list[pl.DataFrame] = []
        self._unwritten: list[pl.DataFrame] = []
        self.done: set[int] = set()
        """Numbers of the texts that rows are kept of."""
        if folder is not None and (folder / ABOUT).is_file():
            found = read_about(folder)
            if found.identity != about.identity:
                raise BadInput(
                    f"{folder} holds another attack (other texts, another model or other options): choose another folder "
                    f"or delete it."
                )

    @property
    def finished(self) -> AttackResult | None:
        """The whole attack, if it is there."""
        if self.folder is None or not (self.folder / ROWS).is_file() or not (self.folder / ABOUT).is_file():
            return None
        return AttackResult.load(self.folder)

    def some_rows(self, count: int) -> pl.DataFrame:
        """Give some of the rows that are kept, from the beginning to the end; none where there are none."""
        if self.folder is None or not (self.folder / ABOUT).is_file():
            return pl.DataFrame(schema=SCHEMA)
        if (finished := self.finished) is not None:
            frame = finished.frame
        else:
            parts = self._read_parts(self.folder)
            frame = pl.concat([pl.DataFrame(schema=SCHEMA), *parts])
        return frame[:: max(1, len(frame) // count)].head(count)

    @contextmanager
    def alone(self, *, busy: Callable[[], None]) -> Iterator[None]:
        """Keep other processes out of the folder, and leave no folder behind that nothing was kept in."""
        assert self.folder is not None
        with folder_for(self.folder, lock=LOCK), locked(self.folder / LOCK, busy=busy):
            yield

    def remember(self, said: Mapping[str, Sequence[float]]) -> None:
        """Write down what a function said of some texts, if anything else is written."""
        if self.folder is not None and (self.folder / ABOUT).is_file():
            write_json(self.folder / _ASKED, said)

    def said(self) -> dict[str, list[float]]:
        """Give what a function said of some texts when this was kept; nothing where nobody wrote that down."""
        if self.folder is None or not (self.folder / _ASKED).is_file():
            return {}
        try:
            return _ANSWERS.validate_python(read_json(self.folder / _ASKED), strict=True)
        except (OSError, ValueError):
            return {}

    def forget(self) -> None:
        """Delete what is kept."""
        assert self.folder is not None
        for name in (ROWS, _ASKED):
            (self.folder / name).unlink(missing_ok=True)
        shutil.rmtree(self.folder / _PARTS, ignore_errors=True)

    def find(self) -> None:
        """Take up the parts that are there, and put away what a killed writer left."""
        assert self.folder is not None
        for folder in (self.folder, self.folder / _PARTS):
            remove_leftovers(folder)
        self._parts = self._read_parts(self.folder)
        self.done = {row for part in self._parts for row in part["row"]}

    def put(self, frame: pl.DataFrame, *, write: bool) -> None:
        """Keep some rows; what is not to be written yet waits for the next that are."""
        self._parts.append(frame)
        self._unwritten.append(frame)
        self.done |= set(frame["row"])
        if self.folder is not None and write:
            if not (self.folder / ABOUT).is_file():
                write_json(self.folder / ABOUT, self.about.model_dump(mode="json"))
            numbers = [int(path.stem) for path in _files(self.folder)]
            path = self.folder / _PARTS / f"{max(numbers, default=-1) + 1:05}.parquet"
            write_frame(path, pl.concat(self._unwritten))
            self._unwritten = []

    def together(self) -> pl.DataFrame:
        """Put the parts together."""
        return pl.concat([pl.DataFrame(schema=SCHEMA), *self._parts]).sort("row")

    def end(self) -> AttackResult:
        """Give all rows; the one file of them completes the attack."""
        result = AttackResult(self.about, self.together(), self.folder)
        if self.folder is not None:
            result.save(self.folder)
            shutil.rmtree(self.folder / _PARTS, ignore_errors=True)
        return result

    def _read_parts(self, folder: Path) -> list[pl.DataFrame]:
        found = []
        for path in _files(folder):
            with suppress(BadInput):  # damaged: attacked again
                found.append(read_rows(path))
        return found


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in (folder / _PARTS).glob("*.parquet") if path.stem.isdecimal())
