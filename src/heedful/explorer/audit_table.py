"""All texts of an audit with every measurement, sorted, filtered and counted here; a browser gets a page of them."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from heedful.audits.audit import AUDITS
from heedful.audits.running.result import PREDICTIONS, RESULT
from heedful.errors import BadInput, did_you_mean
from heedful.reports.material import Material

_TABLES = 3
_TEXT = ("text", "query")
_FEW = 40
"""Words that a column may hold to be chosen from a list."""
Kind = Literal["number", "word", "text"]


class Column(NamedTuple):
    """A column of the table."""

    name: str
    title: str
    kind: Kind
    audit: str
    says: str
    low: float | None
    high: float | None
    choices: list[str]


class Range(NamedTuple):
    """Numbers of a column that are wanted; both ends count."""

    column: str
    low: float
    high: float


class Wanted(NamedTuple):
    """Which texts are wanted."""

    ranges: Sequence[Range] = ()
    words: Sequence[tuple[str, str]] = ()
    """Columns that must hold a word."""
    search: str = ""
    """What text or query must hold, whatever its case."""


class Bars(NamedTuple):
    """How many texts have which value."""

    edges: list[float]
    of: list[int]
    kept: list[int]
    missing: int


@dataclass(frozen=True)
class AuditTable:
    """The measurements of one audit in memory, without lists."""

    material: Material
    frame: pl.DataFrame

    @classmethod
    def read(cls, folder: Path) -> AuditTable:
        """Put the measurements of all audits of a folder side by side, text by text."""
        material = Material.read(folder)
        whole = material.numbers(PREDICTIONS)
        wanted = [name for name in _TEXT if name in material.columns(PREDICTIONS)]
        texts = material.frames[PREDICTIONS].select("row", *wanted).collect()
        whole = whole.join(texts, on="row", how="left", validate="1:1")
        if "label" in whole.columns and whole["label"].null_count() < len(whole):
            right = (
                pl.when(pl.col("label") == pl.col("predicted"))
                .then(pl.lit("right"))
                .otherwise(pl.lit("wrong"))
            )
            whole = whole.with_columns(answer=pl.when(pl.col("label").is_null()).then(None).otherwise(right))
        for name in material.summaries:
            own = material.numbers(name)
            own = own.drop([c for c in ("predicted", "items") if c in own.columns])
            own = own.rename({c: f"{name}.{c}" for c in own.columns if c != "row"})
            whole = whole.join(own, on="row", how="left", maintain_order="left")
        return cls(material, _plain(whole))

    @cached_property
    def columns(self) -> list[Column]:
        """What each column holds."""
        return [self._column(name) for name in self.frame.columns]

    def find(self, name: str, *kinds: Kind) -> Column:
        """Give a column by its name, which must be of a kind."""
        known = {column.name: column for column in self.columns if not kinds or column.kind in kinds}
        if name not in known:
            raise BadInput(f"There is no column {name!r} that can be used so: {did_you_mean(name, known)}")
        return known[name]

    def matching(self, wanted: Wanted, *, but: str | None = None) -> pl.DataFrame:
        """Give the texts that are wanted; `but` leaves out the range of one column."""
        tests = []
        for part in wanted.ranges:
            self.find(part.column, "number")
            if part.column != but:
                tests.append(pl.col(part.column).is_between(part.low, part.high))
        for name, word in wanted.words:
            self.find(name, "word")
            tests.append(pl.col(name) == word)
        if wanted.search:
            cased = wanted.search.lower()  # as polars does it: casefold turns ß into ss
            found = [
                pl.col(c).str.to_lowercase().str.contains(cased, literal=True)
                for c in _TEXT
                if c in self.frame.columns
            ]
            tests.append(pl.any_horizontal(found))
        return self.frame.filter(tests) if tests else self.frame

    def page(
        self, wanted: Wanted, *, sort: str | None, down: bool, offset: int, limit: int
    ) -> tuple[int, pl.DataFrame]:
        """Count the texts that are wanted, and give some of them in an order; what is not measured comes last."""
        kept = self.matching(wanted)
        if sort is not None:
            self.find(sort)
            order = pl.col(sort).fill_nan(None) if self.frame[sort].dtype.is_float() else pl.col(sort)
            places = kept.select(order.alias("by"), "row").with_row_index("place")
            places = places.sort(["by", "row"], descending=[down, False], nulls_last=True)
            return len(kept), kept[places["place"].slice(offset, limit)]
        return len(kept), kept.slice(offset, limit)

    def bars(self, column: str, wanted: Wanted, *, count: int = 40) -> Bars:
        """Count the values of a column, of all texts and of those that all other filters keep."""
        about = self.find(column, "number")
        whole = self.frame[column].cast(pl.Float64).to_numpy()
        kept = self.matching(wanted, but=column)[column].cast(pl.Float64).to_numpy()
        missing = int((~np.isfinite(whole)).sum())
        if about.low is None or about.high is None:
            return Bars([], [], [], missing)
        edges = _edges(about.low, about.high, count, whole=not self.frame[column].dtype.is_float())
        return Bars(
            edges.tolist(),
            np.histogram(whole[np.isfinite(whole)], edges)[0].tolist(),
            np.histogram(kept[np.isfinite(kept)], edges)[0].tolist(),
            missing,
        )

    def _column(self, name: str) -> Column:
        audit, dot, measure = name.partition(".")
        values = self.frame[name]
        kind: Kind = "text" if name in _TEXT else "number" if values.dtype.is_numeric() else "word"
        low = high = None
        choices: list[str] = []
        if kind == "number":
            finite = values.cast(pl.Float64).to_numpy()
            finite = finite[np.isfinite(finite)]
            low, high = (float(finite.min()), float(finite.max())) if len(finite) else (None, None)
        elif kind == "word":
            found = values.drop_nulls().unique().sort()
            choices = found.head(_FEW).to_list() if len(found) <= _FEW else []
        says = ""
        if dot and audit in AUDITS:
            about = AUDITS.get(audit).measures.get(measure)
            says = about.description if about is not None else ""
        title = (measure if dot else name).replace("_", " ")
        return Column(name, title, kind, audit if dot else "", says, low, high, choices)


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Keep numbers and words; whether something is so is one or the other word."""
    yes = [c for c, kind in frame.schema.items() if kind == pl.Boolean]
    frame = frame.with_columns(
        pl.when(pl.col(c)).then(pl.lit("yes")).when(pl.col(c).not_()).then(pl.lit("no")).alias(c) for c in yes
    )
    keep = [c for c, kind in frame.schema.items() if kind.is_numeric() or kind == pl.String]
    first = [c for c in ("row", "predicted", "label", "answer", "probability", "items", *_TEXT) if c in keep]
    return frame.select(*first, *(c for c in keep if c not in first))


def _edges(low: float, high: float, count: int, *, whole: bool) -> np.ndarray:
    if whole and high - low < count:
        return np.arange(math.floor(low), math.floor(high) + 2) - 0.5
    if not high > low:
        return np.array([low - 0.5, low + 0.5])
    return np.linspace(low, high, count + 1)


class KeptTables:
    """The tables that were looked through last; one that was measured again is read again."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Path, tuple[int, AuditTable]] = OrderedDict()
        self._lock = Lock()

    def of(self, folder: Path) -> AuditTable:
        """Give the table of an audit's folder."""
        made = (folder / RESULT).stat().st_mtime_ns
        with self._lock:
            found = self._kept.get(folder)
            if found is not None and found[0] == made:
                self._kept.move_to_end(folder)
                return found[1]
            table = AuditTable.read(folder)
            self._kept[folder] = (made, table)
            while len(self._kept) > _TABLES:
                self._kept.popitem(last=False)
            return table
