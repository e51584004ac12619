"""Where commands print: standard output for results, standard error for what is being done."""

from __future__ import annotations

from functools import cache

from heedful.output.terminal import Screen, screen
from heedful.progress import Watcher


@cache
def console() -> Screen:
    """For results, which may be piped."""
    return screen()


@cache
def error_console() -> Screen:
    """For progress and errors."""
    return screen(stderr=True)


def watcher() -> Watcher:
    """Return a watcher that shows progress on standard error."""
    from heedful.output.bars import Bars

    return Bars(error_console())
