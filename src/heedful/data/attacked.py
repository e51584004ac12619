"""Texts beside what an attack made of them: one row each, kept as Parquet."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from heedful.data.words.substitution import Change
from heedful.errors import BadInput
from heedful.intake.frames import read_frame
from heedful.intake.unreadable import Unreadable
from heedful.storage import write_bytes

Status = Literal["successful", "failed", "skipped"]
_FIELDS = ("start", "end", "new_start", "new_end")
_SCHEMA = pl.Schema(
    [
        ("row", pl.Int64()),
        ("original", pl.String()),
        ("attacked", pl.String()),
        ("label", pl.Int64()),
        ("status", pl.String()),
        ("changed", pl.List(pl.Struct(dict.fromkeys(_FIELDS, pl.Int64())))),
    ]
)


@dataclass(frozen=True)
class AttackedTexts:
    """Columns: row i of each belongs to one text.

    `attacked` is the text that changes the prediction where the attack was successful, the best that was found where it
    failed, and the original where it was skipped because the prediction was wrong already.
    """

    rows: NDArray[np.int64]
    """Where each text stands in the split that was attacked."""
    originals: list[str]
    attacked: list[str]
    labels: NDArray[np.int64]
    statuses: list[Status]
    changes: list[list[Change]]
    """Which stretches of the original became which of the attacked text, by character offsets."""

    def __len__(self) -> int:
        return len(self.originals)

    def counts(self) -> dict[Status, int]:
        """How many attacks succeeded, failed and were skipped."""
        found = Counter(self.statuses)
        return {status: found[status] for status in get_args(Status)}

    @cached_property
    def fingerprint(self) -> str:
        """Changes when, and only when, a row does."""
        digest = hashlib.sha256()
        for row in self.to_frame().iter_rows():
            digest.update(repr(row).encode("utf-8") + b"\n")
        return digest.hexdigest()

    def to_frame(self) -> pl.DataFrame:
        """One row for each text; `changed` holds start, end, new_start and new_end of every change."""
        changed = [
            [dict(zip(_FIELDS, (*before, *after), strict=True)) for before, after in row]
            for row in self.changes
        ]
        columns = (self.rows, self.originals, self.attacked, self.labels, self.statuses, changed)
        return pl.DataFrame(dict(zip(_SCHEMA, columns, strict=True)), schema=_SCHEMA)

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, *, where: str = "The frame of attacked texts") -> AttackedTexts:
        """Read back what `to_frame` made; other columns are left alone. Without `row`, rows are counted from 0."""
        if "row" not in frame.columns:
            frame = frame.with_columns(pl.Series("row", range(len(frame)), dtype=pl.Int64))
        if missing := [name for name in _SCHEMA if name not in frame.columns]:
            raise BadInput(
                f"{where} has no column {missing[0]!r}: attacked texts have {', '.join(_SCHEMA)}; make them again with heedful attack."
            )
        try:
            frame = frame.select(pl.col(name).cast(kind) for name, kind in _SCHEMA.items())
        except pl.exceptions.PolarsError as error:
            reason = str(error).splitlines()[0]
            raise BadInput(
                f"{where} holds something else than attacked texts ({reason}): make them again with heedful attack."
            ) from None
        if holes := [name for name in _SCHEMA if frame[name].null_count()]:
            raise BadInput(f"{where} has an empty cell in {holes[0]!r}: make it again with heedful attack.")
        statuses = frame["status"].to_list()
        if unknown := set(statuses) - set(get_args(Status)):
            raise BadInput(
                f"{where} has the status {min(unknown)!r}, and a status is one of {', '.join(get_args(Status))}: make it again with heedful attack."
            )
        changes = [
            [Change((c["start"], c["end"]), (c["new_start"], c["new_end"])) for c in row]
            for row in frame["changed"].to_list()
        ]
        return cls(
            frame["row"].to_numpy().copy(), frame["original"].to_list(), frame["attacked"].to_list(),
            frame["label"].to_numpy().copy(), statuses, changes,
        )  # fmt: skip

    def write(self, path: Path) -> None:
        """Write them to a Parquet file, whole or not at all."""
        content = io.BytesIO()
        self.to_frame().write_parquet(content)
        write_bytes(path, content.getvalue())

    @classmethod
    def read(cls, path: Path) -> AttackedTexts:
        """Read what `write` wrote."""
        try:
            frame = read_frame(path)
        except Unreadable as error:
            raise BadInput(
                f"Cannot read the attacked texts in {path} ({error}): give a Parquet file that heedful attack wrote."
            ) from None
        return cls.from_frame(frame, where=str(path))

    @classmethod
    def joined(cls, parts: Sequence[AttackedTexts]) -> AttackedTexts:
        """Put several together, one after the other."""
        return cls.from_frame(pl.concat([part.to_frame() for part in parts]))
