"""Options by the words they once had: still understood, with a sentence that gives the new one."""

from __future__ import annotations

from typing import Any, TypeVar

import typer

from heedful.cli.console import error_console
from heedful.errors import BadInput

T = TypeVar("T")


def formerly(name: str, **more: Any) -> Any:
    """An option that is understood and not listed."""
    return typer.Option(name, hidden=True, **more)


def renamed(new: T | None, old: T | None, *, to: str, was: str) -> T | None:
    """Take what was given by either word, and say which is the one to write."""
    if old is None:
        return new
    if new is not None:
        raise BadInput(f"Both {to} and {was} are given, which are the same: leave out {was}.")
    error_console().print(f"{was} is called {to} now; both are understood.", soft_wrap=True)
    return old
