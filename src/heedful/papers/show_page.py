"""A page of tables and sentences on a screen, and in a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from markupsafe import Markup

from heedful.output.notebook import html_table, listed, output, paragraph, unfolded
from heedful.output.tables import Cell, Table, Tone
from heedful.output.terminal import Screen, grid, plain

if TYPE_CHECKING:
    from heedful.papers.paper_page import Page, Section

_TONES: Mapping[str, Tone] = {
    "holds": "good",
    "does not hold": "bad",
    "undecided": "unclear",
    "too few texts": "dim",
    "too few twins": "dim",
    "not measured": "dim",
}


def show_page(page: Page, screen: Screen) -> None:
    """Print a page; a table's columns break where the terminal is narrow."""
    screen.print(f"[bold]{plain(page.title)}[/]")
    for line in page.lead:
        screen.print(plain(line))
    for section in page.sections:
        screen.print(f"\n[bold underline]{plain(section.title)}[/]")
        for table in section.tables:
            screen.print(
                *([f"[italic]{plain(table.title)}[/]"] if table.title else []),
                grid(_coloured(table)),
                sep="\n",
            )
        for line in section.lines:
            screen.print(f"[dim]• {plain(line)}[/]")


def page_html(page: Page) -> str:
    """Draw a page for a notebook: each section unfolds, and claims stand open."""
    return output(
        paragraph(page.title, "h-big"),
        *(paragraph(line) for line in page.lead),
        *(
            Markup("").join([paragraph(s.title, "h-title"), *_section(s)])
            if s.title == "Claims"
            else unfolded(s.title, *_section(s))
            for s in page.sections
        ),
    )


def _section(section: Section) -> list[Markup]:
    parts: list[Markup] = []
    for table in section.tables:
        parts += [paragraph(table.title, "h-fine")] if table.title else []
        parts.append(html_table(_coloured(table)))
    return [*parts, listed(section.lines)]


def _coloured(table: Table) -> Table:
    rows = [[Cell(c, tone=_TONES.get(c, "")) if isinstance(c, str) else c for c in row] for row in table.rows]
    return replace(table, rows=rows)
