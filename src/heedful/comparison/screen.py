"""A comparison on the screen."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from heedful.comparison.comparison import Comparison
from heedful.comparison.sheets import BEST, TIED, WARNING, Cell, Sheet, legend, runs, sheets


def show(comparison: Comparison, console: Console) -> None:
    """Print every table; numbers stay whole, and a narrow terminal breaks between a number and its interval."""
    console.print(Text(title(comparison), style="bold"), soft_wrap=True)
    for sheet in sheets(comparison):
        console.print()
        console.print(Text(sheet.title, style="italic" if sheet.below else "bold underline"), soft_wrap=True)
        console.print(_table(sheet))
    console.print()
    marks = f"{BEST} best, {TIED} not clearly worse, {WARNING} warning."
    for line in (marks, *legend(comparison), *comparison.notes):
        console.print(Text(f"• {line}", style="dim"))
    console.print()
    for line in runs(comparison):
        console.print(Text(line), soft_wrap=True)


def title(comparison: Comparison) -> str:
    """Say what was compared."""
    rows, runs = len(comparison.entries), sum(len(entry.runs) for entry in comparison.entries)
    what = f"{runs} runs" if rows == runs else f"{rows} methods ({runs} runs)"
    return f"{what} side by side on {comparison.texts:,} texts of {comparison.data}"


def _table(sheet: Sheet) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in sheet.headings:
        table.add_column(Text(heading), overflow="fold")
    for row in sheet.rows:
        table.add_row(*map(_text, row))
    return table


def _text(cell: Cell) -> Text:
    style = {"best": "bold green", "tied": "green", "": "yellow" if cell.warning else ""}[cell.mark]
    sign = {"best": BEST, "tied": TIED, "": ""}[cell.mark] + (WARNING if cell.warning else "")
    return Text.assemble((cell.text + sign, style), (cell.interval, "dim"))
