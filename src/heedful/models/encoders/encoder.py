"""What an encoder is: embedded tokens → one state per token. Padding never changes a state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from heedful.config import ModelOptions
from heedful.data.tokens import Tokens
from heedful.declared import declared_options
from heedful.models.stages import Unit
from heedful.registry import Registry


class Encoded(NamedTuple):
    """A state per item, and which items there are."""

    h: Float[Tensor, "batch items size"]
    mask: Bool[Tensor, "batch items"]
    word_weights: Float[Tensor, "batch tokens"] | None = None
    """How each sentence weighed its words, where items are sentences."""
    keys: Float[Tensor, "batch items key_size"] | None = None
    """What attention scores, where that is not the states themselves."""


class Encoder(nn.Module):
    """One state per token; `contextual` is False where a state depends on its own token alone."""

    contextual = True
    smooth = False
    """Whether states are known to have no kinks as functions of the embeddings."""
    unit: ClassVar[Unit] = "word"
    slow: ClassVar[bool] = False
    """Whether it takes so long that costly questions are asked of fewer texts."""
    options: ClassVar[tuple[str, ...]] = ()
    """Options that are declared in its own file (see heedful.declared)."""
    query_encoder: ClassVar[str | None] = None
    """What reads a query, where that is another encoder."""
    brings_embedding: ClassVar[bool] = False
    """Whether it has a table of words of its own; it then reads queries itself."""
    size: int

    def __init__(self, options: ModelOptions, input_size: int) -> None:
        super().__init__()

    @classmethod
    def build(cls, options: ModelOptions, pretrained: nn.Module | Mapping[str, Any] | None) -> Self:
        """Make it for a model; `pretrained` is a module that it is made of, or its shape, where it needs one."""
        return cls(options, options.embedding_size)

    @property
    def embedding(self) -> nn.Module | None:
        """Its own table of words, if it brings one."""
        return None

    def items(self, embedded: Float[Tensor, "batch tokens dim"], tokens: Tokens) -> Encoded:
        """Encode what attention weighs: here every token."""
        present = tokens.present
        return Encoded(self(embedded, present), tokens.mask, keys=self.keys(embedded, present))

    def forward(
        self, embedded: Float[Tensor, "batch tokens dim"], present: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens size"]:
        """Encode every present token."""
        raise TypeError(f"{type(self).__name__} does not encode")

    def summarise(
        self, h: Float[Tensor, "batch tokens size"], present: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch size"]:
        """One vector for the whole text: what a query is to attention. Here the mean state."""
        return mean_pool(h, present)

    @property
    def key_size(self) -> int:
        """The size of what attention scores."""
        return self.size

    def keys(
        self, embedded: Float[Tensor, "batch tokens dim"], present: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens key_size"] | None:
        """What attention scores, where that is not the states themselves."""
        return None


ENCODERS: Registry[type[Encoder]] = Registry("encoder", __package__)


def options_of_others(options: ModelOptions) -> set[str]:
    """Name the options that encoders declare which this model does not have: they are no part of it."""
    names = {name for name in (options.encoder, options.sentence_encoder) if name is not None}
    read = {option for name in names for option in ENCODERS.get(name).options}
    return set(declared_options(ModelOptions)) - read


def mean_pool(
    h: Float[Tensor, "batch items size"], mask: Bool[Tensor, "batch items"]
) -> Float[Tensor, "batch size"]:
    """Mean over the items that are there."""
    weights = mask / mask.sum(-1, keepdim=True).clamp(min=1)
    return torch.einsum("bn,bnm->bm", weights.to(h.dtype), h)


def max_pool(
    h: Float[Tensor, "batch items size"], mask: Bool[Tensor, "batch items"]
) -> Float[Tensor, "batch size"]:
    """Largest value of every feature over the items that are there; zero where there are none."""
    return h.masked_fill(~mask[..., None], -torch.inf).amax(1).masked_fill(~mask.any(1, keepdim=True), 0.0)


def activation(name: str) -> nn.Module:
    """The nonlinearity of that name."""
    return nn.ReLU() if name == "relu" else nn.Tanh()
