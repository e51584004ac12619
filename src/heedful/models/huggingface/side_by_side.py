"""Whether a network has attention that its last one does not read: two that stand side by side are no single heatmap."""

from __future__ import annotations

import torch
from torch import Tensor

from heedful.models.huggingface.network import Inputs, Network
from heedful.models.huggingface.softmax import SoftmaxSight


def stands_beside(network: Network, inputs: Inputs) -> bool:
    """Whether some softmax leads to the answer and not to the last softmax; a network that cannot be traced has none."""
    found: list[Tensor] = []

    def seen(weights: Tensor, dim: int) -> Tensor:
        if weights.dim() < 2 or inputs.ids.shape[1] not in weights.shape:
            return weights
        found.append(weights if weights.requires_grad else weights.detach().requires_grad_())
        return found[-1].clone()  # what follows may write into it

    try:
        with torch.inference_mode(False), torch.enable_grad(), network.ready(), SoftmaxSight(seen):
            logits = network.read(inputs)
        *earlier, last = found
        return any(not _leads(one, last) and _leads(one, logits) for one in earlier)
    except (RuntimeError, ValueError):
        return False


def _leads(one: Tensor, other: Tensor) -> bool:
    """Whether something is computed from something else."""
    if not other.requires_grad:
        return False
    (slope,) = torch.autograd.grad(other.sum(), one, retain_graph=True, allow_unused=True)
    return slope is not None
