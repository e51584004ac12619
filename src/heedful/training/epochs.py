"""What training reports to a watcher: a bar over all remaining epochs with loss and score, and one line per epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from heedful.output.numbers import fixed
from heedful.progress import QUIET, Watcher

Step = Callable[[int, float], None]


class Epochs:
    """Reports every step and epoch to a watcher: how many are done, the loss, and the dev metric so far."""

    def __init__(self, watcher: Watcher = QUIET) -> None:
        self.watcher = watcher
        self._score = ""

    @contextmanager
    def epoch(self, epoch: int, epochs: int, steps: int) -> Iterator[Step]:
        """Enter an epoch; the step function takes the step's number and loss."""
        # The time left is for all remaining epochs, because that is what a person waits for.
        whole = steps * (epochs - epoch)
        with self.watcher.bar(f"epoch {epoch + 1}/{epochs}", whole, unit="", note=self._score) as advance:
            mean = 0.0

            def step(number: int, loss: float) -> None:
                nonlocal mean
                mean += (loss - mean) / number
                advance(1, note=f"loss {fixed(mean)}  {self._score}")

            yield step

    def end_epoch(self, epoch: int, loss: float, metric: str, score: float, *, best: bool) -> None:
        """Report one line per epoch."""
        self._score = f"dev {metric.replace('_', ' ')} {fixed(score)}"
        line = f"  epoch {epoch + 1:>2}  loss {fixed(loss, 4)}  {self._score}"
        self.watcher.say(line, good="best so far" if best else "")
