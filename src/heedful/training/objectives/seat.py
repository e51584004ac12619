"""SEAT: attention that keeps predictions and top items, and whose small changes matter little."""

from __future__ import annotations

from typing import ClassVar, Literal, cast

from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from heedful.config import ModelOptions, Norm, ObjectiveOptions, TrainConfig
from heedful.data.instances import Batch
from heedful.errors import BadInput
from heedful.measures.inner_maximum import exact_maximum, prediction_kl, searched_maximum
from heedful.models.decoders import LinearDecoder
from heedful.models.stages import States
from heedful.training.objectives.anchored import Anchored, Terms
from heedful.training.objectives.objective import OBJECTIVES
from heedful.training.recorded import Recorded, RecordedBatch


class SeatOptions(ObjectiveOptions):
    """Options of this objective only."""

    norm: Norm = Field("linf", description="Norm that bounds the perturbation of the weights (seat).")
    inner: Literal["exact", "pgd"] | None = Field(
        None,
        description="Inner maximum: in closed form, which binary linear decoders allow, or by search (seat).",
    )


@OBJECTIVES.register("seat", "stable attention that keeps a vanilla model's predictions and top words (SEAT)")
class Seat(Anchored):
    """D₁(vanilla, ours) + λ₁ · max over ‖δ‖ ≤ R of D₂(ours, ours under α + δ) + λ₂ · L_topk (Equation 6).

    D is the KL divergence: the paper's cross-entropy less the entropy of the prediction that is kept, so that it
    is 0 where nothing changes. δ is one vector over all heads and real items of a text.
    """

    options = ("base", "stability", "overlap", "top_k", "radius", "norm", "trained", "inner", "steps")
    config: SeatOptions
    metric = "seat"
    # λ₁ and λ₂ are the paper's, which does not give a radius; the radius is from the released code.
    defaults: ClassVar = {"radius": 1e-3, "stability": 1.0, "overlap": 1000.0, "trained": "attention"}

    @classmethod
    def check(cls, config: TrainConfig, classes: int) -> None:
        """The closed form needs two classes and a linear decoder."""
        super().check(config, classes)
        if cast(SeatOptions, config).inner == "exact" and not _closed(config, classes):
            raise BadInput(
                "The inner maximum has a closed form for two classes and a linear decoder only: use --inner pgd."
            )

    @property
    def exact(self) -> bool:
        """Whether the inner maximum is taken in closed form."""
        a = self.model.architecture
        return self.config.inner != "pgd" and _closed(a, a.classes)

    def terms(self, batch: Batch, base: Recorded | RecordedBatch, *, fresh: bool = False) -> Terms:
        """Closeness, stability, top-k loss, and the true overlap."""
        states = self.model.encode(self.model.embed(batch), batch)
        weights = self.model.normalise(self.model.score(states), states.mask)
        logits = self.model.decode(states, weights)
        stability = self.inner_maximum(states, weights, logits)
        return {"stability": stability, **self.close(logits, weights, states.mask, batch, base)}

    def total(self, terms: Terms) -> Float[Tensor, " batch"]:
        """Equation 6."""
        return terms["closeness"] + self.stability * terms["stability"] + self.overlap * terms["top_k_loss"]

    def inner_maximum(
        self,
        states: States,
        weights: Float[Tensor, "batch heads items"],
        logits: Float[Tensor, "batch outputs"],
    ) -> Float[Tensor, " batch"]:
        """max over ‖δ‖ ≤ R of D₂, text by text; `logits` are the model's without a perturbation."""
        norm = self.config.norm
        if self.exact:
            decoder = self.model.decoder
            assert isinstance(decoder, LinearDecoder)
            slopes = decoder.slopes(states.h, states.query)[..., 0] * states.mask[:, None]
            return exact_maximum(logits[:, 0], slopes.flatten(1), radius=self.radius, norm=norm)

        def moved(delta: Float[Tensor, "batch places"]) -> Float[Tensor, " batch"]:
            return prediction_kl(logits, self.model.decode(states, weights + delta.view(weights.shape)))

        mask = states.mask[:, None].expand(weights.shape).flatten(1)
        return moved(searched_maximum(moved, mask, radius=self.radius, norm=norm, steps=self.config.steps))


def _closed(shape: ModelOptions, classes: int) -> bool:
    return shape.decoder == "linear" and classes == 2
