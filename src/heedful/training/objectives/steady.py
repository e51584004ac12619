"""Steady: attention that holds still under noise, measured against how sharp it is."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from heedful.data.instances import Batch
from heedful.measures.divergence import NOWHERE, jsd, sharpness, tvd
from heedful.measures.norms import project, steepest
from heedful.models.model import probabilities
from heedful.training.objectives.anchored import Anchored, Terms
from heedful.training.objectives.objective import OBJECTIVES
from heedful.training.recorded import Recorded, RecordedBatch


@OBJECTIVES.register("steady", "attention that holds still under noise and stays as sharp as it was (ours)")
class Steady(Anchored):
    """λ₀ · D₁(vanilla, ours) + λ · JSD(w, w′) / (S(w) + S(w′)) + TVD(p, p′) + λ₂ · [JSD(w, v) + |S(w) − S(v)|].

    w′ and p′ come from embeddings with noise, v are the vanilla model's weights, and S is sharpness, the JSD to uniform.
    Instability alone is smallest for flat attention, so it is taken relative to sharpness; and the whole heatmap is kept
    close to the vanilla one, not only its top k as in SEAT, because weights can become flat and keep their order. JSD grows
    with the square of a small change, so that flattening every heatmap a little would cost next to nothing: lost sharpness
    counts separately, and so does gained sharpness, because sharpening every heatmap also lowers the relative instability.
    The encoder must be trained too: a heatmap that keeps its place becomes steadier only if the states do.
    """

    options: ClassVar[tuple[str, ...]] = (
        "base",
        "closeness",
        "stability",
        "overlap",
        "top_k",
        "radius",
        "trained",
        "steps",
        "noise",
        "unknown",
    )
    metric = "steady"
    # Smaller noise has the same effect with a larger λ: instability grows with its square. With λ₀ = 1 predictions are
    # kept less well if there are few texts to learn from, and F1 suffers.
    defaults: ClassVar = {
        "radius": 0.05,
        "closeness": 10.0,
        "stability": 60.0,
        "overlap": 2.0,
        "trained": "all",
        "unknown": 0.2,
    }
    # MiniLM's attention is a sixtieth as sharp as a BiLSTM's, and distances to it are as small: with 60 it loses a third of
    # its sharpness, with 1500 little is gained (2,000 texts of sst2, on dev).
    transformer_defaults: ClassVar = {"overlap": 600.0}
    max_learning_rate = 1e-3
    max_epochs = 20  # with few texts, attention keeps becoming steadier for this long
    patience_factor = 3  # on a dev set of some hundred texts its loss fluctuates while it falls

    def terms(self, batch: Batch, base: Recorded | RecordedBatch, *, fresh: bool = False) -> Terms:
        """Closeness, instability, change of the prediction, and distance to vanilla's heatmap and to its sharpness."""
        logits, weights, mask = self._read_both(batch, self._noise(batch, fresh=fresh))
        clean, noisy = weights.chunk(2)
        clean_probabilities, noisy_probabilities = probabilities(logits).chunk(2)
        theirs = base.weights(batch.rows, weights.shape[-1])
        return {
            "instability": self.moved(clean, noisy, mask).mean(1),
            "change": tvd(clean_probabilities, noisy_probabilities),
            "distance": jsd(clean, theirs).mean(1),
            "resharpening": (sharpness(clean, mask[:, None]) - sharpness(theirs, mask[:, None]))
            .abs()
            .mean(1),
            **self.close(logits[: len(batch)], clean, mask, batch, base),
        }

    def total(self, terms: Terms) -> Float[Tensor, " batch"]:
        """Add up all terms except those that are only logged: the top-k loss and the true overlap."""
        closeness: float = self.option("closeness")
        return (
            closeness * terms["closeness"]
            + self.stability * terms["instability"]
            + terms["change"]
            + self.overlap * (terms["distance"] + terms["resharpening"])
        )

    def varied(self, batch: Batch) -> tuple[Batch, Recorded | RecordedBatch]:
        """Read a share of the words as unknown."""
        share: float = self.option("unknown")
        if share == 0 or self.unknown_word is None:
            return super().varied(batch)
        tokens = batch.tokens
        chosen = tokens.mask & (torch.rand(tokens.ids.shape) < share)
        ids = tokens.ids.masked_fill(chosen, self.unknown_word)
        other = replace(batch, tokens=replace(tokens, ids=ids), rows=torch.arange(len(batch)))
        return other, RecordedBatch(self.base, other)

    def moved(
        self,
        w: Float[Tensor, "batch heads items"],
        v: Float[Tensor, "batch heads items"],
        mask: Bool[Tensor, "batch items"],
    ) -> Float[Tensor, "batch heads"]:
        """Return how far apart two heatmaps are, relative to their sharpness."""
        return relative_jsd(w, v, mask)

    def _read_both(
        self, batch: Batch, shift: Float[Tensor, "batch tokens dim"]
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Read each text without and with the shift, in one batch: first logits and weights as they are, then shifted."""
        twice = batch.take(torch.arange(len(batch)).repeat(2))
        both = twice.tokens.shifted(torch.cat([torch.zeros_like(shift), shift]))
        states = self.model.encode(self.model.embed(twice := replace(twice, tokens=both)), twice)
        weights = self.model.normalise(self.model.score(states), states.mask)
        return self.model.decode(states, weights), weights, states.mask[: len(batch)]

    def _noise(self, batch: Batch, *, fresh: bool) -> Float[Tensor, "batch tokens dim"]:
        """Normal noise on every real token; the same at every evaluation, so that epochs can be compared."""
        with torch.no_grad():
            size = self.model.embed(batch).shape
        generator = None if fresh else torch.Generator().manual_seed(0)
        real = batch.tokens.mask[..., None]
        noise = self.radius * torch.randn(size, generator=generator) * real
        return self._worse(batch, noise) if self.config.noise == "adversarial" else noise

    def _worse(
        self, batch: Batch, noise: Float[Tensor, "batch tokens dim"]
    ) -> Float[Tensor, "batch tokens dim"]:
        """Climb from drawn noise to noise of the same length that moves the heatmap more, text by text."""
        shape = noise.shape
        length = torch.linalg.vector_norm(noise.flatten(1), dim=1, keepdim=True).clamp(min=1e-30)
        unit = noise.flatten(1) / length
        with torch.enable_grad():
            for _ in range(self.config.steps):
                unit = unit.detach().requires_grad_()
                _, weights, mask = self._read_both(batch, (unit * length).view(shape))
                clean, noisy = weights.chunk(2)
                (slope,) = torch.autograd.grad(self.moved(clean, noisy, mask).sum(), unit)
                climbed = unit.detach() + steepest(slope, "l2") * (2 / self.config.steps)
                unit = project(climbed, radius=1.0, norm="l2", surface=True)
        worst: Tensor = (unit * length).view(shape)
        return worst


def relative_jsd(
    w: Float[Tensor, "batch heads items"],
    v: Float[Tensor, "batch heads items"],
    mask: Bool[Tensor, "batch items"],
) -> Float[Tensor, "batch heads"]:
    """JSD of two heatmaps over how far both are from uniform; 0 for flat ones, which cannot move."""
    sharp = sharpness(w, mask[:, None]) + sharpness(v, mask[:, None])
    return torch.where(sharp > NOWHERE, jsd(w, v) / sharp.clamp(min=NOWHERE), 0.0)
