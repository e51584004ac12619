"""Bars while a function works, where somebody wants to see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from heedful.progress import Watcher


def watcher(shown: bool) -> Watcher:
    """Show bars on standard error, or nothing."""
    if shown:
        from heedful.output.bars import Bars
        from heedful.output.terminal import screen

        return Bars(screen(stderr=True))
    from heedful.progress import QUIET

    return QUIET
