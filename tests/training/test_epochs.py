"""What a watcher hears of training."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from heedful.progress import Advance, Quiet
from heedful.training.epochs import Epochs


class Listener(Quiet):
    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []
        self.bars: list[tuple[str, int, str]] = []
        self.done, self.notes = 0, []

    def say(self, line: str, *, good: str = "") -> None:
        self.lines.append((line, good))

    @contextmanager
    def bar(self, title: str, total: int, *, unit: str = "texts", note: str = "") -> Iterator[Advance]:
        self.bars.append((title, total, note))

        def advance(more: int = 1, /, note: str = "") -> None:
            self.done += more
            self.notes.append(note)

        yield advance


@pytest.fixture
def heard() -> Listener:
    listener = Listener()
    epochs = Epochs(listener)
    for epoch, (losses, score) in enumerate([((0.9, 0.7), 0.5), ((0.6, 0.2), 0.4)]):
        with epochs.epoch(epoch, 4, 2) as step:
            for number, loss in enumerate(losses, start=1):
                step(number, loss)
        epochs.end_epoch(epoch, sum(losses) / 2, "macro_f1", score, best=epoch == 0)
    return listener


def test_the_bar_is_over_all_epochs_to_come(heard):
    assert heard.bars == [("epoch 1/4", 8, ""), ("epoch 2/4", 6, "dev macro f1 0.500")]
    assert heard.done == 4


def test_steps_tell_the_mean_loss_of_the_epoch_and_the_last_score(heard):
    assert heard.notes == [
        "loss 0.900  ",
        "loss 0.800  ",
        "loss 0.600  dev macro f1 0.500",
        "loss 0.400  dev macro f1 0.500",
    ]


def test_every_epoch_leaves_a_line_and_the_best_is_named(heard):
    assert heard.lines == [
        ("  epoch  1  loss 0.8000  dev macro f1 0.500", "best so far"),
        ("  epoch  2  loss 0.4000  dev macro f1 0.400", ""),
    ]
