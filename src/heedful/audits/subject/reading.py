"""A batch as the model read it: the states stay as they are, and its weights can be replaced by any others."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.audits.subject.ties import (
    PROBABILITY_ROUNDING,
    ROUNDING,
    relative_uncertainty,
    settled,
    settled_weights,
)
from heedful.data.instances import Batch
from heedful.errors import BadInput
from heedful.explainers.blocks import tell, told_of_blocks
from heedful.explainers.explainer import EXPLAINERS, is_mirrored, speaks_for_classes
from heedful.measures.divergence import tvd
from heedful.models.shorter import decode_each, decode_many, to_the_end
from heedful.models.stages import NO_ATTENTION, Effects, Scored, Stages, States, probabilities

if TYPE_CHECKING:
    from heedful.audits.questions.losses import DeletionLosses

_DIFFERENCES = ("leave_one_out", "signed_leave_one_out", "item_alone")
"""Explainers whose scores are differences of probabilities."""

SAME = 0.05
"""A prediction that changes by no more than this (TVD) under uniform weights does not need attention."""


@dataclass(frozen=True)
class Reading:
    """What audits ask about. Every method keeps the states fixed and is exact for any decoder and any heads."""

    model: Stages
    batch: Batch
    states: States
    attended: Float[Tensor, "batch heads items"] | None
    """The model's own weights; None where it has no attention."""
    seed: int = 0
    user_scores: Float[Tensor, "batch items"] | None = None
    """Scores that the user gave."""
    exact: bool = False
    """Whether leave-one-out reads long texts again without each of their items, however long that takes."""
    _scores: dict[str, Tensor] = field(default_factory=dict, repr=False)
    _in_blocks: dict[str, set[int]] = field(default_factory=dict, repr=False)
    """Of scores, the texts whose items were deleted in blocks."""
    losses: dict[tuple[int, bytes], DeletionLosses] = field(default_factory=dict, repr=False)
    """What deleting words in an order loses, so that no order is read twice."""

    @property
    def rows(self) -> Int[Tensor, " batch"]:
        """Where each instance stands in its split."""
        return self.batch.rows

    @property
    def mask(self) -> Bool[Tensor, "batch items"]:
        """Which items are real."""
        return self.states.mask

    @property
    def weights(self) -> Float[Tensor, "batch heads items"]:
        """The model's own weights; an error for a model without attention."""
        if self.attended is None:
            raise BadInput(NO_ATTENTION)
        return self.attended

    @cached_property
    def logits(self) -> Float[Tensor, "batch outputs"]:
        """The model's output."""
        with torch.no_grad():
            if self.attended is None:
                return self.model.decode(self.states, None).double()
            return self.decode(self.weights[:, None])[:, 0]

    @cached_property
    def probabilities(self) -> Float[Tensor, "batch classes"]:
        """Class probabilities."""
        return probabilities(self.logits)

    @cached_property
    def effects(self) -> Effects | None:
        """How the logits follow from the weights, if they are linear in them."""
        with torch.no_grad():
            return self.model.effects(self.states)

    @cached_property
    def linear(self) -> bool:
        """Whether the logits are a mean of per-item logits under one set of weights: then exact answers exist."""
        return self.effects is not None and self.weights.shape[1] == 1

    @cached_property
    def item_logits(self) -> Float[Tensor, "batch items outputs"]:
        """The logits when every head attends to one item alone; if `linear`, their weighted mean is the model's output."""
        with torch.no_grad():
            return decode_each(self.model, self.states, self.weights.shape[1]).double()

    @cached_property
    def empty_logits(self) -> Float[Tensor, "batch outputs"]:
        """The decoder's output for the zero vector, which is left when every item is erased."""
        if self.effects is not None:
            return self.effects.rest.double()
        with torch.no_grad():
            return self.model.decode(self.states, torch.zeros_like(self.weights)).double()

    @cached_property
    def needless(self) -> Bool[Tensor, " batch"]:
        """Whether a prediction does not need attention: it is the same when all items have the same weight.

        Without attention this cannot be asked, and all predictions count.
        """
        if self.attended is None:
            return torch.zeros(len(self.mask), dtype=torch.bool)
        alike = self.mask / self.mask.sum(1, keepdim=True).clamp(min=1)
        with torch.no_grad():
            flat = self.decode(alike[:, None, None].expand(-1, 1, self.weights.shape[1], -1))
        return tvd(probabilities(flat[:, 0]), self.probabilities) <= SAME

    def scores(self, name: str) -> Float[Tensor, "batch items"]:
        """Scores of an explainer by its name, of the attention, or of the user ('own'), with ties made exact."""
        if name not in self._scores:
            with told_of_blocks() as in_blocks, to_the_end(self.exact):
                raw = self._raw_scores(name)
            self._in_blocks[name] = in_blocks
            found = settled(raw, self.mask, uncertain=self._uncertain(name, raw))
            self._scores[name] = self._attended(found) if name == "attention" else found
        tell(self._in_blocks.get(name, ()))  # whoever asks next is told too
        return self._scores[name]

    def class_scores(self, name: str) -> Float[Tensor, "batch classes items"]:
        """Scores for every class by an explainer that speaks for any; of another, those of the decision alone."""
        if name in ("attention", "own") or not speaks_for_classes(name):
            return self.scores(name)[:, None]
        decided = torch.nn.functional.one_hot(self.probabilities.argmax(-1), self.probabilities.shape[1])
        if decided.shape[1] == 2 and is_mirrored(name):
            return self.scores(name)[:, None] * (2 * decided - 1)[..., None]
        explainer: Any = EXPLAINERS.get(name)  # one that takes classes
        found = []
        for number in range(decided.shape[1]):
            asked = torch.full((len(self.mask),), number)
            with to_the_end(self.exact):
                raw = explainer(self.model, self.batch, seed=self.seed, classes=asked)
            found.append(settled(raw, self.mask, uncertain=self._uncertain(name, raw)))
        every = torch.stack(found, 1)
        self._scores.setdefault(name, (every * decided[..., None]).sum(1))
        return every

    def decode(
        self, weights: Float[Tensor, "batch variants heads items"]
    ) -> Float[Tensor, "batch variants outputs"]:
        """Return logits under other weights, many for each instance, in float64. Weights that sum to 0 give the zero vector."""
        weights = weights.to(torch.float64 if self.linear else self.states.h.dtype)
        if self.linear:
            single = weights[:, :, 0]
            left_out = 1 - single.sum(-1, keepdim=True)
            return (
                torch.einsum("bvn,bnk->bvk", single, self.item_logits) + left_out * self.empty_logits[:, None]
            )
        return decode_many(self.model, self.states, weights).double()

    def erase_all_but(
        self, keep: Bool[Tensor, "batch variants items"]
    ) -> Float[Tensor, "batch variants outputs"]:
        """Return the logits when all other items are erased: their weights are set to zero and the rest is scaled up."""
        left = self.weights.double()[:, None] * keep[:, :, None]
        with torch.no_grad():
            return self.decode(left / left.sum(-1, keepdim=True).clamp(min=torch.finfo(torch.float64).tiny))

    def _uncertain(self, name: str, raw: Float[Tensor, "batch items"]) -> Float[Tensor, "batch items"]:
        """How far each score of an explainer may be off, in single precision.

        Weights, and scores that are used as given, in proportion to themselves. Gradients and the scores of surrogates are
        sums in which large parts cancel, so they are off in proportion to the largest of the text. If an item's score is its
        weight times such a sum, the error is in proportion to the weight too; otherwise all items but one of a sharp heatmap
        would be ties.
        """
        if name in ("attention", "own", "random"):
            return relative_uncertainty(raw, self.mask)
        sizes = raw.detach().double().abs().masked_fill(~self.mask, 0.0)
        attended = self.attended is not None
        if name == "weight_product" or (name == "gradient" and attended and not self.model.contextual):
            weights = self.weights.double().mean(1)
            per_weight = sizes / weights.clamp(min=torch.finfo(torch.float32).tiny)
            return ROUNDING * weights * per_weight.amax(1, keepdim=True)
        least = PROBABILITY_ROUNDING if name in _DIFFERENCES else 0.0
        return (ROUNDING * sizes.amax(1, keepdim=True)).clamp(min=least).expand_as(sizes)

    def _attended(self, weights: Float[Tensor, "batch items"]) -> Float[Tensor, "batch items"]:
        """Compute the weights from the model's scores in double precision, if they are those it was read with."""
        if not isinstance(self.model, Scored):
            return weights
        with torch.no_grad():
            exact = settled_weights(self.model.score(self.states), self.mask, self.model.normalise)
        same = torch.isclose(exact, self.weights.double().mean(1), rtol=1e-3, atol=1e-6).all(1, keepdim=True)
        return torch.where(same, exact, weights)

    def _raw_scores(self, name: str) -> Float[Tensor, "batch items"]:
        if name == "attention":
            return self.weights.mean(1)
        if name == "own":
            assert self.user_scores is not None
            return self.user_scores
        return EXPLAINERS.get(name)(self.model, self.batch, seed=self.seed)


def as_audited(model: Stages) -> Stages:
    """Return a model as audits read it. If its items are encoded one by one, double precision costs little, and then no
    near tie depends on the batch.
    """
    return model if model.contextual else model.exact()


def read_batch(model: Stages, batch: Batch, *, seed: int = 0, exact: bool = False) -> Reading:
    """Run the first three stages on a batch."""
    with torch.no_grad():
        states = model.encode(model.embed(batch), batch)
        weights = model.attend(states)
    return Reading(model, batch, states, weights, seed, exact=exact)
