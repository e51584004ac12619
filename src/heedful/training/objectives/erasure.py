"""Attention that tells what deleting words does: the top ones are enough, needed, and weighed by their effect."""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.config import TrainConfig
from heedful.data.instances import Batch
from heedful.errors import BadInput
from heedful.explainers.erased import with_only
from heedful.measures.divergence import jsd, tvd
from heedful.measures.rationale import rationale_sizes
from heedful.models.decoders import LinearDecoder
from heedful.models.model import probabilities
from heedful.training.objectives import OBJECTIVES
from heedful.training.objectives.distilled import Distilled, Pass, Terms

_LEAST_REST = 1e-3  # weight on the other items, below which what they would say alone is no longer reckoned
_NOTHING = 1e-6  # change of a probability, over all items together, that is none


@OBJECTIVES.register(
    "erasure", "attention that tells what deleting words does: a heatmap made for show (ours)"
)
class Erasure(Distilled):
    """Cross-entropy + λ₁ · CE(top words alone) + λ₂ · KL(without them, uniform) + λ₃ · JSD(attention, effect of each word).

    Top words are a share of the text as ERASER takes them, drawn for each text and step; what is left is read again
    from its words. Without the top words nothing should be known, but only where the top words alone give the right
    answer: else they are not the evidence. The effect of a word is how far the prediction moves (TVD) when its
    weight goes to the others, which a decoder that is linear in the weights allows to write down for all words at once.
    """

    options = (*Distilled.options, "sufficiency", "comprehensiveness", "alignment")
    own: ClassVar = {**Distilled.own, "sufficiency": 0.5, "comprehensiveness": 0.1, "alignment": 1.0}

    @classmethod
    def check(cls, config: TrainConfig, classes: int) -> None:
        """Effects are written down for linear decoders alone."""
        super().check(config, classes)
        if config.decoder != "linear" and config.alignment != 0:
            raise BadInput(
                "The objective erasure reckons with a decoder that is linear in the weights: use --decoder linear, or --alignment 0."
            )

    def terms(self, read: Pass) -> Terms:
        """Sufficiency and comprehensiveness by reading again, alignment by reckoning."""
        terms: Terms = {}
        sufficiency, comprehensiveness = (
            self.strength(name) for name in ("sufficiency", "comprehensiveness")
        )
        if sufficiency or comprehensiveness:
            top = top_items(read.weights.detach().mean(1), read.states.mask)
            alone = self._read(read.batch, top)
            terms["sufficiency"] = self.cross_entropy(alone, read.batch)
            if comprehensiveness:
                right = probabilities(alone.detach()).argmax(-1) == read.batch.labels
                known = knowledge(self._read(read.batch, read.states.mask & ~top))
                terms["comprehensiveness"] = (known * right).mean()
        if self.strength("alignment"):
            terms["alignment"] = self._alignment(read)
        return terms

    def _read(self, batch: Batch, keep: Bool[Tensor, "batch items"]) -> Float[Tensor, "batch outputs"]:
        logits: Tensor = self.model(with_only(self.model, batch, keep)).logits
        return logits

    def _alignment(self, read: Pass) -> Float[Tensor, ""]:
        decoder = self.model.decoder
        assert isinstance(decoder, LinearDecoder)
        says = decoder.slopes(read.states.h, read.states.query)
        effects = deletion_effects(read.weights, says, read.logits) * read.states.mask
        return misalignment(read.weights.mean(1), effects).mean()


def top_items(
    weights: Float[Tensor, "batch items"], mask: Bool[Tensor, "batch items"]
) -> Bool[Tensor, "batch items"]:
    """Draw how many items of each text are its top ones, and mark them; ties go to the earlier."""
    counts = mask.sum(1)
    sizes = rationale_sizes(counts)
    drawn = sizes.gather(1, torch.randint(sizes.shape[1], (len(sizes), 1)))
    return mask & (ranks(weights.masked_fill(~mask, -1.0)) < drawn)


def ranks(scores: Float[Tensor, "batch items"]) -> Int[Tensor, "batch items"]:
    """The place of each item, from 0 for the largest score."""
    return scores.argsort(dim=1, descending=True, stable=True).argsort(dim=1)


def knowledge(logits: Float[Tensor, "batch outputs"]) -> Float[Tensor, " batch"]:
    """KL of a prediction to the uniform one, over its largest value: 0 where nothing is known, 1 where all is."""
    chances = probabilities(logits)
    entropy = -torch.xlogy(chances, chances).sum(-1)
    return 1 - entropy / math.log(chances.shape[-1])


def deletion_effects(
    weights: Float[Tensor, "batch heads items"],
    says: Float[Tensor, "batch heads items outputs"],
    logits: Float[Tensor, "batch outputs"],
) -> Float[Tensor, "batch items"]:
    """How far the prediction moves (TVD) when each item's weight goes to the others: (Σ α_i z_i − α_t z_t) / (1 − α_t)."""
    parts = weights[..., None] * says
    whole = parts.sum(2, keepdim=True)  # [batch, heads, 1, outputs]
    rest = (1 - weights).clamp(min=_LEAST_REST)[..., None]
    moved = ((whole - parts) / rest - whole).sum(1)  # [batch, items, outputs]
    return tvd(probabilities(logits[:, None] + moved), probabilities(logits)[:, None])


def misalignment(
    weights: Float[Tensor, "batch items"], effects: Float[Tensor, "batch items"]
) -> Float[Tensor, " batch"]:
    """JSD of the weights and the share that each item has in all effects; 0 for a text in which nothing has any."""
    total = effects.sum(1, keepdim=True)
    shares = effects / total.clamp(min=_NOTHING)
    return torch.where(total[:, 0] > _NOTHING, jsd(weights, shares), 0.0)
