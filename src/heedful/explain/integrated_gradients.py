"""Integrated gradients (captum), from the zero embedding to the text's own, for many texts at a time."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.data.instances import Batch
from heedful.explain.explainer import EXPLAINERS, chance_of, decided, item_of, sum_by_item
from heedful.models.model import AttentionModel

STEPS = 50
_TOKENS = 4096  # of all steps together; more of them fall out of the processor's cache and take longer


@EXPLAINERS.register(
    "integrated_gradients", "integrated gradients of the decision from zero embeddings (captum)"
)
def integrated_gradients(model: AttentionModel, batch: Batch, *, seed: int) -> Float[Tensor, "batch items"]:
    """Give each item's share, signed, of the decided class's probability beyond that of the empty embeddings."""
    tokens = batch.tokens.ids.shape[1]
    size = max(1, _TOKENS // (STEPS * tokens))
    starts = range(0, len(batch), size)
    parts = [batch.take(torch.arange(first, min(first + size, len(batch)))) for first in starts]
    return torch.cat([_integrate(model, part) for part in parts])


def _integrate(model: AttentionModel, batch: Batch) -> Float[Tensor, "batch items"]:
    from captum.attr import IntegratedGradients

    classes, size = decided(model, batch), len(batch)

    def chance(embedded: Tensor) -> Tensor:
        # captum stacks the steps one after the other, each with the whole batch.
        rows = torch.arange(size).repeat(len(embedded) // size)
        steps = batch.take(rows)
        states = model.encode(embedded, steps)
        return chance_of(model.decode(states, model.attend(states)), classes[rows])

    embedded = model.embed(batch).detach()
    shares = IntegratedGradients(chance).attribute(embedded, n_steps=STEPS).sum(-1).to(embedded.dtype)
    with torch.no_grad():
        states = model.encode(embedded, batch)
    return sum_by_item(shares.detach(), item_of(model, batch), states)
