"""What adversarial objectives share: the loss of a clean batch, and that of the perturbed batch.

The perturbation is a constant of the step: it is found from the clean pass by the gradient with respect to what is
perturbed, and no gradient flows through it. That pass is also used for the clean loss. Dropout
acts as in any training step: the perturbation is found under the dropout of the clean pass, the perturbed pass draws its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from heedful.data.instances import Batch
from heedful.models.stages import States
from heedful.training.objectives.objective import Objective


@dataclass(frozen=True)
class CleanPass:
    """A pass over an unchanged batch, and the tensor that is going to be perturbed."""

    batch: Batch
    at: Float[Tensor, "batch a b"]
    """What is perturbed: embeddings [batch, tokens, dim], or scores [batch, heads, items]."""
    mask: Bool[Tensor, "batch _ _"]
    """Where it may be perturbed: neither padding nor special tokens."""
    logits: Float[Tensor, "batch outputs"]
    gradient: Float[Tensor, "batch a b"] | None = None
    """Of the loss with respect to what is perturbed, if it is already known."""

    def slope(self) -> Float[Tensor, "batch a b"]:
        """Gradient of each text's own loss, as a unit vector; zero where the loss is flat.

        Class weights scale a text's loss and do not change the direction of its gradient; they are left out.
        """
        gradient = self.gradient
        if gradient is None:
            loss = summed_cross_entropy(self.logits, self.batch)
            (gradient,) = torch.autograd.grad(loss, self.at, retain_graph=True)
        return unit(gradient.masked_fill(~self.mask, 0.0))


class Perturbed(Objective):
    """Cross-entropy of the batch + λ · cross-entropy of the perturbed batch; subclasses say what is perturbed."""

    options: ClassVar[tuple[str, ...]] = ("radius", "adversarial")
    # No paper states a radius that fits here: each is ours, chosen on a vanilla BiLSTM of sst2 so that the perturbed
    # dev loss is well above the clean one and most predictions still hold.
    defaults: ClassVar[Mapping[str, float]]

    @property
    def radius(self) -> float:
        """How far a perturbation may go."""
        return float(self.option("radius"))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Cross-entropy of both batches."""
        clean = self.read(batch)
        loss = self.cross_entropy(clean.logits, batch)
        if self.config.adversarial == 0:
            return loss
        clean, loss = self.go_back(clean, loss)
        perturbed = self.reread(clean, self.perturbation(clean).detach())
        return loss + self.config.adversarial * self.cross_entropy(perturbed, batch)

    def read(self, batch: Batch) -> CleanPass:
        """Run the model on an unchanged batch."""
        raise TypeError(f"{type(self).__name__} does not read")

    def reread(self, clean: CleanPass, shift: Float[Tensor, "batch a b"]) -> Float[Tensor, "batch outputs"]:
        """Run the model again from where it is perturbed."""
        raise TypeError(f"{type(self).__name__} does not read again")

    def perturbation(self, clean: CleanPass) -> Float[Tensor, "batch a b"]:
        """Compute what is added, for each text independently."""
        raise TypeError(f"{type(self).__name__} does not perturb")

    def go_back(self, clean: CleanPass, loss: Float[Tensor, ""]) -> tuple[CleanPass, Float[Tensor, ""]]:
        """Compute gradients that both the perturbation and the step need, if doing it once saves time."""
        return clean, loss


class PerturbedWords(Perturbed):
    """Perturbs the embeddings of the text that is attended to; a query stays as it is.

    The radius is in units of the root mean square of a text's own embedding entries. Miyato et al. scale embeddings to unit
    variance instead, so that a model cannot make them large and every perturbation small; this has the same effect without
    changing the vectors.
    """

    def read(self, batch: Batch) -> CleanPass:
        """Run all stages."""
        embedded = with_gradient(self.model.embed(batch))
        return CleanPass(batch, embedded, batch.tokens.mask[..., None], self._logits(embedded, batch))

    def reread(
        self, clean: CleanPass, shift: Float[Tensor, "batch tokens dim"]
    ) -> Float[Tensor, "batch outputs"]:
        """Encode, attend and decode again."""
        return self._logits(clean.at + shift, clean.batch)

    def go_back(self, clean: CleanPass, loss: Float[Tensor, ""]) -> tuple[CleanPass, Float[Tensor, ""]]:
        """Backpropagate through the encoder once for the embeddings and all parameters, not once for each."""
        trained = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        shared = clean.at.grad_fn is not None  # trained embeddings: the perturbed pass needs their graph too
        gradient, *gradients = torch.autograd.grad(
            loss, [clean.at, *trained], retain_graph=shared, allow_unused=True
        )
        known: Tensor = _KnownGradients.apply(loss.detach(), gradients, *trained)  # type: ignore[no-untyped-call]
        return replace(clean, gradient=gradient), known

    def lengths(self, clean: CleanPass) -> Float[Tensor, "batch 1 1"]:
        """Return the radius of each text, in the units of its embeddings."""
        entries = clean.mask.sum((1, 2), keepdim=True).clamp(min=1) * clean.at.shape[-1]
        squares = clean.at.detach().square().masked_fill(~clean.mask, 0.0).sum((1, 2), keepdim=True)
        return self.radius * (squares / entries).sqrt()

    def _logits(self, embedded: Tensor, batch: Batch) -> Tensor:
        states = self.model.encode(embedded, batch)
        return self.model.decode(states, self.model.attend(states))


class _KnownGradients(torch.autograd.Function):
    """A loss whose gradients are known, so that its graph is not traversed again."""

    @staticmethod
    def forward(ctx: Any, loss: Tensor, gradients: list[Tensor | None], *trained: Tensor) -> Tensor:
        ctx.gradients = gradients
        return loss.clone()

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        found = [None if gradient is None else gradient * upstream[0] for gradient in ctx.gradients]
        return None, None, *found


@dataclass(frozen=True, kw_only=True)
class _Scored(CleanPass):
    """A clean pass that keeps its states, which a perturbation of the scores does not change."""

    states: States


class PerturbedScores(Perturbed):
    """Perturbs attention scores before they are normalised (of sentences, in a hierarchical network).

    States are encoded once, so that the second pass costs only attention and decoder.
    """

    needs_attention = True

    def read(self, batch: Batch) -> CleanPass:
        """Run all stages."""
        states = self.model.encode(self.model.embed(batch), batch)
        scores = with_gradient(self.model.score(states))
        return _Scored(batch, scores, states.mask[:, None, :], self._logits(scores, states), states=states)

    def reread(
        self, clean: CleanPass, shift: Float[Tensor, "batch heads items"]
    ) -> Float[Tensor, "batch outputs"]:
        """Normalise and decode again."""
        assert isinstance(clean, _Scored)
        return self._logits(clean.at + shift, clean.states)

    def _logits(self, scores: Tensor, states: States) -> Tensor:
        return self.model.decode(states, self.model.normalise(scores, states.mask))


def with_gradient(at: Float[Tensor, "batch a b"]) -> Float[Tensor, "batch a b"]:
    """Return a tensor that has a gradient, even if nothing before it is trained."""
    return at if at.requires_grad else at.detach().requires_grad_()


def summed_cross_entropy(logits: Float[Tensor, "batch outputs"], batch: Batch) -> Float[Tensor, ""]:
    """Sum the cross-entropies of the texts, so that no text's gradient depends on the rest of the batch."""
    if logits.shape[-1] > 1:
        return nn.functional.cross_entropy(logits, batch.labels, reduction="sum")
    targets = batch.labels.to(logits.dtype)
    return nn.functional.binary_cross_entropy_with_logits(logits[:, 0], targets, reduction="sum")


def unit(vectors: Float[Tensor, "batch a b"]) -> Float[Tensor, "batch a b"]:
    """Scale each text's vector to length one; zero stays zero.

    >>> unit(torch.tensor([[[3e-30, 4e-30]], [[0.0, 0.0]]]))
    tensor([[[0.6000, 0.8000]],
    <BLANKLINE>
            [[0.0000, 0.0000]]])
    """
    # Squares of small gradients would underflow: the largest entry is scaled to one first.
    tiny = torch.finfo(vectors.dtype).tiny
    scaled = vectors / vectors.abs().amax((1, 2), keepdim=True).clamp(min=tiny)
    return scaled / scaled.square().sum((1, 2), keepdim=True).sqrt().clamp(min=tiny)
