"""What a person sees while a model trains: a bar with time left and live numbers, or nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Step = Callable[[int, float], None]


class Watcher(Protocol):
    """Is told of every step and epoch."""

    def epoch(self, epoch: int, epochs: int, steps: int) -> contextlib.AbstractContextManager[Step]:
        """Enter an epoch; the step function takes the step's number and loss."""

    def end_epoch(self, epoch: int, loss: float, metric: str, score: float, *, best: bool) -> None:
        """Hear how an epoch ended."""


class Silent:
    """Says nothing."""

    @contextlib.contextmanager
    def epoch(self, epoch: int, epochs: int, steps: int) -> Iterator[Step]:
        """Ignore steps."""
        yield lambda number, loss: None

    def end_epoch(self, epoch: int, loss: float, metric: str, score: float, *, best: bool) -> None:
        """Ignore the epoch."""


class Bars:
    """A bar per training run: epochs and steps done, time left, loss and the dev metric so far.

    Where the console is no terminal there is no bar, and one line an epoch.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self._score = ""

    @contextlib.contextmanager
    def epoch(self, epoch: int, epochs: int, steps: int) -> Iterator[Step]:
        """Show the steps of one epoch."""
        if not self.console.is_terminal:
            yield lambda number, loss: None
            return
        columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(), TimeRemainingColumn(),
                   TextColumn("left  {task.fields[note]}"))  # fmt: skip
        with Progress(*columns, console=self.console, transient=True) as progress:
            # Time left is for all epochs to come, because that is what a person waits for.
            task = progress.add_task(
                f"epoch {epoch + 1}/{epochs}", total=steps * (epochs - epoch), note=self._score
            )
            mean = 0.0

            def step(number: int, loss: float) -> None:
                nonlocal mean
                mean += (loss - mean) / number
                progress.update(task, completed=number, note=f"loss {mean:.3f}  {self._score}")

            yield step

    def end_epoch(self, epoch: int, loss: float, metric: str, score: float, *, best: bool) -> None:
        """Leave one line per epoch on the screen."""
        name = metric.replace("_", " ")
        self._score = f"dev {name} {score:.3f}"
        mark = "[green]best so far[/]" if best else ""
        self.console.print(f"  epoch {epoch + 1:>2}  loss {loss:.4f}  {self._score}  {mark}", highlight=False)
