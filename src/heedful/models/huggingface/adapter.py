"""Adapters of peft: a few weights that were trained on top of a network, put into it in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from heedful.errors import BadInput
from heedful.intake.json_text import read_json

SETTINGS, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
_BEFORE = "base_model.model."
"""What peft puts before the names of a network's own weights."""


@dataclass(frozen=True)
class Adapter:
    """A folder that peft saved: of which model it is, and which weights it holds."""

    folder: Path
    base: str | None
    shapes: Mapping[str, tuple[int, ...]]
    """By the names that the network's own weights have; those of the adapter itself are among them."""

    def classes(self, module: nn.Module, several: int) -> int:
        """How many classes the head that comes with it has; as many as the network, where none does."""
        own = {name: tuple(weight.shape) for name, weight in module.named_parameters()}
        for name, shape in self.shapes.items():
            there = own.get(name)
            if there is not None and there != shape and there[:1] == (several,) and there[1:] == shape[1:]:
                return shape[0]
        return several

    def put(self, module: nn.Module, missing: Collection[str]) -> nn.Module:
        """Put it into a network some of whose weights were not found: they have to come with it, and all of it has to fit."""
        if absent := sorted(set(missing) - set(self.shapes)):
            raise BadInput(
                f"Neither the model nor its adapter {self.folder} holds a trained head ({absent[0]} is in neither): save the adapter with "
                f"it (modules_to_save), or give a model that has one."
            )
        peft = _peft()
        try:
            changed: Any = peft.PeftModel.from_pretrained(module, str(self.folder))
            found = peft.get_peft_model_state_dict(changed)
        except (OSError, ValueError, KeyError, RuntimeError, TypeError) as error:
            told = " ".join(str(error).split())[:160]
            raise BadInput(
                f"{self.folder} is no adapter of this model ({told.rstrip('. ')}): give the folder that peft saved."
            ) from error
        other = {_own_name(name) for name in found} ^ set(self.shapes)
        if other:
            raise BadInput(
                f"{self.folder} is the adapter of another model (only one of the two has {min(other)}): give the model that it was trained on"
                + (f", {self.base}." if self.base else ".")
            )
        merged: nn.Module = changed.merge_and_unload()
        return merged


def is_adapter_folder(folder: Path) -> bool:
    """Whether a folder holds an adapter, and no model."""
    return (folder / SETTINGS).is_file() and not (folder / "config.json").is_file()


def read_adapter(folder: Path) -> Adapter:
    """Read what an adapter says of itself."""
    from safetensors import SafetensorError, safe_open

    try:
        said = read_json(folder / SETTINGS)
        base = said.get("base_model_name_or_path")
        with safe_open(str(folder / WEIGHTS), framework="pt") as weights:
            shapes = {
                _own_name(name): tuple(weights.get_slice(name).get_shape())
                for name in weights.keys()  # noqa: SIM118
            }
    except (OSError, ValueError, AttributeError, SafetensorError) as error:
        told = " ".join(str(error).split())[:160]
        raise BadInput(
            f"{folder} is no adapter ({told.rstrip('. ')}): give the folder that peft saved, with {SETTINGS} and {WEIGHTS}."
        ) from error
    return Adapter(folder, str(base) if base else None, shapes)


def _own_name(name: str) -> str:
    return name.removeprefix(_BEFORE)


def _peft() -> Any:
    try:
        import peft
    except ImportError:
        raise BadInput("Adapters need the library peft: pip install 'heedful[peft]'.") from None
    return peft
