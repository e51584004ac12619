"""Adam as the papers use it: L2 decay on everything but attention; and fast on large vocabularies."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from heedful.config import TrainingOptions


class RowAdam(torch.optim.Adam):
    """Adam that updates only the touched rows of a parameter whose gradient is sparse.

    A batch contains some hundreds of a vocabulary's thousands of words, and plain Adam would spend more time on
    the others than the rest of the step takes. A row's moments and its decay do not change while it is not
    touched; everything else is fused Adam.
    """

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """Update touched rows here, and everything dense with the library's kernel."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None and parameter.grad.is_sparse:
                    self._update_rows(parameter, group)
                    parameter.grad = None
        return super().step(closure)

    def _update_rows(self, parameter: Tensor, group: dict[str, Any]) -> None:
        gradient = parameter.grad
        assert gradient is not None
        gradient = gradient.coalesce()
        rows, g = gradient.indices()[0], gradient.values()
        state = self.state[parameter]
        if not state:
            state["step"] = torch.zeros((), dtype=torch.float32)
            names = ("exp_avg", "exp_avg_sq", *(("max_exp_avg_sq",) if group["amsgrad"] else ()))
            state.update({name: torch.zeros_like(parameter) for name in names})
        state["step"] += 1
        step, (beta1, beta2) = float(state["step"]), group["betas"]

        if group["weight_decay"]:
            g = g.add(parameter[rows], alpha=group["weight_decay"])
        mean = state["exp_avg"][rows].lerp_(g, 1 - beta1)
        square = state["exp_avg_sq"][rows].mul_(beta2).addcmul_(g, g, value=1 - beta2)
        state["exp_avg"].index_copy_(0, rows, mean)
        state["exp_avg_sq"].index_copy_(0, rows, square)
        if group["amsgrad"]:
            square = torch.maximum(state["max_exp_avg_sq"][rows], square)
            state["max_exp_avg_sq"].index_copy_(0, rows, square)
        scale = square.sqrt().div_(math.sqrt(1 - beta2**step)).add_(group["eps"])
        parameter.index_add_(0, rows, mean.div_(scale), alpha=-group["lr"] / (1 - beta1**step))


def build_optimiser(options: TrainingOptions, parameters: Iterable[tuple[str, nn.Parameter]]) -> RowAdam:
    """Group parameters by whether they decay. The order is the model's, so that checkpoints fit."""
    decayed: list[nn.Parameter] = []
    free: list[nn.Parameter] = []
    for name, parameter in parameters:
        # A hierarchical network has attention on words too, inside its encoder.
        is_attention = name.startswith("attention.") or "word_attention." in name
        (free if is_attention and not options.decay_attention else decayed).append(parameter)
    groups = [
        {"params": decayed, "weight_decay": options.weight_decay},
        {"params": free, "weight_decay": 0.0},
    ]
    return RowAdam(
        [group for group in groups if group["params"]],
        lr=options.learning_rate,
        amsgrad=options.amsgrad,
        fused=True,
    )


def clip_gradients(optimiser: torch.optim.Optimizer, largest: float) -> None:
    """Bound the norm of all gradients together, sparse ones included."""
    gradients = []
    for group in optimiser.param_groups:
        for parameter in group["params"]:
            if parameter.grad is None:
                continue
            if parameter.grad.is_sparse:
                parameter.grad = parameter.grad.coalesce()
            gradients.append(parameter.grad.values() if parameter.grad.is_sparse else parameter.grad)
    norm = nn.utils.get_total_norm(gradients)
    if norm > largest:
        for gradient in gradients:
            gradient.mul_(largest / norm)
