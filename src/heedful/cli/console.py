"""Where commands print: standard output for results, standard error for what is being done."""

from __future__ import annotations

import os
from functools import cache

from rich.console import Console
from rich.markup import escape

_NO_WRAPPING = 10_000
_JOINERS = "\u200c\u200d"  # inside emoji and Persian words


@cache
def console() -> Console:
    """Results, which may be piped on."""
    return _console(stderr=False)


@cache
def error_console() -> Console:
    """Progress and complaints."""
    return _console(stderr=True)


def printable(text: str) -> str:
    """Keep a text from steering the terminal, one character for one: what controls becomes visible or a space.

    >>> printable("two\\nlines \\x1b[2J")
    'two lines �[2J'
    """
    return "".join(
        c if c.isprintable() or c in _JOINERS else (" " if c.isspace() else "\ufffd") for c in text
    )


def plain(value: object) -> str:
    """Give a name, path or message of others as text that is printed as it stands, never read as markup."""
    return escape(printable(str(value)))


def _console(*, stderr: bool) -> Console:
    """Fit a terminal; in a pipe or file, break no line, so that paths stay whole and grep finds things."""
    made = Console(stderr=stderr, highlight=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = _NO_WRAPPING
    return made
