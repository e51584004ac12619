"""What passes between the stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from jaxtyping import Bool, Float
from torch import Tensor


@dataclass(frozen=True)
class States:
    """The encoded items of a batch: what decode mixes, and attention scores unless there are keys."""

    h: Float[Tensor, "batch items size"]
    mask: Bool[Tensor, "batch items"]
    query: Float[Tensor, "batch query_size"] | None = None
    candidates: Bool[Tensor, "batch classes"] | None = None
    word_weights: Float[Tensor, "batch tokens"] | None = None
    """In a hierarchical network, how each sentence weighed its words."""
    keys: Float[Tensor, "batch items key_size"] | None = None
    """What attention scores, where that is not what decode mixes."""


class Output(NamedTuple):
    """What a model says, and what it attended to (None for models that pool without attention)."""

    logits: Float[Tensor, "batch outputs"]
    weights: Float[Tensor, "batch heads items"] | None
