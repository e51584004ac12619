"""What is done of a sweep: a file for each piece that was finished, in shared storage, written where it was done."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from heedful.intake.json_text import parse_json
from heedful.scale.piece import Outcome
from heedful.scale.store import Store
from heedful.scale.sweeps.grid import SweptPiece

_PIECES = "pieces"
_RECENT = 20
"""Pieces whose pace tells how long the rest will take."""


class Entry(BaseModel):
    """One piece: what it reached, or why it could not be done."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    options: dict[str, Any]
    row: dict[str, float | int | str | bool | None] = {}
    problem: str = ""
    fault: str = ""
    seconds: float = 0.0
    """Of a processor."""
    place: str = ""
    machine: str = ""
    finished: float = 0.0
    """When, in seconds since 1970."""


class Ledger:
    """The entries of a sweep by the keys of its pieces. A piece that failed is done again when it is asked for again."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def entries(self, pieces: Sequence[SweptPiece]) -> dict[str, Entry]:
        """Read what there is of these pieces; a damaged entry is none."""
        there = set(self.store.names(_PIECES))
        found = {}
        for piece in pieces:
            if _file(piece.key) in there and (entry := self.entry(piece.key)) is not None:
                found[piece.key] = entry
        return found

    def entry(self, key: str) -> Entry | None:
        """Read one."""
        content = self.store.read(f"{_PIECES}/{_file(key)}")
        try:
            return None if content is None else Entry(**parse_json(content.decode()))
        except (ValueError, TypeError, ValidationError):
            return None

    def put(self, piece: Mapping[str, Any], outcome: Outcome) -> Entry:
        """Write down what became of a piece."""
        entry = Entry(
            name=piece["name"],
            options=dict(piece["options"]),
            row=outcome.value or {},
            problem=outcome.problem,
            fault=outcome.fault,
            seconds=outcome.seconds,
            place=outcome.place,
            machine=outcome.machine,
            finished=round(time.time(), 3),
        )
        content = json.dumps(entry.model_dump(mode="json"), indent=1, ensure_ascii=False)
        self.store.write(f"{_PIECES}/{_file(piece['key'])}", (content + "\n").encode())
        return entry


def seconds_left(entries: Sequence[Entry], *, todo: int) -> float | None:
    """Say how long the rest takes at the pace of the pieces that were finished last; None where there is no pace yet."""
    times = sorted(entry.finished for entry in entries if entry.finished)[-_RECENT:]
    if len(times) < 2 or times[-1] <= times[0]:
        return None
    return todo * (times[-1] - times[0]) / (len(times) - 1)


def _file(key: str) -> str:
    return f"{key}.json"
