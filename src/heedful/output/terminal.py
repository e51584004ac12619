"""Tables and sentences in a terminal; words of others are printed as they stand, never interpreted."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Container
from typing import Any

from rich.console import Console as Screen
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table as RichTable
from rich.text import Text

from heedful.output.markup import printable
from heedful.output.tables import BEST, TIED, WARNING, Cell, Table, cell

__all__ = ["Screen", "as_text", "folded", "grid", "panel", "plain", "screen", "styled"]

_NO_WRAPPING = 10_000
_SHORT = 24
_STYLES = {
    "": "",
    "good": "green",
    "bad": "red",
    "unclear": "yellow",
    "open": "magenta",
    "dim": "dim",
    "strong": "bold",
}


def screen(*, stderr: bool = False) -> Screen:
    """Fit a terminal; in a pipe or file, break no line, so that paths stay whole and grep finds things."""
    made = Screen(stderr=stderr, highlight=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = _NO_WRAPPING
    return made


def plain(content: object) -> str:
    """Give a name, path or message of others as text that is printed as it stands, never read as markup."""
    return escape(printable(str(content)))


def folded(markup: str, width: int, *, indent: int = 0, whole: bool = False) -> list[Text]:
    """Words with markup as lines of at most that width, of which all but the first stand in; `whole` breaks none.

    >>> [str(line) for line in folded("[bold]one[/] two three four five six", 26, indent=2)]
    ['one two three four five', '  six']
    """
    text = Text.from_markup(markup)
    if whole or not text:
        return [text]
    # An own console: how wide a letter is does not depend on where it is printed.
    lines = text.wrap(Screen(file=io.StringIO()), max(width - indent, _SHORT))
    found = []
    for place, line in enumerate(lines):
        line.rstrip()
        found.append(Text.assemble(" " * indent if place else "", line))
    return found


def styled(text: str, style: str = "") -> Text:
    """Words that are printed as they stand, in a style."""
    return Text(printable(text), style=style)


def as_text(show: Callable[[Screen], None]) -> str:
    """What would be printed on a screen without colours and of unlimited width."""
    buffer = io.StringIO()
    show(Screen(file=buffer, width=_NO_WRAPPING, color_system=None))
    return "".join(line.rstrip() + "\n" for line in buffer.getvalue().splitlines())


def panel(text: str, *, title: str, style: str) -> Any:
    """A frame around text with markup."""
    return Panel(text, title=title, title_align="left", border_style=style, padding=(1, 2))


def grid(table: Table, *, right: Container[int] = ()) -> Any:
    """Lay out a table, without its title and without headings where all are empty; some columns to the right.

    In a narrow terminal single numbers stay whole where there is a column of sentences that can break instead; a
    number with an interval breaks between the two.
    """
    rows = [[cell(content) for content in row] for row in table.rows]
    short = [
        all(len(c.text) <= _SHORT and not c.interval for c in column) for column in zip(*rows, strict=True)
    ]
    shown = RichTable(box=None, pad_edge=False, header_style="bold", show_header=any(table.headings))
    for place, heading in enumerate(table.headings):
        whole = bool(short) and short[place] and not all(short)
        side = "right" if place in right else "left"
        shown.add_column(styled(heading), no_wrap=whole, overflow="fold", justify=side)  # type: ignore[arg-type]
    for row in rows:
        shown.add_row(*map(_text, row))
    return shown


def _text(of: Cell) -> Text:
    style = {"best": "bold green", "tied": "green", "": "yellow" if of.warning else _STYLES[of.tone]}[of.mark]
    sign = {"best": BEST, "tied": TIED, "": ""}[of.mark] + (WARNING if of.warning else "")
    text = Text.assemble((printable(of.text) + sign, style), (printable(of.interval), "dim"))
    for line in of.below:
        text.append("\n" + printable(line))
    return text
