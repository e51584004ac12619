"""How long-running work reports its progress: one small interface, which commands show as bars and libraries keep quiet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

Update = Callable[[str], None]
"""Takes what is being done next."""


class Advance(Protocol):
    """Reports that more are done, and optionally a short note on what was found so far."""

    def __call__(self, more: int = 1, /, note: str = "") -> None:
        """Report it."""


class Watcher(Protocol):
    """Receives reports of what is being done."""

    def say(self, line: str, *, good: str = "") -> None:
        """Report a sentence that stays on the screen; good news in it stand at its end."""

    def status(self, doing: str) -> AbstractContextManager[Update]:
        """Report what is being done, for as long as it takes; call the function with what comes next."""

    def bar(
        self, title: str, total: int, *, unit: str = "texts", note: str = ""
    ) -> AbstractContextManager[Advance]:
        """Report how much there is to do; call the function with how many more are done."""


class Quiet:
    """A watcher that shows nothing."""

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


class Lines(Quiet):
    """A watcher that keeps sentences, to be said elsewhere."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, line: str, *, good: str = "") -> None:
        """Keep it."""
        self.lines.append(" ".join(filter(None, (line, good))))


QUIET: Watcher = Quiet()
