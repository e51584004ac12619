"""Attention of all layers multiplied: how much of each word's vector arrives where the head reads."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.data.instances import Batch
from heedful.explainers.explainer import EXPLAINERS, decided, layered_of, of_layers
from heedful.explainers.layer_attention import where_read
from heedful.models.stages import Stages


@EXPLAINERS.register(
    "rollout", "attention of all layers multiplied, half of each from the residual (Abnar & Zuidema)"
)
@of_layers
def rollout(model: Stages, batch: Batch, *, seed: int) -> Float[Tensor, "batch items"]:
    """Π over layers of ½ (mean of the heads + identity)."""
    layers = layered_of(model, "rollout").layers(batch)
    flows = [weights.mean(1) for weights in layers.weights]
    return where_read(rolled_out([(flow + _identity(flow)) / 2 for flow in flows]), layers, batch)


@EXPLAINERS.register(
    "gradient_rollout", "attention × gradient of all layers, accumulated (Chefer et al. 2021)"
)
@of_layers
def gradient_rollout(
    model: Stages, batch: Batch, *, seed: int, classes: Int[Tensor, " batch"] | None = None
) -> Float[Tensor, "batch items"]:
    """R ← R + Ā R from the first layer to the last, Ā the mean over heads of what is positive of ∇A ⊙ A (their Equations 5 and 6).

    ∇A is of the class's probability; they take its output before the softmax, which does not say against which class.
    """
    asked = decided(model, batch) if classes is None else classes
    layers = layered_of(model, "gradient_rollout").layers(batch, asked)
    relevance = _identity(layers.weights[0][:, 0])
    for weights, slopes in zip(layers.weights, layers.slopes, strict=True):
        relevance = relevance + (weights * slopes).clamp(min=0).mean(1) @ relevance
    return where_read(relevance, layers, batch)


def rolled_out(flows: list[Float[Tensor, "batch tokens tokens"]]) -> Float[Tensor, "batch tokens tokens"]:
    """Multiply how layers mix tokens, the first layer's first.

    >>> half = torch.tensor([[[1.0, 0.0], [0.5, 0.5]]])
    >>> rolled_out([half, half])
    tensor([[[1.0000, 0.0000],
             [0.7500, 0.2500]]])
    """
    total = flows[0]
    for flow in flows[1:]:
        total = flow @ total
    return total


def _identity(like: Float[Tensor, "batch tokens tokens"]) -> Float[Tensor, "batch tokens tokens"]:
    return torch.eye(like.shape[-1], dtype=like.dtype).expand_as(like)
