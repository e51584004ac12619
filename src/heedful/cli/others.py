"""Attention and other explainers side by side, on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heedful.cli.console import console, plain

if TYPE_CHECKING:
    from heedful.audits.result import AuditResult


def show_others(result: AuditResult) -> None:
    """Print the comparison of an audit, if one was made."""
    from rich.table import Table as RichTable

    from heedful.report.beside import beside
    from heedful.report.material import Material
    from heedful.report.tables import others

    material = Material.of(result)
    found, table = material.alternatives, others(material)
    if found is None or table is None:
        return
    shown = RichTable(box=None, pad_edge=False, header_style="bold")
    for heading in table.headings:
        shown.add_column(plain(heading))
    for row in table.rows:
        shown.add_row(*map(plain, row))
    out = console()
    out.print(f"[bold]What could be shown instead[/]  {plain(beside(found).says)}", shown, sep="\n")
    out.print(f"[dim]{plain(table.title)}.[/]\n")
