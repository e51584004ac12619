"""The loop tells its objective when an epoch begins, also where it goes on after an interruption."""

from __future__ import annotations

from pathlib import Path

import pytest

from heedful.config import TrainingOptions
from heedful.training.loop import Trainer
from heedful.training.objectives.vanilla import Vanilla


class Noting(Vanilla):
    """Notes every call in the order in which they come."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.calls = []

    def begin_epoch(self, epoch):
        self.calls.append(f"epoch {epoch}")

    def loss(self, batch):
        self.calls.append("loss")
        return super().loss(batch)

    def evaluate(self, split, instances):
        self.calls.append(split)
        return super().evaluate(split, instances)


@pytest.fixture
def trainer(toy_classifier, toy_split, tmp_path: Path):
    def build(epochs: int):
        classifier = toy_classifier()
        instances = classifier.instances(toy_split())
        options = TrainingOptions(epochs=epochs, batch_size=3, patience=None)
        objective = Noting(classifier.model)
        found = Trainer(
            classifier.model, objective, options, metric="accuracy", checkpoint=tmp_path / "checkpoint"
        )
        return found, {"train": instances, "dev": instances, "test": instances}

    return build


def test_an_epoch_begins_before_its_first_batch(trainer):
    loop, splits = trainer(2)
    loop.fit(splits)
    assert loop.objective.calls == [
        "epoch 0",
        "loss",
        "loss",
        "dev",
        "epoch 1",
        "loss",
        "loss",
        "dev",
    ]


def test_epochs_are_counted_on_after_an_interruption(trainer):
    first, splits = trainer(1)
    first.fit(splits)
    then, splits = trainer(2)
    then.fit(splits)
    assert then.objective.calls == ["epoch 1", "loss", "loss", "dev"]


def test_the_best_epoch_may_be_selected_on_another_split(trainer):
    loop, splits = trainer(1)
    loop.fit(splits, select_on="test")
    assert loop.objective.calls[-1] == "test"
