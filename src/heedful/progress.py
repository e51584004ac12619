"""How work that takes time tells of itself: one small interface, that commands show as bars and libraries leave quiet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

Update = Callable[[str], None]
"""Takes what is being done next."""


class Advance(Protocol):
    """Is told how many more are done, and maybe what is seen by now."""

    def __call__(self, more: int = 1, /, note: str = "") -> None:
        """Hear it."""


class Watcher(Protocol):
    """Who is told what is being done."""

    def say(self, line: str, *, good: str = "") -> None:
        """Hear a sentence that stays, and what is good news in it, which stands at its end."""

    def status(self, doing: str) -> AbstractContextManager[Update]:
        """Hear what is being done as long as it lasts; the function takes what comes next."""

    def bar(
        self, title: str, total: int, *, unit: str = "texts", note: str = ""
    ) -> AbstractContextManager[Advance]:
        """Hear how much there is to do; the function takes how many more are done."""


class Quiet:
    """Is told everything and shows nothing."""

    def say(self, line: str, *, good: str = "") -> None:
        """Ignore it."""

    @contextmanager
    def status(self, doing: str) -> Iterator[Update]:
        """Ignore it."""
        yield lambda doing: None

    @contextmanager
    def bar(self, title: str, total: int, *, unit: str = "texts", note: str = "") -> Iterator[Advance]:
        """Ignore it."""

        def advance(more: int = 1, /, note: str = "") -> None:
            pass

        yield advance


QUIET: Watcher = Quiet()
