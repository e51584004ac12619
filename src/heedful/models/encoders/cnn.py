"""Encoder cnn."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from heedful.config import ModelOptions
from heedful.models.encoders.encoder import ENCODERS, Encoder, activation, max_pool


@ENCODERS.register("cnn", "parallel convolutions of several widths: a state sees its neighbours")
class CNN(Encoder):
    """Windows of several widths, each with its own filters."""

    def __init__(self, options: ModelOptions, input_size: int) -> None:
        super().__init__(options, input_size)
        self.convolutions = nn.ModuleList(
            nn.Sequential(
                # Even widths reach one word further to the right.
                nn.ConstantPad1d(((width - 1) // 2, width // 2), 0.0),
                nn.Conv1d(input_size, options.hidden, width),
            )
            for width in options.widths
        )
        self.activation = activation(options.activation)
        self.smooth = options.activation == "tanh"
        self.size = options.hidden * len(options.widths)

    def forward(
        self, embedded: Float[Tensor, "batch tokens dim"], present: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens size"]:
        """Convolve with zeros beyond a text's end, as if it stood alone."""
        x = (embedded * present[..., None]).transpose(1, 2)  # [batch, dim, tokens]
        return torch.cat([self.activation(c(x)) for c in self.convolutions], dim=1).transpose(1, 2)

    def summarise(
        self, h: Float[Tensor, "batch tokens size"], present: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch size"]:
        """Max over time, as usual for convolutions."""
        return max_pool(h, present)
