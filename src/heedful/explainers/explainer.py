"""What an explainer is, and what all of them share: the decision that is explained, and its items."""

from __future__ import annotations

from inspect import signature
from typing import Protocol

import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.data.instances import Batch
from heedful.models.stages import Stages, States, output_of, probabilities
from heedful.registry import Registry


class Explainer(Protocol):
    """Scores every item of every instance of a batch; zero off the mask. The model is in evaluation mode."""

    def __call__(self, model: Stages, batch: Batch, *, seed: int) -> Float[Tensor, "batch items"]:
        """Explain the decisions of a model on a batch. An instance's scores do not depend on its companions."""


EXPLAINERS: Registry[Explainer] = Registry("explainer", __package__)


def speaks_for_classes(name: str) -> bool:
    """Whether an explainer can explain another class than the decided one: it then takes `classes`, one for each text."""
    return "classes" in signature(EXPLAINERS.get(name)).parameters


def decided(model: Stages, batch: Batch) -> Int[Tensor, " batch"]:
    """Give the class a model decides for: what is explained."""
    with torch.no_grad():
        return probabilities(output_of(model, batch).logits).argmax(-1)


def probability_of(
    logits: Float[Tensor, "batch outputs"], classes: Int[Tensor, " batch"]
) -> Float[Tensor, " batch"]:
    """Give the probability of one class per instance."""
    return probabilities(logits).gather(-1, classes[:, None])[:, 0]


def item_of(model: Stages, batch: Batch) -> Int[Tensor, "batch tokens"]:
    """Number the item each token belongs to: itself, or its sentence; −1 for padding and special tokens."""
    tokens = batch.tokens
    if model.unit == "sentence":
        assert tokens.sentence_of is not None
        return tokens.sentence_of
    return torch.where(tokens.mask, torch.arange(tokens.mask.shape[1])[None, :], -1)


def sum_by_item(
    scores: Float[Tensor, "batch tokens"], items: Int[Tensor, "batch tokens"], states: States
) -> Float[Tensor, "batch items"]:
    """Add up the scores of the tokens of each item."""
    summed = scores.new_zeros(states.mask.shape)
    return summed.scatter_add(1, items.clamp(min=0), scores * (items >= 0))
