"""How many of the most important items two scores have in common, and a loss that makes it more."""

from __future__ import annotations

import math

import torch
from jaxtyping import Bool, Float, Float64, Shaped
from torch import Tensor


def top_k_overlap(
    x: Shaped[Tensor, "batch items"],
    y: Shaped[Tensor, "batch items"],
    *,
    k: int,
    mask: Bool[Tensor, "batch items"] | None = None,
) -> Float64[Tensor, " batch"]:
    """Share of the k items with the largest x that are also among the k with the largest y.

    Of equal scores the item that comes first wins. A row with fewer than k real items is divided by their
    number (and so gives 1); NaN where no item is real or a score is NaN.

    >>> x, y = torch.tensor([[0.1, 0.4, 0.3, 0.2]]), torch.tensor([[0.4, 0.3, 0.1, 0.2]])
    >>> top_k_overlap(x, y, k=1), top_k_overlap(x, y, k=2)
    (tensor([0.], dtype=torch.float64), tensor([0.5000], dtype=torch.float64))
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    real = torch.ones_like(x, dtype=torch.bool) if mask is None else mask
    shared = (top_items(x, k=k, real=real) & top_items(y, k=k, real=real)).sum(-1)
    overlap = shared.double() / real.sum(-1).clamp(max=k)  # 0 / 0 where no item is real
    return overlap.masked_fill(((x.isnan() | y.isnan()) & real).any(-1), math.nan)


def top_k_loss(
    w: Float[Tensor, "*batch items"],
    v: Float[Tensor, "*batch items"],
    *,
    k: int,
    mask: Bool[Tensor, "*batch items"],
) -> Float[Tensor, "*batch"]:
    """SEAT's surrogate of top-k overlap (Equation 5): how far weights differ on the top k of either, over 2k.

    Differentiable in both; which items are on top is taken as given. A row with fewer than k real items is
    divided by their number instead; 0 where no item is real.

    >>> w, v = torch.tensor([[0.7, 0.2, 0.1]]), torch.tensor([[0.2, 0.7, 0.1]])
    >>> top_k_loss(w, v, k=1, mask=torch.ones(1, 3, dtype=torch.bool))  # (|0.7 − 0.2| + |0.7 − 0.2|) / 2
    tensor([0.5000])
    """
    mask = mask.expand(w.shape)
    tops = [
        top_items(scores.flatten(0, -2), k=k, real=mask.flatten(0, -2)).view(w.shape) for scores in (w, v)
    ]
    counted = tops[0].to(w.dtype) + tops[1].to(w.dtype)
    return ((w - v).abs() * counted).sum(-1) / (2 * mask.sum(-1).clamp(min=1, max=k))


def top_items(
    scores: Shaped[Tensor, "batch items"], *, k: int, real: Bool[Tensor, "batch items"]
) -> Bool[Tensor, "batch items"]:
    """Mark the k real items with the largest scores; of equal ones the first."""
    best_first = scores.sort(dim=-1, descending=True, stable=True).indices
    # Padding goes behind every real item, whatever it scores.
    best_first = best_first.gather(-1, (~real).gather(-1, best_first).sort(dim=-1, stable=True).indices)
    return torch.zeros_like(real).scatter(-1, best_first[:, :k], True) & real
