"""Where commands print: standard output for results, standard error for what is being done."""

from __future__ import annotations

from functools import cache

from heedful.output.terminal import Screen, screen
from heedful.progress import Watcher


@cache
def console() -> Screen:
    """Results, which may be piped on."""
    return screen()


@cache
def error_console() -> Screen:
    """Progress and complaints."""
    return screen(stderr=True)


def watcher() -> Watcher:
    """Who shows on standard error what is being done."""
    from heedful.output.bars import Bars

    return Bars(error_console())
