"""What an encoder is: embedded tokens → one state per token. Padding never changes a state."""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from heedful.config import ModelOptions
from heedful.registry import Registry


class Encoder(nn.Module):
    """One state per token; `contextual` is False where a state depends on its own token alone."""

    contextual = True
    query_encoder: ClassVar[str | None] = None
    """What reads a query, where that is another encoder."""
    size: int

    def __init__(self, options: ModelOptions, input_size: int) -> None:
        super().__init__()

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
