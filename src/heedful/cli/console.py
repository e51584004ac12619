"""Where commands print: standard output for results, standard error for what is being done."""

from __future__ import annotations

from functools import cache

from rich.console import Console


@cache
def console() -> Console:
    """Results, which may be piped on."""
    return Console(highlight=False, soft_wrap=False)


@cache
def error_console() -> Console:
    """Progress and complaints."""
    return Console(stderr=True, highlight=False)
