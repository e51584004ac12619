"""Encoder none."""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor

from heedful.config import ModelOptions
from heedful.models.encoders.encoder import ENCODERS, Encoder


@ENCODERS.register("none", "no encoder: attention weighs the embeddings themselves")
class NoEncoder(Encoder):
    """The embeddings as they are."""

    contextual = False
    smooth = True

    def __init__(self, options: ModelOptions, input_size: int) -> None:
        super().__init__(options, input_size)
        self.size = input_size

    def forward(
        self, embedded: Float[Tensor, "batch tokens dim"], present: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens size"]:
        """Pass the embeddings on."""
        return embedded
