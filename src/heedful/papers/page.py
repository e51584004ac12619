"""What a recipe gives a reader: sections of tables and sentences, the same in a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from heedful.storage import write_bytes, write_text

NOTHING = "–"


@dataclass(frozen=True)
class Table:
    """Rows of text under headings."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""


@dataclass(frozen=True)
class Picture:
    """A drawing that is written as a file of its own, with what it shows in words."""

    name: str
    words: str
    spec: dict[str, Any]


@dataclass(frozen=True)
class Section:
    """A heading, tables, sentences below them, and drawings where the page is a file."""

    title: str
    tables: Sequence[Table] = ()
    lines: Sequence[str] = ()
    pictures: Sequence[Picture] = ()


@dataclass(frozen=True)
class Page:
    """Everything that one command found."""

    title: str
    lead: Sequence[str]
    sections: Sequence[Section] = field(default_factory=tuple)


def save_page(page: Page, path: Path) -> None:
    """Write a page as Markdown, and its drawings, if it has any, into NAME-figures beside it."""
    from heedful.comparison.frontier import as_svg

    beside = Path(f"{path.stem}-figures")
    for section in page.sections:
        for picture in section.pictures:
            write_bytes(path.parent / beside / f"{picture.name}.svg", as_svg(picture.spec))
    write_text(path, markdown(page, beside))


def markdown(page: Page, pictures: Path | None = None) -> str:
    """Write a page as Markdown; with drawings if it is told in which folder they are.

    >>> print(markdown(Page("A", ["b."], [Section("C", [Table(["d"], [["x|y"]])], ["e"])])))
    # A
    <BLANKLINE>
    b.
    <BLANKLINE>
    ## C
    <BLANKLINE>
    | d |
    |---|
    | x\\|y |
    <BLANKLINE>
    - e
    <BLANKLINE>
    """
    blocks = [f"# {page.title}", *page.lead]
    for section in page.sections:
        blocks.append(f"## {section.title}")
        for table in section.tables:
            blocks += [f"**{table.title}**"] if table.title else []
            blocks.append("\n".join(_lines(table)))
        if pictures is not None:
            blocks += [f"![{p.words}]({(pictures / p.name).as_posix()}.svg)" for p in section.pictures]
        if section.lines:
            blocks.append("\n".join(f"- {line}" for line in section.lines))
    return "\n\n".join(blocks) + "\n"


def _lines(table: Table) -> Iterable[str]:
    yield _row(table.headings)
    yield "|" + "---|" * len(table.headings)
    for row in table.rows:
        yield _row(row)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def mean_and_deviation(values: np.ndarray) -> str:
    """A mean ± the standard deviation over texts, as the papers print it.

    >>> mean_and_deviation(np.array([0.0, 1.0, np.nan])), mean_and_deviation(np.array([]))
    ('0.50 ± 0.71', '–')
    """
    present = values[~np.isnan(values)]
    if not len(present):
        return NOTHING
    return f"{present.mean():.2f} ± {present.std(ddof=1) if len(present) > 1 else 0.0:.2f}"


def mean(values: np.ndarray) -> str:
    """A mean, or a dash where there is no value."""
    present = values[~np.isnan(values)]
    return f"{present.mean():.2f}" if len(present) else NOTHING


def quartiles(values: np.ndarray) -> str:
    """A median with the two quartiles around it: a box of a box plot.

    >>> quartiles(np.array([0.0, 0.5, 1.0]))
    '0.50 [0.25–0.75]'
    """
    present = values[~np.isnan(values)]
    if not len(present):
        return NOTHING
    low, middle, high = np.quantile(present, [0.25, 0.5, 0.75])
    return f"{middle:.2f} [{low:.2f}–{high:.2f}]"


def percentage(share: float, digits: int = 0) -> str:
    """A share in percent; a dash where it is unknown."""
    return NOTHING if np.isnan(share) else f"{share * 100:.{digits}f} %"
