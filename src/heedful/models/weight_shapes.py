"""The shapes of a model's weights, without a model: nothing is allocated, and nothing drawn."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from heedful.models.model import Architecture, AttentionModel


def weight_shapes(architecture: Architecture) -> dict[str, tuple[int, ...]]:
    """Give them by name. RuntimeError, TypeError or OverflowError where a product of sizes is one that no integer holds."""
    with torch.device("meta"), _Unfilled():
        return {
            name: tuple(tensor.shape) for name, tensor in AttentionModel(architecture).state_dict().items()
        }


_DRAWN = (torch.Tensor.uniform_, torch.Tensor.div, torch.Tensor.__truediv__)
"""What attention does to fill its vectors, besides functions of torch.nn.init; the shape stays what it was."""


class _Unfilled(TorchFunctionMode):
    """Leaves new weights as they are: to draw those that have no memory, torch would import its compiler, for a second."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _DRAWN or getattr(func, "__module__", "") == "torch.nn.init":
            return kwargs["tensor"] if kwargs and "tensor" in kwargs else args[0]
        return func(*args, **(kwargs or {}))
