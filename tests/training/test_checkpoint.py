"""A checkpoint is the run's own, whole and unchanged, or training begins again: never silently with other weights."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import save
from torch import nn

from heedful.intake.unreadable import Unreadable
from heedful.models.sealed_weights import seal, unseal
from heedful.training.checkpoint import Progress, load_checkpoint, save_checkpoint


def trained(seed: int, *, size: int = 3) -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(seed)
    model = nn.Linear(size, 2)
    optimiser = torch.optim.Adam(model.parameters())
    for _ in range(2):
        optimiser.zero_grad()
        model(torch.randn(4, size)).square().sum().backward()
        optimiser.step()
    return model, optimiser


def saved(path: Path, seed: int = 0, *, best_epoch: int = 0, size: int = 3) -> Path:
    model, optimiser = trained(seed, size=size)
    path.parent.mkdir(exist_ok=True)
    best = {name: tensor + 1 for name, tensor in model.state_dict().items()}
    save_checkpoint(path, Progress([{"epoch": 1}, {"epoch": 2}], best_epoch, 0.5), model, best, optimiser)
    return path


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    return saved(tmp_path / "run-a" / "checkpoint.safetensors")


@pytest.mark.parametrize("best_epoch", [0, 1])
def test_what_was_saved_comes_back(tmp_path, best_epoch):
    path = saved(tmp_path / "run-a" / "c", best_epoch=best_epoch)
    (model, optimiser), (original, _) = trained(7), trained(0)
    progress, best = load_checkpoint(path, model, optimiser)
    assert (progress.epoch, progress.best_epoch, progress.best_score) == (2, best_epoch, 0.5)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), original.parameters(), strict=True))
    assert torch.equal(best["weight"], original.weight + (best_epoch == 0))
    assert {int(state["step"]) for state in optimiser.state_dict()["state"].values()} == {2}


def assert_begins_again(path: Path) -> None:
    model, optimiser = trained(7)
    weights = [parameter.clone() for parameter in model.parameters()]
    moments = str(optimiser.state_dict())
    assert load_checkpoint(path, model, optimiser) is None
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), weights, strict=True))
    assert str(optimiser.state_dict()) == moments


def test_no_bit_of_it_may_change(checkpoint):
    """Of every byte one bit: in the header, in the progress, in the weights."""
    content = checkpoint.read_bytes()
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        checkpoint.write_bytes(changed)
        found = load_checkpoint(checkpoint, *trained(7))
        # A bit of white space in the header, or the place of a tensor that is named there, changes nothing that is read.
        if found is not None:
            progress, best = found
            assert (progress.epoch, progress.best_epoch, progress.best_score) == (2, 0, 0.5)
            assert torch.equal(best["weight"], trained(0)[0].weight + 1)


@pytest.mark.parametrize("length", [0, 7, 8, 100, -1])
def test_a_cut_off_one_begins_again(checkpoint, length):
    checkpoint.write_bytes(checkpoint.read_bytes()[:length])
    assert_begins_again(checkpoint)


def test_that_of_another_run_begins_again_though_it_fits(checkpoint, tmp_path):
    other = tmp_path / "run-b" / checkpoint.name
    other.parent.mkdir()
    shutil.copy(checkpoint, other)
    assert_begins_again(other)


def test_that_of_another_shape_begins_again(tmp_path):
    assert_begins_again(saved(tmp_path / "run-a" / "c", size=4))


@pytest.mark.parametrize(
    "change",
    [
        {"history": [[0, 0], {"epoch": 2}]},
        {"history": [{"a": 1}, {"epoch": 2}]},
        {"history": [{"epoch": 2}, {"epoch": 1}]},
        {"history": [{"epoch": 1}, None]},
        {"best_score": "high"},
        {"best_score": None},
        {"best_epoch": 2},
        {"best_epoch": "1"},
        {"more": 1},
    ],
    ids=str,
)
def test_progress_that_is_none_begins_again_though_it_is_sealed(checkpoint, change):
    tensors, notes = unseal(checkpoint, must=True)
    told = json.loads(notes["progress"])
    checkpoint.write_bytes(seal(tensors, notes | {"progress": json.dumps(told | change)}))
    assert_begins_again(checkpoint)
    if "best_score" in change:  # nor may it be left out: what was best would be forgotten
        del told["best_score"]
        checkpoint.write_bytes(seal(tensors, notes | {"progress": json.dumps(told)}))
        assert_begins_again(checkpoint)


@pytest.mark.parametrize(
    "change",
    [
        {"optimiser.9.exp_avg": torch.zeros(2, 3)},
        {"optimiser.0.exp_avg": torch.zeros(5)},
        {"optimiser.x.exp_avg": torch.zeros(2, 3)},
        {"best.weight": torch.zeros(2, 9)},
        {"model.other": torch.zeros(1)},
        {"model.weight": torch.zeros(2, 3, dtype=torch.float64)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_tensors_that_do_not_fit_begin_again_though_they_are_sealed(checkpoint, change):
    tensors, notes = unseal(checkpoint, must=True)
    checkpoint.write_bytes(seal(tensors | change, notes))
    assert_begins_again(checkpoint)


@pytest.mark.parametrize(
    "progress", ["", "[]", "[" * 9999, '{"history": 3}', '{"history": [], "best_epoch": 4}', '{"other": 1}']
)
def test_progress_that_is_none_begins_again(checkpoint, progress):
    tensors, notes = unseal(checkpoint, must=True)
    checkpoint.write_bytes(seal(tensors, notes | {"progress": progress}))
    assert_begins_again(checkpoint)


def test_one_without_a_checksum_begins_again(checkpoint):
    tensors, notes = unseal(checkpoint)
    checkpoint.write_bytes(save(tensors, metadata=notes))
    assert_begins_again(checkpoint)


def test_sealed_weights_are_refused_when_they_have_changed_and_plain_ones_are_believed(tmp_path):
    path, tensors = tmp_path / "w", {"a": torch.arange(4.0)}
    path.write_bytes(seal(tensors))
    assert torch.equal(unseal(path)[0]["a"], tensors["a"])
    content = path.read_bytes()
    path.write_bytes(content[:-1] + b"\x41")
    with pytest.raises(Unreadable, match="its checksum is of other weights"):
        unseal(path)
    path.write_bytes(save(tensors))
    assert torch.equal(unseal(path)[0]["a"], tensors["a"])
    assert seal(tensors) == content
