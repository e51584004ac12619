"""What an explainer is, and what all of them share: the decision that is explained, and its items."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, Protocol, TypeVar, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.data.instances import Batch
from heedful.errors import BadInput
from heedful.models.stages import Access, Layered, Opaque, Stages, States, access_to, output_of, probabilities
from heedful.registry import Registry

Explains = TypeVar("Explains", bound=Callable[..., Any])


class Explainer(Protocol):
    """Scores every item of every instance of a batch; zero off the mask. The model is in evaluation mode."""

    def __call__(self, model: Stages, batch: Batch, *, seed: int) -> Float[Tensor, "batch items"]:
        """Explain the decisions of a model on a batch. An instance's scores do not depend on its companions."""


EXPLAINERS: Registry[Explainer] = Registry("explainer", __package__)
_MIRRORED: set[Callable[..., Any]] = set()


def needs(access: Access) -> Callable[[Explains], Explains]:
    """Declare what access to a model an explainer needs; one that declares nothing needs the predictions alone."""

    def declare(explainer: Explains) -> Explains:
        explainer.access = access  # type: ignore[attr-defined]
        return explainer

    return declare


def of_layers(explainer: Explains) -> Explains:
    """Mark an explainer that looks at all attention layers of a model."""
    explainer.of_layers = True  # type: ignore[attr-defined]
    return needs("stages")(explainer)


def reads_layers(name: str) -> bool:
    """Whether an explainer looks at all attention layers of a model."""
    return getattr(EXPLAINERS.get(name), "of_layers", False)


def access_needed(name: str) -> Access:
    """What access to a model an explainer needs."""
    found: Access = getattr(EXPLAINERS.get(name), "access", "predictions")
    return found


def can_explain(name: str, model: Stages) -> bool:
    """Whether there is as much access to a model as an explainer needs."""
    levels = get_args(Access)
    if reads_layers(name) and not isinstance(model, Layered):
        return False
    return levels.index(access_to(model)) >= levels.index(access_needed(name))


def check_access(name: str, model: Stages) -> Explainer:
    """Find an explainer, and refuse one that needs more of a model than its predictions where these alone are known."""
    explainer = EXPLAINERS.get(name)
    if isinstance(model, Opaque) and not can_explain(name, model):
        able = ", ".join(other for other in EXPLAINERS if can_explain(other, model))
        raise BadInput(
            f"{name} needs more of a model than predictions, and of this one nothing else is known: choose one of {able}, or "
            f"give scores of your own."
        )
    if reads_layers(name):
        layered_of(model, name)
    return explainer


def layered_of(model: Stages, name: str) -> Layered:
    """Give a model whose layers can be seen; refuse any other."""
    if not isinstance(model, Layered):
        raise BadInput(
            f"{name} looks at the attention layers of a transformer, and this model has one layer of attention, or none: choose another "
            f"explainer (heedful list explainers)."
        )
    return model


def speaks_for_classes(name: str) -> bool:
    """Whether an explainer can explain another class than the decided one: it then takes `classes`, one for each text."""
    return "classes" in signature(EXPLAINERS.get(name)).parameters


def mirrored(explainer: Explains) -> Explains:
    """Mark an explainer of probabilities with signs: of two classes, one's scores are the other's with the sign changed."""
    _MIRRORED.add(explainer)
    return explainer


def is_mirrored(name: str) -> bool:
    """Whether the explainer of this name is marked so."""
    return EXPLAINERS.get(name) in _MIRRORED


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
