"""Attention and other explainers side by side, on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heedful.cli.console import console
from heedful.output.tables import Cell, Row, Table
from heedful.output.terminal import grid

if TYPE_CHECKING:
    from heedful.audits.running.result import AuditResult
    from heedful.report import beside


def show_explainer_comparison(result: AuditResult) -> None:
    """Print the comparison of an audit, if one was made."""
    from heedful.report.beside import beside
    from heedful.report.material import Material

    found = Material.of(result).alternatives
    if found is None:
        return
    laid = beside(found)
    rows: list[Row] = [[row.description, *map(_cell, row.cells)] for row in laid.rows]
    rows += [
        ["better than attention, on average", *map(_cell, laid.gains)],
        ["by these rules alone", *laid.verdicts],
    ]
    out = console()
    out.print(
        f"\n[bold]What could be shown instead[/]  {laid.says}", grid(Table(["", *laid.names], rows)), sep="\n"
    )
    out.print(f"[dim]Note: {laid.notes[0]}[/]\n")


def _cell(cell: beside.BesideCell) -> Cell:
    best = " best" if cell.best else ""
    below = tuple(filter(None, (cell.interval, cell.word)))
    return Cell(f"{cell.value}{best}", tone="strong" if cell.best else "", below=below)
