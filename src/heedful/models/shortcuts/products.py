"""Products of states with constant weights, by the quickest kernel that the library has for them."""

from __future__ import annotations

from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor

_ROWS = 256
"""How many rows a layout of the weights is chosen for; it serves any other number."""

_STEP, _FEW, _LONG_STEP = 32, 512, 256
"""The kernel is compiled anew for every number of rows, so that these are rounded up: to 32, and beyond 512 to 256."""


class Product:
    """x ↦ x · weights, for weights that do not change.

    The library multiplies matrices by MKL, whose kernels for processors of other makers are half as fast as oneDNN's, which
    it brings too and uses for recurrent layers. Both add up the same products in single precision. Where gradients are
    wanted, or numbers are of another precision, the usual product is taken.
    """

    def __init__(self, weights: Float[Tensor, "size outputs"]) -> None:
        self.weights = weights.detach()
        self._laid_out: Tensor | None = None
        if _has_kernel() and weights.dtype == torch.float32 and weights.device.type == "cpu":
            turned = self.weights.T.contiguous()
            self._laid_out = torch.ops.mkldnn._reorder_linear_weight(turned, _ROWS)

    def __call__(self, x: Float[Tensor, "*rows size"]) -> Float[Tensor, "*rows outputs"]:
        """Multiply."""
        if (
            self._laid_out is None
            or x.dtype != torch.float32
            or (x.requires_grad and torch.is_grad_enabled())
        ):
            return x @ self.weights
        rows = x.reshape(-1, x.shape[-1])
        step = _STEP if len(rows) <= _FEW else _LONG_STEP
        if missing := -len(rows) % step:
            rows = torch.nn.functional.pad(rows, (0, 0, 0, missing))
        found: Tensor = torch.ops.mkldnn._linear_pointwise(rows, self._laid_out, None, "none", [], "")
        return found[: len(rows) - missing].view(*x.shape[:-1], found.shape[1])


@cache
def _has_kernel() -> bool:
    """Whether this build of the library has oneDNN's product with weights laid out beforehand, and gives what it should."""
    try:
        x, weights = torch.eye(2), torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        laid_out = torch.ops.mkldnn._reorder_linear_weight(weights.T.contiguous(), 2)
        found = torch.ops.mkldnn._linear_pointwise(x, laid_out, None, "none", [], "")
    except (AttributeError, RuntimeError):  # NotImplementedError is one
        return False
    return bool(torch.equal(found, weights))
