"""Look through: all texts of an audit, filtered and sorted where they are."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi import Path as PathPart

from heedful.audits.running.result import RESULT
from heedful.errors import BadInput, HeedfulError
from heedful.explorer.audit_schema import (
    AuditAbout,
    AuditLine,
    AuditText,
    BarsAnswer,
    ColumnLine,
    TablePage,
    TableRow,
)
from heedful.explorer.audit_table import AuditTable, Range, Wanted
from heedful.explorer.audited_text import audited_text
from heedful.explorer.explorer_state import ExplorerState, Here
from heedful.explorer.faults import FAULTS, NotHere
from heedful.reports.finding import audits_of
from heedful.reports.material import Material

router = APIRouter(prefix="/api/models/{model}/audits", tags=["Look through"], responses=FAULTS)

_RANGE = re.compile(r"(?P<column>.+):(?P<low>[^:]*):(?P<high>[^:]*)")
_SHOWN = (
    "counterfactual.eps_max_jsd",
    "permutation.change",
    "single_erasure.attention_delta_js",
    "rationale.comprehensiveness",
    "sharpness.sharpness",
)
Where = Annotated[
    list[Annotated[str, Query(max_length=300)]],
    Query(max_length=50, description="Ranges of numbers, each COLUMN:LOW:HIGH; an end may be empty."),
]
Is = Annotated[
    list[Annotated[str, Query(max_length=600)]],
    Query(alias="is", max_length=50, description="Words, each COLUMN:WORD."),
]
Search = Annotated[str, Query(max_length=500, description="What text or query must hold.")]


@router.get("", summary="The audits of a model")
def audits(here: Here, model: str) -> list[AuditLine]:
    """List finished audits, what tells most first."""
    lines = []
    for folder in _folders(here, model):
        try:
            found = Material.read(folder)
        except HeedfulError:
            continue  # damaged: heedful report tells
        lines.append(
            AuditLine(
                id=folder.name,
                data=found.about.data,
                texts=found.about.texts,
                questions=len(found.summaries),
                verdict=found.answer,
                source=found.source,
                partial=found.verdict.partial,
            )
        )
    return lines


@router.get("/{audit}", summary="One audit")
def about(here: Here, model: str, audit: str) -> AuditAbout:
    """Say what an audit found, and which columns its table has."""
    table = _table(here, model, audit)
    found = table.material
    names = [column.name for column in table.columns]
    orders = [f"{name}.{order.column}" for name in found.summaries if (order := _order(found, name))]
    shown = [name for name in dict.fromkeys((*_SHOWN, *orders)) if name in names][:4]
    return AuditAbout(
        id=audit,
        model=found.about.model,
        data=found.about.data,
        texts=found.about.texts,
        source=found.source,
        verdict=found.answer,
        finding=" ".join(found.verdict.because),
        columns=[ColumnLine(**column._asdict()) for column in table.columns],
        shown=["predicted", *(["answer"] if "answer" in names else []), "probability", "items", *shown],
    )


@router.get("/{audit}/rows", summary="Some of its texts")
def rows(
    here: Here,
    model: str,
    audit: str,
    columns: Annotated[list[Annotated[str, Query(max_length=200)]], Query(max_length=60)] = [],  # noqa: B006
    where: Where = [],  # noqa: B006
    words: Is = [],  # noqa: B006
    search: Search = "",
    sort: Annotated[
        str | None, Query(max_length=200, description="The column that decides the order.")
    ] = None,
    down: Annotated[bool, Query(description="Whether the largest come first.")] = False,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> TablePage:
    """Filter and sort all texts, and give a page of them."""
    table = _table(here, model, audit)
    wanted = _wanted(where, words, search)
    names = ["row", "text", *columns]
    for name in names:
        table.find(name)
    count, page = table.page(wanted, sort=sort, down=down, offset=offset, limit=limit)
    names = list(dict.fromkeys(names))
    values = page.select(names).rows()
    return TablePage(
        count=count,
        of=len(table.frame),
        columns=names,
        rows=[TableRow(values=[_said(value) for value in row]) for row in values],
    )


@router.get("/{audit}/bars", summary="A histogram")
def bars(
    here: Here,
    model: str,
    audit: str,
    column: Annotated[str, Query(max_length=200, description="The column that is counted.")],
    where: Where = [],  # noqa: B006
    words: Is = [],  # noqa: B006
    search: Search = "",
) -> BarsAnswer:
    """Count the values of a column, of all texts and of those that are left."""
    found = _table(here, model, audit).bars(column, _wanted(where, words, search))
    return BarsAnswer(column=column, **found._asdict())


@router.get("/{audit}/texts/{row}", summary="One text")
def text(
    here: Here,
    model: str,
    audit: str,
    row: Annotated[int, PathPart(ge=0, le=2**40, description="Its number in the data.")],
) -> AuditText:
    """Give everything that is kept of one text, with its heatmaps."""
    return audited_text(_table(here, model, audit), row)


def _folders(here: ExplorerState, model: str) -> list[Path]:
    home = here.shelf.home(model)
    if home is None:
        return []
    found = audits_of(home)
    if here.shelf.find(model).folder is not None:
        return found
    with here.shelf.opened(model) as opened:  # several models may be audited beside the same data
        name = opened.classifier.name
    return [folder for folder in found if _named(folder) == name]


def _named(folder: Path) -> str:
    try:
        return Material.read(folder).about.model
    except HeedfulError:
        return ""


def _table(here: ExplorerState, model: str, audit: str) -> AuditTable:
    for folder in _folders(here, model):
        if folder.name == audit and (folder / RESULT).is_file():
            return here.tables.of(folder)
    raise NotHere(f"There is no finished audit {audit[:100]!r} of this model: audit it, or choose another.")


def _order(found: Material, name: str) -> Any:
    audit = found.audit(name)
    return audit.order if audit is not None else None


def _wanted(where: list[str], words: list[str], search: str) -> Wanted:
    ranges = []
    for part in where:
        match = _RANGE.fullmatch(part)
        if match is None:
            raise BadInput(f"{part[:100]!r} is no range: write COLUMN:LOW:HIGH.")
        ranges.append(Range(match["column"], _end(match["low"], -math.inf), _end(match["high"], math.inf)))
    pairs = []
    for part in words:
        column, colon, word = part.partition(":")
        if not colon:
            raise BadInput(f"{part[:100]!r} names no word: write COLUMN:WORD.")
        pairs.append((column, word))
    return Wanted(ranges, pairs, search.strip())


def _end(given: str, usual: float) -> float:
    try:
        found = float(given) if given.strip() else usual
    except ValueError:
        raise BadInput(f"{given[:50]!r} is no number: write COLUMN:LOW:HIGH.") from None
    if math.isnan(found):
        raise BadInput("A range has two numbers as its ends, and this one is none: write COLUMN:LOW:HIGH.")
    return found


def _said(value: Any) -> float | int | str | None:
    """Give a cell as JSON can say it."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, int | str) else None
