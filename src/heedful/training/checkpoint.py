"""Where training stands after an epoch, in one file that is either whole or not there."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

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
    """Write weights, best weights and the optimiser's moments, with the progress in the file's header."""
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    # If the best epoch is the last one, its weights are the model's.
    if progress.best_epoch != progress.epoch - 1:
        tensors |= {f"best.{name}": tensor for name, tensor in best.items()}
    for number, state in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{number}.{key}": value for key, value in state.items()}
    contiguous = {name: tensor.contiguous() for name, tensor in tensors.items()}
    write_bytes(path, save(contiguous, metadata={"progress": json.dumps(asdict(progress))}))


def load_checkpoint(
    path: Path, model: nn.Module, optimiser: torch.optim.Optimizer
) -> tuple[Progress, dict[str, Tensor]] | None:
    """Restore model and optimiser; None if there is no usable checkpoint."""
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            progress = Progress(**json.loads(file.metadata()["progress"]))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 not a dict
    except (SafetensorError, OSError, KeyError, TypeError, json.JSONDecodeError):
        return None  # a file of another version or damaged from outside: begin again rather than guess

    def under(prefix: str) -> dict[str, Tensor]:
        return {
            name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)
        }

    model.load_state_dict(under("model."))
    state = optimiser.state_dict()
    state["state"] = {}
    for name, tensor in under("optimiser.").items():
        number, key = name.split(".", 1)
        state["state"].setdefault(int(number), {})[key] = tensor
    optimiser.load_state_dict(state)
    best = under("best.") or {name: tensor.clone() for name, tensor in model.state_dict().items()}
    return progress, best
