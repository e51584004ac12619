"""Trained against the exact adversary of the counterfactual audit: no other heatmap gives the same prediction."""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from heedful.config import TrainConfig
from heedful.errors import BadInput
from heedful.measures.counterfactual import eps_max_jsd
from heedful.measures.divergence import LN_2, jsd
from heedful.models.decoders import LinearDecoder
from heedful.training.objectives.distilled import Distilled, ForwardPass, Terms
from heedful.training.objectives.objective import OBJECTIVES

_EPSILON = 0.01  # how far the adversary may move the prediction: as in the audit
_TINY = 1e-6


@OBJECTIVES.register(
    "unreplaceable", "as little room as possible for other heatmaps with the same prediction (ours)"
)
class Unreplaceable(Distilled):
    """Cross-entropy + λ · ε-max JSD / ln 2, the true maximum, with its gradient.

    The heatmap that is farthest and gives the same prediction lies on one item, or on two whose shares put the
    prediction on the edge of what is allowed. Which items they are is found by trying all; the shares are a
    function of the items' logits, and so the maximum has a gradient wherever the items stay the same.
    """

    options = (*Distilled.options, "pressure")
    defaults: ClassVar = {**Distilled.defaults, "pressure": 0.5}

    @classmethod
    def check(cls, config: TrainConfig, classes: int) -> None:
        """The maximum is exact for two classes, one head and a linear decoder."""
        super().check(config, classes)
        if classes != 2 or config.heads != 1 or config.decoder != "linear":
            raise BadInput(
                "The objective unreplaceable needs two classes, one head and a linear decoder: use another objective."
            )

    def terms(self, read: ForwardPass) -> Terms:
        """ε-max JSD, averaged over texts, in [0, 1]."""
        decoder = self.model.decoder
        assert isinstance(decoder, LinearDecoder)
        slopes = decoder.slopes(read.states.h, read.states.query)[:, 0, :, 0]
        rest = read.logits - (read.weights[:, 0] * slopes).sum(1, keepdim=True)
        room = farthest_jsd(read.weights[:, 0], slopes + rest, read.states.mask, epsilon=_EPSILON)
        return {"pressure": room.mean() / LN_2}


def farthest_jsd(
    weights: Float[Tensor, "batch items"],
    item_logits: Float[Tensor, "batch items"],
    mask: Bool[Tensor, "batch items"],
    *,
    epsilon: float,
) -> Float[Tensor, " batch"]:
    """`eps_max_jsd` with a gradient: the maximum as a function of the weights and the items' logits."""
    there = mask.any(1)
    full = mask | ~there[:, None]  # a text without items has no adversary, and must not disturb the others
    filled = torch.where(there[:, None], weights, 1.0)
    found = eps_max_jsd(filled.detach(), item_logits.detach(), full, epsilon).weights.to(weights.dtype)
    logit = (weights * item_logits).sum(1)
    shares, items = found.topk(min(2, found.shape[1]), dim=1)
    two = (found > 0).sum(1) == 2
    if not two.any():
        return jsd(weights, found, mask) * there
    first, second = item_logits.gather(1, items).unbind(1)
    # The edge on which the pair lies: the nearer of the two.
    edges = torch.stack([_moved(logit, -epsilon), _moved(logit, epsilon)])
    at = (shares * item_logits.gather(1, items)).sum(1).detach()
    edge = edges.gather(0, (edges.detach() - at).abs().argmin(0, keepdim=True))[0]
    gap = torch.where(two, first - second, 1.0)
    share = torch.where(two, (edge - second) / gap, 1.0).clamp(0, 1)
    pair = torch.zeros_like(found).scatter(1, items, torch.stack([share, 1 - share], dim=1))
    return jsd(weights, torch.where(two[:, None], pair, found), mask) * there


def _moved(logit: Float[Tensor, " batch"], by: float) -> Float[Tensor, " batch"]:
    """Return the logit of a probability that has moved by this much; a large one if there is no such probability."""
    return torch.logit((logit.sigmoid() + by).clamp(_TINY, 1 - _TINY))
