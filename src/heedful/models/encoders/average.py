"""Encoder average."""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor, nn

from heedful.config import ModelOptions
from heedful.models.encoders.encoder import ENCODERS, Encoder, activation


@ENCODERS.register("average", "projection and activation of each word alone (AtteFa's MLP with tanh)")
class Average(Encoder):
    """Every word by itself, projected."""

    contextual = False

    def __init__(self, options: ModelOptions, input_size: int) -> None:
        super().__init__(options, input_size)
        self.projection = nn.Linear(input_size, options.hidden)
        self.activation = activation(options.activation)
        self.smooth = options.activation == "tanh"
        self.size = options.hidden

    def forward(
        self, embedded: Float[Tensor, "batch tokens dim"], present: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens size"]:
        """Project every token on its own."""
        h: Tensor = self.activation(self.projection(embedded))
        return h
