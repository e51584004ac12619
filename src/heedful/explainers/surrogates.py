"""LIME and KernelSHAP (captum): a linear model of what deleting items does to the decision."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.data.instances import Batch
from heedful.explainers.explainer import EXPLAINERS, decided, mirrored
from heedful.explainers.reread import probabilities_without
from heedful.models.stages import Stages

SAMPLES = 256
_AT_ONCE = 128


@EXPLAINERS.register("lime", "LIME over deleted items (captum, 256 samples)")
@mirrored
def lime(
    model: Stages, batch: Batch, *, seed: int, classes: Int[Tensor, " batch"] | None = None
) -> Float[Tensor, "batch items"]:
    """Give the weights of a sparse linear model around each text."""
    from captum._utils.models.linear_model import SkLearnLasso
    from captum.attr import Lime

    return _fit(
        lambda forward: Lime(forward, interpretable_model=SkLearnLasso(alpha=0.001)),
        model,
        batch,
        seed,
        classes,
    )


@EXPLAINERS.register("kernel_shap", "KernelSHAP over deleted items (captum, 256 samples)")
@mirrored
def kernel_shap(
    model: Stages, batch: Batch, *, seed: int, classes: Int[Tensor, " batch"] | None = None
) -> Float[Tensor, "batch items"]:
    """Give estimates of the items' Shapley values for the class's probability: the decided one where none is given."""
    from captum.attr import KernelShap

    return _fit(KernelShap, model, batch, seed, classes, shares=True)


def _fit(
    method: Any,
    model: Stages,
    batch: Batch,
    seed: int,
    classes: Int[Tensor, " batch"] | None,
    *,
    shares: bool = False,
) -> Float[Tensor, "batch items"]:
    """Fit one surrogate per text; captum samples deletions, the model reads what is left.

    Where scores are `shares` of what all items do together, a single item has it all, and there is nothing to sample.
    """
    classes = decided(model, batch) if classes is None else classes
    with torch.no_grad():
        mask = model.encode(model.embed(batch), batch).mask
    scores = torch.zeros(mask.shape)
    for row in range(len(batch)):
        real = mask[row].nonzero()[:, 0]

        def probability_with(kept: Tensor, row: int = row, real: Tensor = real) -> Tensor:
            keep = torch.zeros(len(kept), mask.shape[1], dtype=torch.bool)
            keep[:, real] = kept > 0.5
            rows = torch.full((len(kept),), row)
            return probabilities_without(model, batch, rows, keep)[:, classes[row]]

        if shares and len(real) == 1:
            alone, nothing = probability_with(torch.tensor([[1.0], [0.0]]))
            scores[row, real] = alone - nothing
            continue
        with torch.random.fork_rng():
            torch.manual_seed(seed * 1_000_003 + int(batch.rows[row]))
            fitted = method(probability_with).attribute(
                torch.ones(1, len(real)), n_samples=SAMPLES, perturbations_per_eval=_AT_ONCE
            )
        scores[row, real] = fitted[0].detach().to(scores.dtype)
    return scores
