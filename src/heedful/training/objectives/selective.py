"""Select, then predict: words without attention are not needed, because the text is read again without them."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from heedful.config import TrainConfig
from heedful.errors import BadInput
from heedful.explainers.explainer import item_of
from heedful.explainers.reread import with_only
from heedful.training.objectives.distilled import Distilled, ForwardPass, Terms
from heedful.training.objectives.objective import OBJECTIVES


@OBJECTIVES.register(
    "selective", "select, then predict: only words with weight are read again (sparse normalisers)"
)
class Selective(Distilled):
    """Cross-entropy + λ₁ · CE(words with weight alone) + λ · (1 − Σα²).

    A sparse normaliser gives most words no weight at all; the text is read again with only the others. Leaving words out
    has no gradient: the second reading passes the gradient of each remaining word straight to its weight, as if its
    embedding were multiplied by it. 1 − Σα² is 0 if one word has all the weight, and so favours few words.
    """

    options = (*Distilled.options, "sufficiency", "pressure")
    defaults: ClassVar = {**Distilled.defaults, "sufficiency": 1.0, "pressure": 0.1}

    @classmethod
    def check(cls, config: TrainConfig, classes: int) -> None:
        """Some words must have no weight."""
        super().check(config, classes)
        if config.normaliser == "softmax":
            raise BadInput(
                "The objective selective reads words with weight again, and softmax gives every word some: use "
                "--normaliser sparsemax or entmax15."
            )

    def terms(self, read: ForwardPass) -> Terms:
        """Read the words with weight again, and measure how spread the weights are."""
        weights = read.weights.mean(1)
        batch = read.batch
        of = item_of(self.model, batch)
        by_token = weights.gather(1, of.clamp(min=0)) * (of >= 0)
        embedded = self.model.embed(batch).detach()
        passed = embedded * (by_token - by_token.detach())[..., None]  # zero, with a gradient
        shift = passed if batch.tokens.shift is None else batch.tokens.shift + passed
        batch = replace(batch, tokens=batch.tokens.shifted(shift))
        again = self.model(with_only(self.model, batch, weights.detach() > 0)).logits
        return {
            "sufficiency": self.cross_entropy(again, batch),
            "pressure": weight_spread(read.weights).mean(),
        }


def weight_spread(weights: Float[Tensor, "batch heads items"]) -> Float[Tensor, " batch"]:
    """1 − Σα², averaged over heads: the probability that two draws from the weights are different items."""
    return (1 - weights.square().sum(-1)).mean(1)
