"""A twin that diverges is one seed's bad luck and is counted; anything else that goes wrong stops them all."""

from __future__ import annotations

from pathlib import Path

import pytest

from heedful.config import TrainConfig
from heedful.declared import complete
from heedful.errors import BadInput, Diverged, HeedfulError
from heedful.training import train as training
from heedful.training import twins
from heedful.training.twins import Twin


def failing(monkeypatch, error: Exception) -> None:
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(training, "train", fail)


def test_a_twin_that_diverges_is_said_by_its_seed(monkeypatch, tmp_path: Path):
    failing(monkeypatch, Diverged("The loss is not a number."))
    found = twins._train(complete(TrainConfig)(dataset="mock_1", seed=50), tmp_path)
    assert found == Twin(50, None, "The loss is not a number.")


@pytest.mark.parametrize(
    "error", [BadInput("No such file."), HeedfulError("Cannot be done."), OSError("Disk.")]
)
def test_nothing_else_is_taken_for_divergence(monkeypatch, tmp_path: Path, error: Exception):
    failing(monkeypatch, error)
    with pytest.raises(type(error), match=str(error)):
        twins._train(complete(TrainConfig)(dataset="mock_1", seed=50), tmp_path)
