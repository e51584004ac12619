"""Gradients of the decision: with respect to the words' embeddings, or to the weights themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.data.instances import Batch
from heedful.explainers.explainer import EXPLAINERS, item_of, sum_by_item
from heedful.models.encoders.pointer import recurrent_part
from heedful.models.encoders.recurrent import Recurrent
from heedful.models.model import AttentionModel, probabilities
from heedful.models.shortcuts.recurrence import ScaledReading
from heedful.models.stages import States


@EXPLAINERS.register("gradient", "|∂ŷ/∂e · e| with attention held fixed, as in Jain & Wallace")
def gradient(model: AttentionModel, batch: Batch, *, seed: int) -> Float[Tensor, "batch items"]:
    """How much the decision would change with a word, while paying it the same attention."""
    return _embedding_gradient(model, batch, through_attention=False)


@EXPLAINERS.register("gradient_attached", "|∂ŷ/∂e · e| with attention free to move")
def gradient_attached(model: AttentionModel, batch: Batch, *, seed: int) -> Float[Tensor, "batch items"]:
    """How much the decision would change with a word, by attention or otherwise."""
    return _embedding_gradient(model, batch, through_attention=True)


@EXPLAINERS.register("weight_gradient", "∂ŷ/∂α, signed: the gradient ranking of Serrano & Smith")
def weight_gradient(model: AttentionModel, batch: Batch, *, seed: int) -> Float[Tensor, "batch items"]:
    """How much the decision would gain from more attention to an item; added up over heads."""
    return _weight_gradient(model, batch)[1].sum(1)


@EXPLAINERS.register("weight_product", "α · ∂ŷ/∂α: the product ranking of Serrano & Smith")
def weight_product(model: AttentionModel, batch: Batch, *, seed: int) -> Float[Tensor, "batch items"]:
    """How much the decision gains from the attention an item has; added up over heads."""
    weights, gradients = _weight_gradient(model, batch)
    return (weights * gradients).sum(1)


def scaled(model: AttentionModel, batch: Batch) -> Callable[[Float[Tensor, "readings tokens"]], States]:
    """Give the states as a function of numbers that the embeddings of tokens are multiplied by.

    The derivative by a token's number is ∂/∂e · e, without the gradient of every weight that the recurrent
    kernels of the library would add. Readings are whole batches, one after the other.
    """
    embedded, tokens = model.embed(batch).detach(), batch.tokens
    read, query = None, None
    recurrent = recurrent_part(model.encoder)
    if recurrent is not None:
        read = ScaledReading(recurrent, embedded, tokens.present)
        if batch.query is not None:
            with torch.no_grad():
                query = model.encode(embedded, batch).query

    def states(scales: Float[Tensor, "readings tokens"]) -> States:
        times = len(scales) // len(batch)
        if read is None:
            rows = torch.arange(len(batch)).repeat(times)
            return model.encode(scales[..., None] * embedded.repeat(times, 1, 1), batch.take(rows))
        h = read(scales.view(times, len(batch), -1)).flatten(0, 1)
        again = (None if field is None else field.repeat(times, 1) for field in (query, batch.candidates))
        whole = States(h, tokens.mask.repeat(times, 1), *again)
        if isinstance(model.encoder, Recurrent):
            return whole
        own = model.encoder(scales[..., None] * embedded.repeat(times, 1, 1), tokens.present.repeat(times, 1))
        return replace(whole, h=own, keys=h)

    return states


def _embedding_gradient(
    model: AttentionModel, batch: Batch, *, through_attention: bool
) -> Float[Tensor, "batch items"]:
    """An item of several words is the concatenation of their embeddings: products add up before the modulus."""
    scales = model.embed(batch).detach().new_ones(batch.tokens.ids.shape).requires_grad_()
    states = scaled(model, batch)(scales)
    weights = model.attend(states)
    if weights is not None and not through_attention:
        weights = weights.detach()
    chance = probabilities(model.decode(states, weights)).max(-1).values  # of the class decided for
    (products,) = torch.autograd.grad(chance.sum(), scales)
    return sum_by_item(products, item_of(model, batch), states).abs()


def _weight_gradient(
    model: AttentionModel, batch: Batch
) -> tuple[Float[Tensor, "batch heads items"], Float[Tensor, "batch heads items"]]:
    """Give the weights and the gradient of the decided class's probability with respect to them."""
    with torch.no_grad():
        states = model.encode(model.embed(batch), batch)
        weights = model.normalise(model.score(states), states.mask)
    weights.requires_grad_()
    chance = probabilities(model.decode(states, weights)).max(-1).values  # of the class decided for
    (gradients,) = torch.autograd.grad(chance.sum(), weights)
    return weights.detach(), gradients * states.mask[:, None, :]
