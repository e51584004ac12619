"""A comparison on the screen."""

from __future__ import annotations

from heedful.comparison.comparison import Comparison
from heedful.comparison.sheets import legend, runs, sheets
from heedful.output.tables import BEST, TIED, WARNING
from heedful.output.terminal import Screen, grid, styled


def show(comparison: Comparison, screen: Screen) -> None:
    """Print every table; numbers stay whole, and a narrow terminal breaks between a number and its interval."""
    screen.print(styled(title(comparison), "bold"), soft_wrap=True)
    for sheet in sheets(comparison):
        screen.print()
        screen.print(styled(sheet.title, "italic" if sheet.below else "bold underline"), soft_wrap=True)
        screen.print(grid(sheet))
    screen.print()
    marks = f"{BEST} best, {TIED} not clearly worse, {WARNING} warning."
    for line in (marks, *legend(comparison), *comparison.notes):
        screen.print(styled(f"• {line}", "dim"))
    screen.print()
    for line in runs(comparison):
        screen.print(styled(line), soft_wrap=True)


def title(comparison: Comparison) -> str:
    """Say what was compared."""
    rows, runs = len(comparison.entries), sum(len(entry.runs) for entry in comparison.entries)
    what = f"{runs} runs" if rows == runs else f"{rows} methods ({runs} runs)"
    return f"{what} side by side on {comparison.texts:,} texts of {comparison.data}"
