"""Keep the states of a text apart, so that a weight says something about its own state (Mohankumar et al., 2020)."""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from heedful.models.encoders.encoder import mean_pool
from heedful.training.objectives.distilled import Distilled, ForwardPass, Terms
from heedful.training.objectives.objective import OBJECTIVES


@OBJECTIVES.register("diverse", "hidden states of a text kept apart (Mohankumar et al.)")
class Diverse(Distilled):
    """Cross-entropy + λ · conicity of the states that attention mixes."""

    options = (*Distilled.options, "pressure")
    defaults: ClassVar = {**Distilled.defaults, "pressure": 0.5}  # the paper's λ lies between 0.1 and 1

    def terms(self, read: ForwardPass) -> Terms:
        """Conicity, averaged over texts."""
        return {"pressure": conicity(read.states.h, read.states.mask).mean()}


def conicity(
    h: Float[Tensor, "batch items size"], mask: Bool[Tensor, "batch items"]
) -> Float[Tensor, " batch"]:
    """Mean cosine of a text's states to their mean: 1 where all point the same way.

    >>> conicity(torch.tensor([[[1.0, 0.0], [0.0, 1.0]]]), torch.tensor([[True, True]]))
    tensor([0.7071])
    """
    mean = mean_pool(h, mask)
    cosines = torch.where(mask, nn.functional.cosine_similarity(h, mean[:, None], dim=-1), 0.0)
    return cosines.sum(1) / mask.sum(1).clamp(min=1)
