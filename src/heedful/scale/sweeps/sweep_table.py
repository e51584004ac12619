"""The results of a sweep as a table: a row for each piece, the options that differ, and what was reached."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from heedful.output.tables import Cell, Table
from heedful.scale.sweeps.grid import SweptPiece, spelled
from heedful.scale.sweeps.ledger import Entry

_DIGITS = 4
_LONGEST = 60
"""Characters of a cell where not all are wanted: of a path, the last ones tell."""


def sweep_table(
    pieces: Sequence[SweptPiece],
    entries: Mapping[str, Entry],
    *,
    exact: bool = False,
    most: int | None = None,
) -> Table:
    """Write the pieces in their order; `exact` writes numbers with all digits, `most` bounds the columns of results."""
    names = differing(pieces)
    found = list(dict.fromkeys(name for piece in pieces for name in _row(entries, piece)))
    measured = found[:most]
    rows = [
        [
            *(spelled(piece.options[name]) if name in piece.options else "" for name in names),
            *(_cell(_row(entries, piece).get(name), exact=exact) for name in measured),
            _state(entries.get(piece.key)),
        ]
        for piece in pieces
    ]
    return Table([*names, *measured, "state"], rows)


def as_json(pieces: Sequence[SweptPiece], entries: Mapping[str, Entry]) -> str:
    """Write one object for each piece, with all that is known of it."""
    return json.dumps(
        [{"options": dict(piece.options), **_state_of(entries.get(piece.key))} for piece in pieces],
        indent=1,
        ensure_ascii=False,
    )


def differing(pieces: Sequence[SweptPiece]) -> list[str]:
    """Name the options that are not the same in all pieces, in the order in which they are written."""
    names = dict.fromkeys(name for piece in pieces for name in piece.options)
    return [
        name
        for name in names
        if len({spelled(piece.options[name]) if name in piece.options else None for piece in pieces}) > 1
    ]


def _row(entries: Mapping[str, Entry], piece: SweptPiece) -> Mapping[str, Any]:
    entry = entries.get(piece.key)
    return entry.row if entry is not None else {}


def _state(entry: Entry | None) -> str | Cell:
    if entry is None:
        return Cell("to do", tone="dim")
    return Cell(f"failed: {entry.problem}", tone="bad") if entry.problem else "done"


def _state_of(entry: Entry | None) -> dict[str, Any]:
    if entry is None:
        return {"state": "to do"}
    state = "failed" if entry.problem else "done"
    return {"state": state, **entry.model_dump(mode="json", exclude={"options", "name"})}


def _cell(value: Any, *, exact: bool) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and not exact:
        return f"{value:.{_DIGITS}g}"
    return spelled(value) if exact else spelled(value)[-_LONGEST:]
