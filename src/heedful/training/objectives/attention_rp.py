"""Random perturbation of attention scores: what adversarial training is compared with."""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.measures.streams import uniform_by_instance
from heedful.training.objectives.objective import OBJECTIVES
from heedful.training.objectives.perturbed import CleanPass, PerturbedScores, unit


@OBJECTIVES.register("attention_rp", "random noise on the attention scores, as far as attention_at goes")
class AttentionRP(PerturbedScores):
    """r = ε · n / ‖n‖₂, n Gaussian over all heads and items of a text.

    Kitada & Iyatomi and SEAT only say that attention is trained under random perturbation. Here loss and length are those
    of `attention_at`, so that the two differ in the direction alone. A text gets another direction in every epoch.
    """

    # as attention_at, for comparison; a random direction does little (sst2: loss .44 → .45)
    defaults: ClassVar = {"radius": 1.0}

    def perturbation(self, clean: CleanPass) -> Float[Tensor, "batch heads items"]:
        """Go anywhere as far as allowed."""
        # Every epoch begins by seeding torch: a repeated epoch has the same noise, and the next one has other noise.
        noise = directions(clean.batch.rows, clean.mask, clean.at.shape[1], seed=torch.initial_seed())
        return self.radius * noise.to(clean.at.dtype)


def directions(
    rows: Int[Tensor, " batch"], mask: Bool[Tensor, "batch 1 items"], heads: int, *, seed: int
) -> Float[Tensor, "batch heads items"]:
    """Draw random unit vectors, one for each text, independent of batch and padding."""
    items = mask.shape[-1]
    # The heads of one item are adjacent, so that an item's numbers do not depend on how many items there are.
    uniform = uniform_by_instance(rows, items * heads, seed=seed).view(-1, items, heads).transpose(1, 2)
    gaussian = torch.special.ndtri(uniform.clamp(min=2.0**-54))
    return unit(gaussian.masked_fill(~mask, 0.0))
