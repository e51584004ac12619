"""Adversarial training on attention scores (Kitada & Iyatomi, 2021)."""

from __future__ import annotations

from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from heedful.training.objectives.objective import OBJECTIVES
from heedful.training.objectives.perturbed import CleanPass, PerturbedScores


@OBJECTIVES.register("attention_at", "adversarial training: the worst small change of the attention scores")
class AttentionAT(PerturbedScores):
    """r = ε · g / ‖g‖₂ over all heads and items of a text, g the gradient of its loss; before the softmax."""

    defaults: ClassVar = {"radius": 1.0}  # sst2: loss .44 → .76, accuracy .82 → .70 (at 5: .47)

    def perturbation(self, clean: CleanPass) -> Float[Tensor, "batch heads items"]:
        """Go uphill as far as allowed."""
        return self.radius * clean.slope()
