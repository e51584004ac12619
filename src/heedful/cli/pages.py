"""A page of tables and sentences on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heedful.cli.console import console, plain

if TYPE_CHECKING:
    from heedful.papers.page import Page, Table

_SHORT = 24
_COLOURS = {
    "holds": "green",
    "does not hold": "red",
    "undecided": "yellow",
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
            out.print(*([f"[italic]{plain(table.title)}[/]"] if table.title else []), _table(table), sep="\n")
        for line in section.lines:
            out.print(f"[dim]• {plain(line)}[/]")


def _table(table: Table) -> Any:
    from rich.table import Table as RichTable

    shown = RichTable(box=None, pad_edge=False, header_style="bold")
    short = [all(len(cell) <= _SHORT for cell in column) for column in zip(*table.rows, strict=True)]
    for place, heading in enumerate(table.headings):
        # In a narrow terminal numbers stay whole where there is a column of sentences that can break instead.
        whole = bool(short) and short[place] and not all(short)
        shown.add_column(plain(heading), no_wrap=whole, overflow="fold")
    for row in table.rows:
        shown.add_row(*(f"[{_COLOURS[cell]}]{cell}[/]" if cell in _COLOURS else plain(cell) for cell in row))
    return shown
