"""What shuffling the weights does to a prediction, for decoders that are linear in the weights."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.measures.chance import uniform_by_instance


def permuted_weights(
    weights: Float[Tensor, "batch items"],
    mask: Bool[Tensor, "batch items"],
    rows: Int[Tensor, " batch"],
    *,
    seed: int,
    draw: int,
) -> Float[Tensor, "batch items"]:
    """Shuffle each row's weights among its real items. The shuffle belongs to the instance (`rows`), not the batch.

    >>> weights = torch.tensor([[0.7, 0.2, 0.1, 0.0]])
    >>> mask = torch.tensor([[True, True, True, False]])
    >>> permuted_weights(weights, mask, torch.tensor([0]), seed=0, draw=1).sort().values
    tensor([[0.0000, 0.1000, 0.2000, 0.7000]])
    """
    keys = uniform_by_instance(rows, weights.shape[1], seed=seed, draw=draw)
    order = keys.masked_fill(~mask, 2.0).argsort(dim=1, stable=True)  # real items first, shuffled
    places = (~mask).to(torch.int8).argsort(dim=1, stable=True)  # real items first, as they stand
    shuffled = torch.zeros_like(weights).scatter(1, places, weights.gather(1, order))
    return shuffled * mask


def permutation_change(
    weights: Float[Tensor, "batch items"],
    item_logits: Float[Tensor, "batch items"] | Float[Tensor, "batch items classes"],
    mask: Bool[Tensor, "batch items"],
    rows: Int[Tensor, " batch"] | None = None,
    *,
    permutations: int = 100,
    seed: int = 0,
) -> Float[Tensor, " batch"]:
    """Median, over random shuffles of the weights, of how far the prediction moves (TVD over all classes).

    For one logit per item this is the median of |Δσ|, as in Jain & Wallace 4.2.1. All shuffles of a batch are
    decoded by one product each; memory does not grow with their number of items squared.
    """
    logits = item_logits.double() if item_logits.ndim == 3 else item_logits.double()[..., None]
    logits = logits.masked_fill(~mask[..., None], 0.0)
    weights = weights.double() * mask
    rows = torch.arange(len(weights)) if rows is None else rows
    before = _chances(torch.einsum("bn,bnk->bk", weights, logits))
    moved = [
        (_chances(torch.einsum("bn,bnk->bk", shuffled, logits)) - before).abs().sum(-1) / 2
        for shuffled in (
            permuted_weights(weights, mask, rows, seed=seed, draw=draw) for draw in range(permutations)
        )
    ]
    return torch.stack(moved).quantile(0.5, dim=0)


def _chances(logits: Float[Tensor, "batch outputs"]) -> Float[Tensor, "batch classes"]:
    """One probability per class; one logit is a sigmoid's."""
    if logits.shape[-1] == 1:
        logits = torch.cat([torch.zeros_like(logits), logits], dim=-1)
    return torch.softmax(logits, dim=-1)
