"""Attention itself, and the yardstick that every explainer must beat: random scores."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.data.instances import Batch
from heedful.explainers.explainer import EXPLAINERS, needs
from heedful.measures.streams import uniform_by_instance
from heedful.models.stages import Stages, weights_of


@EXPLAINERS.register("attention", "the attention weights, averaged over heads")
@needs("stages")
def attention(model: Stages, batch: Batch, *, seed: int) -> Float[Tensor, "batch items"]:
    """Give the weights as they are."""
    with torch.no_grad():
        states = model.encode(model.embed(batch), batch)
        return weights_of(model, states).mean(1)


@EXPLAINERS.register("random", "random scores: what any explainer must beat")
def random(model: Stages, batch: Batch, *, seed: int) -> Float[Tensor, "batch items"]:
    """Draw scores that depend on the seed and on where an instance stands in its split."""
    with torch.no_grad():
        mask = model.encode(model.embed(batch), batch).mask
    return uniform_by_instance(batch.rows, mask.shape[1], seed=seed).float() * mask
