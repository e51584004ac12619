"""Gradients of the decision: with respect to the words' embeddings, or to the weights themselves."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.data.instances import Batch
from heedful.explainers.explainer import EXPLAINERS, item_of, needs, sum_by_item
from heedful.models.shorter import scaled
from heedful.models.stages import Stages, probabilities, weights_of


@EXPLAINERS.register("gradient", "|∂ŷ/∂e · e| with attention held fixed, as in Jain & Wallace")
@needs("embeddings")
def gradient(
    model: Stages, batch: Batch, *, seed: int, classes: Int[Tensor, " batch"] | None = None
) -> Float[Tensor, "batch items"]:
    """How much the decision would change with a word, while paying it the same attention."""
    return _embedding_gradient(model, batch, classes, through_attention=False)


@EXPLAINERS.register("gradient_attached", "|∂ŷ/∂e · e| with attention free to move")
@needs("embeddings")
def gradient_attached(
    model: Stages, batch: Batch, *, seed: int, classes: Int[Tensor, " batch"] | None = None
) -> Float[Tensor, "batch items"]:
    """How much the decision would change with a word, by attention or otherwise."""
    return _embedding_gradient(model, batch, classes, through_attention=True)


@EXPLAINERS.register("weight_gradient", "∂ŷ/∂α, signed: the gradient ranking of Serrano & Smith")
@needs("stages")
def weight_gradient(model: Stages, batch: Batch, *, seed: int) -> Float[Tensor, "batch items"]:
    """How much the decision would gain from more attention to an item; added up over heads."""
    return _weight_gradient(model, batch)[1].sum(1)


@EXPLAINERS.register("weight_product", "α · ∂ŷ/∂α: the product ranking of Serrano & Smith")
@needs("stages")
def weight_product(model: Stages, batch: Batch, *, seed: int) -> Float[Tensor, "batch items"]:
    """How much the decision gains from the attention an item has; added up over heads."""
    weights, gradients = _weight_gradient(model, batch)
    return (weights * gradients).sum(1)


def _embedding_gradient(
    model: Stages, batch: Batch, classes: Int[Tensor, " batch"] | None, *, through_attention: bool
) -> Float[Tensor, "batch items"]:
    """An item of several words is the concatenation of their embeddings: products add up before the modulus."""
    scales = model.embed(batch).detach().new_ones(batch.tokens.ids.shape).requires_grad_()
    states = scaled(model, batch)(scales)
    weights = model.attend(states)
    if weights is not None and not through_attention:
        weights = weights.detach()
    predicted = probabilities(model.decode(states, weights))
    chosen = predicted.argmax(-1) if classes is None else classes  # the class decided for
    probability = predicted.gather(-1, chosen[:, None])
    (products,) = torch.autograd.grad(probability.sum(), scales)
    return sum_by_item(products, item_of(model, batch), states).abs()


def _weight_gradient(
    model: Stages, batch: Batch
) -> tuple[Float[Tensor, "batch heads items"], Float[Tensor, "batch heads items"]]:
    """Give the weights and the gradient of the decided class's probability with respect to them."""
    with torch.no_grad():
        states = model.encode(model.embed(batch), batch)
        weights = weights_of(model, states)
    weights.requires_grad_()
    probability = probabilities(model.decode(states, weights)).max(-1).values  # of the class decided for
    (gradients,) = torch.autograd.grad(probability.sum(), weights)
    return weights.detach(), gradients * states.mask[:, None, :]
