"""Attention and other explainers side by side, on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heedful.cli.console import console
from heedful.output.tables import Cell, Row, Table
from heedful.output.terminal import grid

if TYPE_CHECKING:
    from heedful.audits.running.result import AuditResult
    from heedful.report import beside


_COLUMNS = 4  # beside each other


def show_explainer_comparison(result: AuditResult) -> None:
    """Print the comparison of an audit, if one was made."""
    from heedful.report.beside import beside
    from heedful.report.material import Material

    found = Material.of(result).alternatives
    if found is None:
        return
    laid = beside(found)
    out = console()
    out.print(f"\n[bold]What could be shown instead[/]  {laid.says}")
    for first in range(0, len(laid.names), _COLUMNS):
        some = slice(first, first + _COLUMNS)
        rows: list[Row] = [[row.description, *map(_cell, row.cells[some])] for row in laid.rows]
        rows += [
            ["better than attention, on average", *map(_cell, laid.gains[some])],
            ["by these rules alone", *laid.verdicts[some]],
        ]
        out.print(grid(Table(["", *laid.names[some]], rows)))
    out.print(f"[dim]Note: {laid.notes[0]}[/]\n")


def _cell(cell: beside.BesideCell) -> Cell:
    best = " best" if cell.best else ""
    below = tuple(filter(None, (cell.interval, cell.word)))
    return Cell(f"{cell.value}{best}", tone="strong" if cell.best else "", below=below)
