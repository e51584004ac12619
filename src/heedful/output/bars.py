"""What a person sees of work that takes time: sentences, a spinner, and bars with the time left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from heedful.output.markup import printable
from heedful.output.terminal import Screen, plain


class Bars:
    """Shows on a screen what is reported through `heedful.progress`; where there is no terminal, only sentences."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen

    def say(self, line: str, *, good: str = "") -> None:
        """Print a line; the good news at its end is green."""
        text = Text.assemble(printable(line), *([("  " + printable(good), "green")] if good else []))
        self.screen.print(text, soft_wrap=True)

    @contextmanager
    def status(self, doing: str) -> Iterator[Callable[[str], None]]:
        """Show that something is being done; it is gone when it is done."""
        with self.screen.status(plain(doing)) as status:
            yield lambda doing: status.update(plain(doing))

    @contextmanager
    def bar(self, title: str, total: int, *, unit: str = "texts", note: str = "") -> Iterator[Any]:
        """Show a bar; it is gone when all is done."""
        columns = [
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            *([TextColumn(unit)] if unit else []),
            TimeRemainingColumn(),
            TextColumn("left  {task.fields[note]}"),
        ]
        shown = self.screen.is_terminal
        with Progress(*columns, console=self.screen, transient=True, disable=not shown) as progress:
            task = progress.add_task(plain(title.replace("_", " ")), total=total, note=plain(note))

            def advance(more: int = 1, /, note: str = "") -> None:
                progress.update(task, advance=more)
                if note:
                    progress.update(task, note=plain(note))

            yield advance
