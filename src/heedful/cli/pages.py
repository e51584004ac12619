"""A page of tables and sentences on the screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from heedful.cli.console import console
from heedful.output.tables import Cell, Table, Tone
from heedful.output.terminal import grid, plain

if TYPE_CHECKING:
    from heedful.papers.paper_page import Page

_TONES: Mapping[str, Tone] = {
    "holds": "good",
    "does not hold": "bad",
    "undecided": "unclear",
    "too few texts": "dim",
    "too few twins": "dim",
    "not measured": "dim",
}


def show_page(page: Page) -> None:
    """Print a page; a table's columns break where the terminal is narrow."""
    out = console()
    out.print(f"[bold]{plain(page.title)}[/]")
    for line in page.lead:
        out.print(plain(line))
    for section in page.sections:
        out.print(f"\n[bold underline]{plain(section.title)}[/]")
        for table in section.tables:
            out.print(
                *([f"[italic]{plain(table.title)}[/]"] if table.title else []),
                grid(_coloured(table)),
                sep="\n",
            )
        for line in section.lines:
            out.print(f"[dim]• {plain(line)}[/]")


def _coloured(table: Table) -> Table:
    rows = [[Cell(c, tone=_TONES.get(c, "")) if isinstance(c, str) else c for c in row] for row in table.rows]
    return replace(table, rows=rows)
