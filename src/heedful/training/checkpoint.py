"""Where training stands after an epoch, in one file that is either whole or not there."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from heedful.intake.json_text import parse_json
from heedful.intake.unreadable import Unreadable
from heedful.models.sealed_weights import seal, unseal
from heedful.storage import write_bytes


@dataclass
class Progress:
    """What happened so far: one record per epoch, and which was best on dev."""

    history: list[dict[str, Any]] = field(default_factory=list)
    best_epoch: int = -1
    best_score: float = float("-inf")

    @property
    def epoch(self) -> int:
        """How many epochs are done."""
        return len(self.history)


def save_checkpoint(
    path: Path,
    progress: Progress,
    model: nn.Module,
    best: dict[str, Tensor],
    optimiser: torch.optim.Optimizer,
) -> None:
    """Write weights, best weights and the optimiser's moments, sealed with the progress and the name of the run."""
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    # If the best epoch is the last one, its weights are the model's.
    if progress.best_epoch != progress.epoch - 1:
        tensors |= {f"best.{name}": tensor for name, tensor in best.items()}
    for number, state in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{number}.{key}": value for key, value in state.items()}
    notes = {"run": _run(path), "progress": json.dumps(asdict(progress))}
    write_bytes(path, seal(tensors, notes))


def load_checkpoint(
    path: Path, model: nn.Module, optimiser: torch.optim.Optimizer
) -> tuple[Progress, dict[str, Tensor]] | None:
    """Restore model and optimiser; None if there is no usable checkpoint, and both are as they were.

    Its checksum says that nothing in it has changed, and its run that it was not put here by somebody: other weights of the
    same shape would be taken for this run's.
    """
    if not path.is_file():
        return None
    try:
        tensors, notes = unseal(path, must=True)
        progress = _progress(notes)
    except (Unreadable, KeyError, TypeError, AttributeError):
        return None  # a file of another version or damaged from outside: begin again rather than guess

    def under(prefix: str) -> dict[str, Tensor]:
        return {
            name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)
        }

    weights, best, moments = under("model."), under("best."), _moments(under("optimiser."))
    own = model.state_dict()
    if notes.get("run") != _run(path) or not _fits(weights, own) or (best and not _fits(best, own)):
        return None
    state = optimiser.state_dict()
    sizes = [parameter.shape for group in optimiser.param_groups for parameter in group["params"]]
    if moments is None or not all(
        0 <= number < len(sizes) and all(m.dim() == 0 or m.shape == sizes[number] for m in of.values())
        for number, of in moments.items()
    ):
        return None
    model.load_state_dict(weights)
    optimiser.load_state_dict({**state, "state": moments})
    return progress, best or {name: tensor.clone() for name, tensor in model.state_dict().items()}


def _run(path: Path) -> str:
    return path.absolute().parent.name


def _progress(notes: dict[str, str]) -> Progress:
    found = parse_json(notes["progress"], finite=False)
    if found.keys() != {part.name for part in fields(Progress)} or type(found["best_score"]) not in (
        int,
        float,
    ):
        raise Unreadable("its progress is not told whole")
    progress = Progress(**found)
    history = progress.history
    if not isinstance(history, list) or not -1 <= progress.best_epoch < len(history):
        raise Unreadable("its epochs do not count up")
    if not all(
        isinstance(record, dict) and record.get("epoch") == at for at, record in enumerate(history, 1)
    ):
        raise Unreadable("its epochs do not count up")
    return progress


def _fits(tensors: dict[str, Tensor], own: dict[str, Tensor]) -> bool:
    """Whether tensors have the names, shapes and kinds of a model's."""
    return tensors.keys() == own.keys() and all(
        tensor.shape == own[name].shape and tensor.dtype == own[name].dtype
        for name, tensor in tensors.items()
    )


def _moments(tensors: dict[str, Tensor]) -> dict[int, dict[str, Tensor]] | None:
    """Sort the optimiser's tensors by the number of their parameter; None if a name has none."""
    found: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        number, _, key = name.partition(".")
        if not number.isdecimal() or not key:
            return None
        found.setdefault(int(number), {})[key] = tensor
    return found
