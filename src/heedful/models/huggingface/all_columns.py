"""Other weights in every layer at once: a word that is given more is read more, wherever the network reads it."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.models.huggingface.attention_rows import with_weights
from heedful.models.huggingface.every_layer import every_softmax
from heedful.models.huggingface.last_layer import LastLayerModel
from heedful.models.huggingface.part import Part
from heedful.models.stages import States


class EveryLayerModel(LastLayerModel):
    """A network whose audited weights, the mean of the last layer's heads, act on the words' columns of every layer.

    Every row of every head scales a word by how much more or less than its own weight it is given, and keeps the share that words
    have of the row: its own weights give exactly its own answer, and a word without weight is read nowhere. For each other weights
    the whole network runs.
    """

    def attend(self, states: States) -> Float[Tensor, "batch 1 items"]:
        """Give the mean over the heads of the last layer."""
        return super().attend(states).mean(1, keepdim=True)

    def decode_many(
        self, states: States, weights: Float[Tensor, "batch variants heads items"]
    ) -> Float[Tensor, "batch variants outputs"]:
        """Decode under weights that all heads of all layers share."""
        heads = self.place.weights.heads
        return super().decode_many(states, weights.expand(-1, -1, heads, -1))

    def _by_run(
        self, part: Part, weights: Float[Tensor, "part heads columns"]
    ) -> Float[Tensor, "part outputs"]:
        everywhere = torch.ones_like(part.inputs.present)
        own = part.own.mean(1, keepdim=True)

        def change(natural: Tensor) -> Tensor:
            wide = own.expand(-1, natural.shape[1], -1).to(natural.dtype)
            given = weights[:, :1].expand_as(wide).to(natural.dtype)
            return with_weights(natural, given, wide, everywhere, part.words)

        inputs = part.inputs
        assert part.embedded is not None
        with (
            self.network.ready(),
            self.passes.embedding(part.embedded, inputs),
            every_softmax(self.place, change),
        ):
            return self.network.read(inputs)
