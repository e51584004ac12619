"""How different attention can be and still give the same prediction: the exact ε-max JSD."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

ROUNDING = 1e-12
"""Logits this near a boundary lie on it, and values this near each other are equal (the earliest is taken)."""

PAIRS = 2**16
"""Pairs of items looked at together: about ten numbers each, so 5 MB, which a processor can cache."""


class CounterfactualAttention(NamedTuple):
    """The attention farthest from a model's own that leaves its prediction where it was."""

    value: Float[Tensor, " batch"]
    """Its Jensen–Shannon divergence from the model's own, in nats: from 0 to ln 2."""
    weights: Float[Tensor, "batch items"]


class _Vertex(NamedTuple):
    """A candidate per row: `share` on item `second`, the rest on `first`; first -1 is the observed attention."""

    overlap: Tensor
    first: Tensor
    second: Tensor
    share: Tensor


def eps_max_jsd(
    weights: Float[Tensor, "batch items"],
    item_logits: Float[Tensor, "batch items"],
    mask: Bool[Tensor, "batch items"],
    epsilon: float,
    *,
    most: int | None = None,
) -> CounterfactualAttention:
    """Maximise JSD(weights, α) over attention α with |σ(s·α) − σ(s·weights)| ≤ ε, exactly (Jain & Wallace 4.2.2).

    For binary decoders linear in the weights; s is the one logit of each item alone, bias included (with two
    logits per item, their difference). JSD is convex in α and the feasible set is the simplex cut by a slab, so
    the maximum is at a vertex: one item in the slab, or two mixed so that s·α is on a boundary of it. All are
    tried, in blocks: O(items²) time and bounded memory. Weights are renormalised over real items; float64
    whatever the input. Of equal maxima one item goes before two, and then the earliest is taken.

    With `most`, no more than so many items on each side of a boundary are mixed, those of least weight, because what has
    little weight is farthest. Then time does not grow with the square of the items; for an instance that has more, the value
    found can be reached, and is a lower bound of the largest.

    >>> weights, says = torch.tensor([[0.5, 0.25, 0.25]]), torch.tensor([[0.0, 1.0, -1.0]])
    >>> found = eps_max_jsd(weights, says, weights > 0, epsilon=0.01)
    >>> [round(weight, 2) for weight in found.weights[0].tolist()]
    [0.0, 0.48, 0.52]
    >>> round(found.value.item(), 4)
    0.2159
    """
    _check(weights, item_logits, mask, epsilon)
    observed = weights.detach().double().masked_fill(~mask, 0)
    observed = observed / observed.sum(1, keepdim=True)
    value = observed.new_zeros(len(observed))
    farthest = observed.clone()
    for rows, extent in _blocks(mask):
        real = mask[rows, :extent]
        own = observed[rows, :extent]
        says = item_logits.detach()[rows, :extent].double().masked_fill(~real, 0)
        best = _best_vertex(own, says, real, epsilon, most)
        value[rows] = (math.log(2) - best.overlap / 2).clamp(0, math.log(2))
        farthest[rows, :extent] = _attention(best, own)
    return CounterfactualAttention(value, farthest)


def _check(weights: Tensor, item_logits: Tensor, mask: Tensor, epsilon: float) -> None:
    shapes = [list(tensor.shape) for tensor in (weights, item_logits, mask)]
    if weights.ndim != 2 or shapes[0] != shapes[1] or shapes[0] != shapes[2] or mask.dtype != torch.bool:
        raise ValueError(
            f"weights, item logits and a boolean mask must be [batch, items]; these are {shapes}"
        )
    if not epsilon >= 0:
        raise ValueError(f"epsilon must be at least 0, not {epsilon}")
    own = weights.masked_fill(~mask, 0)
    if not bool(((own >= 0).all(1) & (own.sum(1) > 0)).all()):
        raise ValueError("weights must not be negative or NaN, and each instance needs one above 0")
    if not bool((item_logits.isfinite() | ~mask).all()):
        raise ValueError("item logits must be finite")


def _blocks(mask: Tensor) -> Iterator[tuple[Tensor, int]]:
    """Rows to look at together, and how many positions hold all their items; similar lengths go together."""
    positions = torch.arange(1, mask.shape[1] + 1, device=mask.device)
    extents, rows = (mask * positions).amax(1).sort(descending=True, stable=True)
    start = 0
    while start < len(rows):
        extent = int(extents[start])
        size = max(1, PAIRS // extent**2)
        yield rows[start : start + size], extent
        start += size


def _best_vertex(own: Tensor, says: Tensor, real: Tensor, epsilon: float, most: int | None) -> _Vertex:
    lower, upper = _slab((own * says).sum(1), epsilon)
    no_item = torch.full_like(lower, -1, dtype=torch.int64)
    best = _Vertex(torch.full_like(lower, 2 * math.log(2)), no_item, no_item, torch.zeros_like(lower))

    inside = real & (says >= _tolerant(lower, -1)) & (says <= _tolerant(upper, 1))
    overlap = (torch.xlogy(own + 1, own + 1) - torch.xlogy(own, own)).masked_fill(~inside, torch.inf)
    least, item = _earliest(overlap)
    best = _better(best, _Vertex(least, item, item, torch.zeros_like(least)))

    for boundary in (lower, upper):
        best = _best_pair(best, own, says, real, boundary, most)
    return best


def _slab(logit: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
    """Where the logit may lie: σ⁻¹(ŷ ± ε), exact in both tails; infinite where ŷ ± ε leaves (0, 1)."""
    y, rest = logit.sigmoid(), (-logit).sigmoid()
    lower = (y - epsilon).clamp_min(0).log() - (rest + epsilon).log()
    upper = (y + epsilon).log() - (rest - epsilon).clamp_min(0).log()
    return torch.minimum(lower, logit), torch.maximum(upper, logit)


def _tolerant(boundary: Tensor, sign: int) -> Tensor:
    return (boundary + sign * ROUNDING * boundary.abs().clamp_min(1))[:, None]


def _best_pair(
    best: _Vertex, own: Tensor, says: Tensor, real: Tensor, boundary: Tensor, most: int | None
) -> _Vertex:
    """Try all pairs of an item below and an item above the boundary, mixed so that s·α is on it."""
    edge = boundary[:, None]
    lower, higher = (_lightest(own, real & side, most) for side in (says < edge, says > edge))
    below = says.masked_fill(~lower, torch.inf).sort(dim=1, stable=True)
    above = says.masked_fill(~higher, -torch.inf).sort(dim=1, descending=True, stable=True)
    deepest, highest = (int(side.values.isfinite().sum(1).max()) for side in (below, above))
    if not deepest or not highest:
        return best
    edge = torch.where(edge.isfinite(), edge, 0)[..., None]
    to_high = above.values[:, None, :highest]
    own_high = own.gather(1, above.indices[:, :highest])[:, None]
    step = max(1, PAIRS // (len(own) * highest))
    for start in range(0, deepest, step):
        block = slice(start, min(start + step, deepest))
        to_low = below.values[:, block, None]
        own_low = own.gather(1, below.indices[:, block])[..., None]
        both = to_low.isfinite() & to_high.isfinite()
        gap = to_high - to_low
        high = torch.where(both, (edge - to_low) / gap, 0.5)
        low = torch.where(both, (to_high - edge) / gap, 0.5)
        overlap = _overlap(own_low, low) + _overlap(own_high, high)
        least, pair = _earliest(overlap.masked_fill_(~both, torch.inf).flatten(1))
        first = below.indices[:, block].gather(1, (pair // highest)[:, None])[:, 0]
        second = above.indices[:, :highest].gather(1, (pair % highest)[:, None])[:, 0]
        share = high.flatten(1).gather(1, pair[:, None])[:, 0]
        best = _better(best, _Vertex(least, first, second, share))
    return best


def _lightest(own: Tensor, items: Tensor, most: int | None) -> Tensor:
    """Keep of each row so many items, those of least weight; all if there is no limit or there are fewer."""
    if most is None or items.shape[1] <= most:
        return items
    rank = own.masked_fill(~items, torch.inf).argsort(dim=1, stable=True).argsort(dim=1)
    return items & (rank < most)


def _overlap(own: Tensor, new: Tensor) -> Tensor:
    """One item's part of 2 (ln 2 − JSD): items that only one of the two distributions holds take no part."""
    both = own + new
    return torch.xlogy(both, both) - torch.xlogy(new, new) - torch.xlogy(own, own)


def _earliest(costs: Tensor) -> tuple[Tensor, Tensor]:
    """The least of each row, and the first position that comes within rounding of it."""
    least = costs.amin(1)
    return least, (costs <= (least + ROUNDING)[:, None]).to(torch.uint8).argmax(1)


def _better(best: _Vertex, new: _Vertex) -> _Vertex:
    wins = new.overlap < best.overlap - ROUNDING
    return _Vertex(*(torch.where(wins, after, before) for before, after in zip(best, new, strict=True)))


def _attention(vertex: _Vertex, own: Tensor) -> Tensor:
    found = torch.zeros_like(own)
    first, second = vertex.first.clamp_min(0)[:, None], vertex.second.clamp_min(0)[:, None]
    found.scatter_add_(1, first, (1 - vertex.share)[:, None])
    found.scatter_add_(1, second, vertex.share[:, None])
    return torch.where((vertex.first < 0)[:, None], own, found)
