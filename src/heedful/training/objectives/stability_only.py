"""Stability alone: attention that holds still under noise, and nothing else asked of it."""

from __future__ import annotations

from typing import ClassVar

from jaxtyping import Bool, Float
from torch import Tensor

from heedful.measures.divergence import jsd
from heedful.training.objectives.anchored import Terms
from heedful.training.objectives.objective import OBJECTIVES
from heedful.training.objectives.steady import Steady


@OBJECTIVES.register(
    "stability_only", "attention that holds still under noise, whatever it costs: it goes flat (ours)"
)
class StabilityOnly(Steady):
    """D₁(vanilla, ours) + λ · JSD(w, w′).

    For comparison only: the heatmap that moves least is flat, and predictions can be kept without it. It shows how
    little a stability number means on its own.
    """

    options = ("base", "stability", "top_k", "radius", "trained", "steps", "noise", "unknown")
    metric = "stability_only"
    formerly = "consistency"
    defaults: ClassVar = {"radius": 0.05, "stability": 1000.0, "trained": "all", "unknown": 0.2}
    transformer_defaults: ClassVar = {}

    def moved(
        self,
        w: Float[Tensor, "batch heads items"],
        v: Float[Tensor, "batch heads items"],
        mask: Bool[Tensor, "batch items"],
    ) -> Float[Tensor, "batch heads"]:
        """JSD as it is."""
        return jsd(w, v)

    def total(self, terms: Terms) -> Float[Tensor, " batch"]:
        """Closeness of predictions and stability only."""
        return terms["closeness"] + self.stability * terms["instability"]
