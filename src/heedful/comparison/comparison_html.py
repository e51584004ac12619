"""A comparison in a notebook: the table of models, and each audit's numbers to unfold."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from markupsafe import Markup

from heedful.comparison.screen import title
from heedful.comparison.sheets import Sheet, legend, runs, sheets
from heedful.output.notebook import html_table, listed, output, paragraph, unfolded
from heedful.output.tables import BEST, TIED, WARNING

if TYPE_CHECKING:
    from heedful.comparison.comparison import Comparison


def comparison_html(comparison: Comparison) -> str:
    """Draw a comparison."""
    first, *rest = _blocks(sheets(comparison))
    marks = f"{BEST} best, {TIED} not clearly worse, {WARNING} a warning."
    return output(
        paragraph(title(comparison), "h-title"),
        *map(_drawn, first),
        *(unfolded(block[0].title, *map(_drawn, block)) for block in rest),
        unfolded(
            "How to read this", listed([marks, *legend(comparison), *comparison.notes, *runs(comparison)])
        ),
    )


def _blocks(found: list[Sheet]) -> list[list[Sheet]]:
    """Put each table together with the differences below it."""
    number = 0
    numbered = []
    for sheet in found:
        number += not sheet.below
        numbered.append((number, sheet))
    return [[sheet for _, sheet in group] for _, group in groupby(numbered, key=lambda pair: pair[0])]


def _drawn(sheet: Sheet) -> Markup:
    name = paragraph(sheet.title, "h-fine") if sheet.below else Markup("")
    return name + html_table(sheet) + listed(sheet.lines)
