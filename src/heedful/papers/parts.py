"""What was measured of one dataset and encoder, as numbers in a file of its own: pages are made from such parts.

A paper takes hours. What several machines measured of it is put together on one page. docs/measured/README.md tells
what the columns are.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from heedful.errors import BadInput
from heedful.intake.frames import read_frame
from heedful.output.tables import Table
from heedful.papers.claims import Sample
from heedful.papers.measured_numbers import SCHEMA, MeasuredNumber, Numbers
from heedful.papers.origin import ORIGIN
from heedful.papers.results import Missing, Results
from heedful.storage import write_bytes

_DIGITS = 5
_WHOLE = "part"
"""What stands in place of an audit in rows about the part as a whole."""
COLUMNS = pl.Schema({**SCHEMA, "note": pl.String(), **ORIGIN})


@dataclass(frozen=True)
class PagePart:
    """All that was measured of one dataset and encoder, or of all together (both empty), and what its runs say of themselves."""

    recipe: str
    dataset: str
    encoder: str
    numbers: Numbers
    seeds: tuple[int, ...]
    runs: int
    amount: int
    """Texts and audits of all runs: the part with more of them is the better one."""
    notes: tuple[str, ...] = ()
    missing: tuple[Missing, ...] = ()
    seeded: bool = True
    """Whether intervals of its numbers speak of other seeds; those of parts that were measured before do not."""
    origin: pl.DataFrame | None = field(default=None, compare=False)
    """By which command, commit and versions each number was measured, where that is known."""

    @property
    def place(self) -> tuple[str, str]:
        """What it is about."""
        return self.dataset, self.encoder

    @property
    def file(self) -> str:
        """The name it is kept under; what is about all of a recipe has its name alone."""
        about = [self.recipe, self.dataset, self.encoder.replace(":", "-")]
        return f"{'-'.join(filter(None, about))}.parquet"

    @property
    def results(self) -> Results:
        """What tables are made from."""
        return Results(missing=self.missing, numbers=self.numbers)

    def samples(self, claim: str) -> list[Sample]:
        """Give the numbers that decide a claim, with their draws."""
        return [
            Sample(
                n.dataset,
                n.model,
                n.estimate,
                np.array(n.draws, dtype=np.float32).astype(np.float64),
                n.texts or 0,
                () if n.each is None else (list(n.each),),
            )
            for n in self.numbers.rows
            if n.measure == claim and n.draws is not None
        ]

    def to_frame(self) -> pl.DataFrame:
        """Rows of the part as a whole, then one for each number."""
        whole = [
            MeasuredNumber(self.dataset, self.encoder, _WHOLE, "runs", float(self.runs), each=self.seeds),
            MeasuredNumber(self.dataset, self.encoder, _WHOLE, "amount", float(self.amount)),
            MeasuredNumber(self.dataset, self.encoder, _WHOLE, "seeded", float(self.seeded)),
        ]
        words = [("note", "", note) for note in self.notes]
        words += [("missing", what, why) for what, why in self.missing]
        notes = pl.Series("note", [*(None for _ in whole), *(note for *_, note in words)], dtype=pl.String)
        whole += [
            MeasuredNumber(self.dataset, self.encoder, _WHOLE, kind, np.nan, group=of)
            for kind, of, _ in words
        ]
        above = Numbers(tuple(whole)).to_frame().with_columns(notes)
        below = self.numbers.to_frame()
        if self.origin is not None:
            below = pl.concat([below, self.origin], how="horizontal")
        return pl.concat([pl.DataFrame(schema=COLUMNS), above, below], how="diagonal")

    @classmethod
    def from_frame(cls, recipe: str, frame: pl.DataFrame) -> PagePart:
        """Read what `to_frame` gives."""
        if frame.schema != COLUMNS:
            raise ValueError("other columns")
        whole = frame.filter(pl.col("audit") == _WHOLE)
        single = {row["measure"]: row for row in whole.iter_rows(named=True)}
        notes = whole.filter(pl.col("measure") == "note")["note"].to_list()
        missing = whole.filter(pl.col("measure") == "missing").select("group", "note").iter_rows()
        rest = frame.filter(pl.col("audit") != _WHOLE)
        runs = single["runs"]
        return cls(
            recipe,
            runs["dataset"],
            runs["model"],
            Numbers.from_frame(rest),
            tuple(map(int, runs["each"])),
            int(runs["estimate"]),
            int(single["amount"]["estimate"]),
            tuple(notes),
            tuple(Missing(what, why) for what, why in missing),
            bool(single["seeded"]["estimate"]),
            rest.select(list(ORIGIN)),
        )


def of_claim(claim: str, audit: str, samples: Iterable[Sample]) -> list[MeasuredNumber]:
    """Numbers that decide a claim, as rows; draws are rounded, since they are many."""
    return [
        MeasuredNumber(
            s.dataset,
            s.model,
            audit,
            claim,
            float(s.estimate),
            texts=s.size,
            each=[float(value) for group in s.seeds for value in group] if s.seeds else None,
            draws=[float(f"{draw:.{_DIGITS}g}") for draw in s.draws.tolist()],
        )
        for s in samples
    ]


def keep(parts: Iterable[PagePart], folder: Path) -> list[Path]:
    """Write parts into a folder; one that is there and has more stays, and takes from the other what it lacks."""
    written = []
    for part in parts:
        path = folder / part.file
        before = _read(part.recipe, path) if path.exists() else None
        chosen = part
        if before is not None and before.amount > part.amount:
            chosen = with_what_lacks(before, part)
            if chosen is before:
                continue
        content = io.BytesIO()
        chosen.to_frame().write_parquet(content, compression_level=19)
        write_bytes(path, content.getvalue())
        written.append(path)
    return written


def with_what_lacks(part: PagePart, other: PagePart) -> PagePart:
    """Add what only another part knows: whole groups of a model's audit, and nothing that decides a claim.

    So numbers of one audit, which belong together, are always of the same runs; each says by which command it was measured.
    """
    known = {(n.model, n.audit, n.group) for n in part.numbers.rows}
    rows = other.numbers.rows
    new = [
        place for place, n in enumerate(rows) if n.draws is None and (n.model, n.audit, n.group) not in known
    ]
    if not new:
        return part
    numbers = Numbers((*part.numbers.rows, *(rows[place] for place in new)))
    return replace(part, numbers=numbers, origin=pl.concat([_origin_of(part), _origin_of(other)[new]]))


def _origin_of(part: PagePart) -> pl.DataFrame:
    if part.origin is not None:
        return part.origin
    return pl.DataFrame([{}] * len(part.numbers.rows), schema=ORIGIN)


def kept(recipe: str, folder: Path) -> list[PagePart]:
    """Read all parts of a recipe that a folder holds."""
    return [_read(recipe, path) for path in sorted(folder.glob(f"{recipe}-*.parquet"))]


def kept_whole(recipe: str, folder: Path) -> PagePart | None:
    """Read what is about all of a recipe, if a folder holds it."""
    path = folder / f"{recipe}.parquet"
    return _read(recipe, path) if path.exists() else None


def best(parts: Iterable[PagePart], order: Sequence[tuple[str, str]]) -> list[PagePart]:
    """Of several parts about the same the one with most, the later of equals; in the given order."""
    found: dict[tuple[str, str], PagePart] = {}
    for part in parts:
        other = found.get(part.place)
        if other is None or part.amount >= other.amount:
            found[part.place] = part
    return [found[place] for place in order if place in found]


def join(tables: Iterable[Table]) -> list[Table]:
    """Put rows below each other that have the same title and headings.

    >>> join([Table(["a"], [["1"]], "t"), Table(["a"], [["2"]], "u"), Table(["a"], [["3"]], "t")])
    [Table(headings=['a'], rows=[['1'], ['3']], title='t'), Table(headings=['a'], rows=[['2']], title='u')]
    """
    found: dict[tuple[str, tuple[str, ...]], Table] = {}
    for table in tables:
        key = (table.title, tuple(table.headings))
        above = found.get(key)
        found[key] = table if above is None else replace(above, rows=[*above.rows, *table.rows])
    return list(found.values())


def _read(recipe: str, path: Path) -> PagePart:
    try:
        return PagePart.from_frame(recipe, read_frame(path))
    except (pl.exceptions.PolarsError, OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{path} does not hold a part of a paper's page: it is damaged, or of another version of heedful. Delete it, or measure it again."
        ) from error
