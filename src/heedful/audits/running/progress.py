"""What a person sees while an audit runs: how many texts or twins are done, and the time left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def bar(console: Console, name: str, total: int, unit: str = "texts") -> Iterator[Callable[[int], None]]:
    """Give a function that takes how many more are done; silent where the console is no terminal."""
    columns = (
        TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(), TextColumn(unit),
        TimeRemainingColumn(), TextColumn("left"),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(name.replace("_", " "), total=total)
        yield lambda more: progress.advance(task, more)
