"""Attention and other explainers side by side, on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heedful.cli.console import console, plain

if TYPE_CHECKING:
    from heedful.audits.running.result import AuditResult
    from heedful.report.beside import Cell


def show_others(result: AuditResult) -> None:
    """Print the comparison of an audit, if one was made."""
    from rich.table import Table as RichTable

    from heedful.report.beside import beside
    from heedful.report.material import Material

    found = Material.of(result).alternatives
    if found is None:
        return
    laid = beside(found)
    shown = RichTable(box=None, pad_edge=False, header_style="bold")
    for name in ("", *laid.names):
        shown.add_column(name)
    for row in laid.rows:
        shown.add_row(plain(row.description), *map(_cell, row.cells))
    shown.add_row("further than attention, on average", *map(_cell, laid.gains))
    shown.add_row("by these rules alone", *laid.verdicts)
    out = console()
    out.print(f"\n[bold]What could be shown instead[/]  {laid.says}", shown, sep="\n")
    out.print(f"[dim]Note: {laid.notes[0]}[/]\n")


def _cell(cell: Cell) -> str:
    best = " [bold]best[/]" if cell.best else ""
    return "\n".join(filter(None, (f"{cell.value}{best}", cell.interval, cell.word)))
