"""Maximum likelihood, and nothing else: the model whose attention the papers question."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from heedful.data.instances import Batch
from heedful.training.objectives.objective import OBJECTIVES, Objective


@OBJECTIVES.register("vanilla", "cross-entropy to the labels, nothing else")
class Vanilla(Objective):
    """Cross-entropy to the labels."""

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Cross-entropy to the labels."""
        return self.cross_entropy(self.model(batch).logits, batch)
