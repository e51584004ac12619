"""Adversarial training on attention scores along the differences between them (Kitada & Iyatomi, 2021)."""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from heedful.training.objectives.objective import OBJECTIVES
from heedful.training.objectives.perturbed import CleanPass, PerturbedScores, unit


@OBJECTIVES.register(
    "attention_iat", "adversarial training of the scores, along the differences between a text's scores"
)
class AttentionIAT(PerturbedScores):
    """r_t = Σ_j α_tj d_tj with d_tj ∝ a_j − a_t, α = ε · g / ‖g‖₂ and g_tj = ∂loss/∂α_tj at 0.

    The paper divides each d_t by its own length. A score is one number, so that g_tj = g_t d_tj, and
    r_t = ε g_t Σ_j d_tj² / ‖g‖₂: with Σ_j d_tj² = 1 for every t this is attention_at, whatever the differences. (The released
    code has the opposite sign, which lowers the loss.) Here all d_t of a text and head are divided by the longest
    of them. Then items that stand out from the others move more, which is what the paper means by differences, and
    ‖r‖₂ ≤ ε still holds. The gradient of a trained model lies on few items, where the two are close: expect little
    difference between them.
    """

    # as attention_at, for comparison; sst2: loss .44 → .73, accuracy .82 → .71
    defaults: ClassVar = {"radius": 1.0}

    def perturbation(self, clean: CleanPass) -> Float[Tensor, "batch heads items"]:
        """Go uphill; an item moves the further, the more its score differs from the others'."""
        return self.radius * combined(clean.slope(), score_contrast(clean.at.detach(), clean.mask))


def combined(
    slope: Float[Tensor, "batch heads items"], contrast: Float[Tensor, "batch heads items"]
) -> Float[Tensor, "batch heads items"]:
    """Σ_j α_tj d_tj for ‖α‖₂ = 1, without the pairs: g_t c_t / (Σ_t g_t² c_t)^½ with c_t = Σ_j d_tj².

    With unit vector u of g_t √c_t, this is u_t √c_t.
    """
    root = contrast.sqrt()
    return unit(slope * root) * root


def score_contrast(
    scores: Float[Tensor, "batch heads items"], mask: Bool[Tensor, "batch 1 items"]
) -> Float[Tensor, "batch heads items"]:
    """Σ_j d_tj² of every item: how much its score differs from the others', 1 for the one that differs most.

    Σ_j (a_j − a_t)² = n · ((a_t − mean)² + variance), so that no pair of items is ever formed.

    >>> score_contrast(torch.tensor([[[0.0, 1.0, 3.0, 9.0]]]), torch.tensor([[[True, True, True, False]]]))
    tensor([[[0.7692, 0.3846, 1.0000, 0.0000]]])
    """
    items = mask.sum(-1, keepdim=True).clamp(min=1)
    mean = scores.masked_fill(~mask, 0.0).sum(-1, keepdim=True) / items
    squares = (scores - mean).square().masked_fill(~mask, 0.0)
    spread = (squares + squares.sum(-1, keepdim=True) / items).masked_fill(~mask, 0.0)
    return spread / spread.amax(-1, keepdim=True).clamp(min=torch.finfo(scores.dtype).tiny)
