"""What shuffling the weights does to a prediction, for decoders that are linear in the weights."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.measures.streams import shuffles_by_instance

_WEIGHTS = 2**17  # shuffled together: a megabyte, which a processor can cache


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
    places, lengths = _places(mask), mask.sum(1)
    order = shuffles_by_instance(rows, lengths, seed=seed, draws=range(draw, draw + 1))[0]
    real = weights.gather(1, places[:, : order.shape[1]])  # moved to the left
    shuffled = torch.zeros_like(weights).scatter(1, places[:, : order.shape[1]], real.gather(1, order))
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

    For one logit per item this is the median of |Δσ|, as in Jain & Wallace 4.2.1. Shuffles are drawn
    and decoded in blocks, so that memory grows neither with their number nor with that of the items squared.
    """
    logits = item_logits.double() if item_logits.ndim == 3 else item_logits.double()[..., None]
    places, lengths = _places(mask), mask.sum(1)
    weights = (weights.double() * mask).gather(1, places)  # real items at the left
    logits = logits.masked_fill(~mask[..., None], 0.0).gather(1, places[..., None].expand_as(logits))
    rows = torch.arange(len(weights)) if rows is None else rows
    moved = weights.new_zeros(permutations, len(weights))
    for some, draws in _blocks(lengths, permutations):
        order = shuffles_by_instance(rows[some], lengths[some], seed=seed, draws=draws)
        own, says = weights[some, : order.shape[-1]], logits[some, : order.shape[-1]]
        before = _probabilities(torch.einsum("bn,bnk->bk", own, says))
        shuffled = own.expand(order.shape).gather(-1, order)
        after = _probabilities(torch.einsum("dbn,bnk->dbk", shuffled, says))
        moved[draws.start : draws.stop, some] = (after - before).abs().sum(-1) / 2
    return moved.quantile(0.5, dim=0)


def _places(mask: Bool[Tensor, "batch items"]) -> Int[Tensor, "batch items"]:
    """Places of the real items, in order, and then of the others."""
    return (~mask).to(torch.int8).argsort(dim=1, stable=True)


def _blocks(
    lengths: Int[Tensor, " batch"], permutations: int
) -> Iterator[tuple[Int[Tensor, " some"], range]]:
    """Rows of similar length and draws to look at together: a row with all its draws, unless it is very long."""
    order = lengths.argsort(stable=True, descending=True)
    while len(order):
        longest = max(int(lengths[order[0]]), 1)
        some, order = order.tensor_split([max(1, _WEIGHTS // (longest * permutations))])
        size = max(1, _WEIGHTS // (longest * len(some)))
        for first in range(0, permutations, size):
            yield some, range(first, min(first + size, permutations))


def _probabilities(logits: Float[Tensor, "batch outputs"]) -> Float[Tensor, "batch classes"]:
    """One probability per class; one logit is a sigmoid's."""
    if logits.shape[-1] == 1:
        logits = torch.cat([torch.zeros_like(logits), logits], dim=-1)
    return torch.softmax(logits, dim=-1)
