"""What products show of a transformer: its last layer's attention, as it is or times its gradient."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.data.instances import Batch
from heedful.explainers.explainer import EXPLAINERS, decided, layered_of, of_layers
from heedful.models.stages import Layers, Stages


def where_read(
    rows: Float[Tensor, "batch tokens tokens"], layers: Layers, batch: Batch
) -> Float[Tensor, "batch items"]:
    """Average the rows that the head reads, and keep the words of them."""
    counted = layers.read / layers.read.sum(1, keepdim=True).clamp(min=1)
    return torch.einsum("bq,bqk->bk", counted.to(rows.dtype), rows) * batch.tokens.mask


@EXPLAINERS.register(
    "attention_last", "the last layer's attention where the head reads, mean of the heads (transformers)"
)
@of_layers
def attention_last(model: Stages, batch: Batch, *, seed: int) -> Float[Tensor, "batch items"]:
    """Give the weights as a network has them, what special tokens hold left out."""
    layers = layered_of(model, "attention_last").layers(batch)
    return where_read(layers.weights[-1].mean(1), layers, batch)


@EXPLAINERS.register(
    "attention_gradient", "the last layer's attention × gradient, where the head reads (transformers)"
)
@of_layers
def attention_gradient(
    model: Stages, batch: Batch, *, seed: int, classes: Int[Tensor, " batch"] | None = None
) -> Float[Tensor, "batch items"]:
    """Add up over the heads what each weight does for the probability of the class: α · ∂p/∂α, signed."""
    asked = decided(model, batch) if classes is None else classes
    layers = layered_of(model, "attention_gradient").layers(batch, asked)
    products = (layers.weights[-1] * layers.slopes[-1]).sum(1)
    rows = products * layers.read[..., None]  # other rows of the last layer have no slope
    return rows.sum(1) * batch.tokens.mask
