"""Attention that is no longer the model's own: what a heatmap is when the model was right for other reasons."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from heedful.models.attention import Attention
from heedful.models.classifier import Classifier
from heedful.models.model import AttentionModel

Alteration = Literal["displaced", "borrowed", "redrawn", "uniform"]


class Displaced(nn.Module):
    """Attention whose weights stand half a text further on than where they belong."""

    def __init__(self, attention: Attention) -> None:
        super().__init__()
        self.inner = attention
        self.similarity = attention.similarity
        self.temperature, self.normaliser = attention.temperature, attention.normaliser

    def score(self, h: Tensor, query: Tensor | None) -> Float[Tensor, "batch heads items"]:
        """Score as before."""
        return self.inner.score(h, query)

    def normalise(
        self, scores: Float[Tensor, "batch heads items"], mask: Bool[Tensor, "batch items"]
    ) -> Float[Tensor, "batch heads items"]:
        """Give each real item the weight of the one half a text before it."""
        weights = self.inner.normalise(scores, mask)
        count = mask.sum(1, keepdim=True).clamp(min=1)
        rank = (mask.long().cumsum(1) - 1).clamp(min=0)
        places = (~mask).to(torch.int8).argsort(dim=1, stable=True)  # real items first, in order
        source = places.gather(1, (rank - count // 2) % count)
        return weights.gather(2, source[:, None].expand_as(weights)) * mask[:, None]


def alter(
    classifier: Classifier, how: Alteration, *, lender: Classifier | None = None, seed: int = 1
) -> Classifier:
    """Give the classifier with other attention; the given one stays as it is."""
    model = deepcopy(classifier.model)
    attention = model.attention
    assert attention is not None
    match how:
        case "displaced":
            model.attention = Displaced(attention)  # type: ignore[assignment]
        case "borrowed":
            assert lender is not None and lender.model.attention is not None
            attention.load_state_dict(lender.model.attention.state_dict())
        case "redrawn":
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                drawn = AttentionModel(model.architecture).attention
            assert drawn is not None
            attention.load_state_dict(drawn.state_dict())
        case "uniform":
            for parameter in attention.parameters():
                nn.init.zeros_(parameter)
    return replace(classifier, model=model.eval())
