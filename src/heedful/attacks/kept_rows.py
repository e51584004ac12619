"""Where rows are kept while others are still under attack: in a folder, part by part, or in memory alone."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl

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
from heedful.storage import folder_for, locked, remove_leftovers, write_json

LOCK = ".lock"
_PARTS = "parts"
_ASKED = "asked.json"


class Kept:
    """Parts of an attack by their number. In a folder each is written whole or not at all, and found again."""

    def __init__(self, folder: Path | None, about: About) -> None:
        self.folder, self.about = folder, about
        self._parts: dict[int, pl.DataFrame] = {}
        self._unwritten: list[int] = []
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
            frame = pl.concat([pl.DataFrame(schema=SCHEMA), *parts.values()])
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
            found: dict[str, list[float]] = json.loads((self.folder / _ASKED).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found

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

    def __contains__(self, number: int) -> bool:
        return number in self._parts

    def rows(self) -> int:
        """How many texts are done."""
        return sum(map(len, self._parts.values()))

    def put(self, number: int, frame: pl.DataFrame, *, write: bool) -> None:
        """Keep a part; what is not to be written yet waits for the next that is."""
        self._parts[number] = frame
        self._unwritten.append(number)
        if self.folder is not None and write:
            if not (self.folder / ABOUT).is_file():
                write_json(self.folder / ABOUT, self.about.model_dump(mode="json"))
            for waiting in self._unwritten:
                write_frame(self.folder / _PARTS / f"{waiting:05}.parquet", self._parts[waiting])
            self._unwritten = []

    def end(self) -> AttackResult:
        """Put the parts together; the one file of all rows completes the attack."""
        frames = [self._parts[number] for number in sorted(self._parts)]
        frame = pl.concat(frames) if frames else pl.DataFrame(schema=SCHEMA)
        result = AttackResult(self.about, frame, self.folder)
        if self.folder is not None:
            result.save(self.folder)
            shutil.rmtree(self.folder / _PARTS, ignore_errors=True)
        return result

    def _read_parts(self, folder: Path) -> dict[int, pl.DataFrame]:
        found = {}
        for path in sorted((folder / _PARTS).glob("*.parquet")):
            try:
                found[int(path.stem)] = read_rows(path)
            except (BadInput, ValueError):
                continue  # damaged: attacked again
        return found
