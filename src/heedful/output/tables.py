"""A table of words: the same in a terminal (`terminal.grid`), in Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from heedful.output.markup import in_latex, in_markdown, in_spreadsheet, one_line

BEST, TIED, WARNING = "★", "°", "⚠"
Mark = Literal["best", "tied", ""]
Tone = Literal["", "good", "bad", "unclear", "open", "dim", "strong"]
"""How a terminal colours a cell, by what it says."""


@dataclass(frozen=True)
class Cell:
    """Words, and how they stand out."""

    text: str
    interval: str = ""
    """What stands after it, less loud."""
    mark: Mark = ""
    warning: bool = False
    tone: Tone = ""
    code: bool = False
    """Whether it is a name that people type."""
    below: tuple[str, ...] = ()
    """What a terminal sets on lines of their own, and others after it."""

    @property
    def words(self) -> str:
        """All of it without marks, on one line."""
        return one_line(" ".join((self.text + self.interval, *self.below)))


Row = Sequence[str | Cell]


@dataclass(frozen=True)
class Table:
    """Rows of words under headings."""

    headings: Sequence[str]
    rows: Sequence[Row]
    title: str = ""


def cell(content: str | Cell) -> Cell:
    """A cell from words alone."""
    return content if isinstance(content, Cell) else Cell(content)


def markdown(table: Table) -> str:
    r"""Write a table, without its title.

    >>> print(markdown(Table(["a"], [["x|y"], [Cell("2", " (1 to 3)", "best")]])))
    | a |
    |---|
    | x\|y |
    | **2** (1 to 3) |
    """
    lines = [_row([in_markdown(h) for h in table.headings]), "|" + "---|" * len(table.headings)]
    return "\n".join([*lines, *(_row([_markdown(cell(c)) for c in row]) for row in table.rows)])


def latex(table: Table) -> str:
    """Write a table for booktabs, with its title as a comment."""
    rows = [[_latex(cell(c)) for c in row] for row in table.rows]
    head, *body = (" & ".join(row) + r" \\" for row in ([in_latex(h) for h in table.headings], *rows))
    begin = f"\\begin{{tabular}}{{l{'r' * (len(table.headings) - 1)}}}"
    lines = [begin, r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]
    return "\n".join([f"% {in_latex(table.title)}"] * bool(table.title) + lines)


def comma_separated(table: Table) -> str:
    r"""Write a table as CSV: words alone, without marks.

    >>> comma_separated(Table(["a", "b"], [["x,y", Cell("2", " (1 to 3)", "best")]]))
    'a,b\n"x,y",2 (1 to 3)\n'
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([in_spreadsheet(one_line(heading)) for heading in table.headings])
    writer.writerows([in_spreadsheet(cell(c).words) for c in row] for row in table.rows)
    return buffer.getvalue()


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _markdown(of: Cell) -> str:
    # A code span shows a backslash: in it the bar alone needs one.
    text = (
        f"`{one_line(of.text).replace('`', chr(39)).replace('|', chr(92) + '|')}`"
        if of.code
        else in_markdown(of.text)
    )
    text = {"best": f"**{text}**", "tied": f"{text}{TIED}", "": text}[of.mark]
    after = "".join(f" {in_markdown(line)}" for line in of.below)
    return text + (f" {WARNING}" if of.warning else "") + of.interval + after


def _latex(of: Cell) -> str:
    text = f"\\texttt{{{in_latex(of.text)}}}" if of.code else in_latex(of.text)
    text = {"best": f"\\textbf{{{text}}}", "tied": f"\\underline{{{text}}}", "": text}[of.mark]
    after = "".join(f" {in_latex(part)}" for part in (of.interval, *of.below) if part)
    return text + (r"$^\dagger$" if of.warning else "") + after
