"""Are two texts read for the same reasons? Scores of a text's words beside those of a changed text's (FLAT 5.2).

`counterpart` says for each word of the first text which word of the second it is, and −1 where it is none. A
word and its substitute are the same word. Scores have a row for each class that they speak for, and what is measured is
averaged over classes; scores that speak for the decision alone have one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Float64, Int
from torch import Tensor

from heedful.measures.correlation import kendall_tau
from heedful.measures.overlap import top_items

KS = tuple(range(1, 11))
"""The paper's numbers of top words (Figure 6); its tables have k = 5."""


class Consistency(NamedTuple):
    """How alike the scores of two texts are, pair by pair; NaN where that cannot be told."""

    tau: Float64[Tensor, " batch"]
    """Kendall's τ-b over the words that both texts have, averaged over classes."""
    top_k: Float64[Tensor, "batch ks"]
    """Share of the k top words that are the same, for every k, averaged over classes."""


def consistency(
    x: Float[Tensor, "batch classes words"],
    y: Float[Tensor, "batch classes others"],
    counterpart: Int[Tensor, "batch words"],
    *,
    x_mask: Bool[Tensor, "batch words"],
    y_mask: Bool[Tensor, "batch others"],
    ks: Sequence[int] = KS,
) -> Consistency:
    """Measure both, on the same words.

    >>> x, y = torch.tensor([[[3.0, 2.0, 1.0]]]), torch.tensor([[[3.0, 1.0, 2.0]]])
    >>> there = torch.ones(1, 3, dtype=torch.bool)
    >>> found = consistency(x, y, torch.tensor([[0, 1, 2]]), x_mask=there, y_mask=there, ks=(1, 2))
    >>> found.tau, found.top_k
    (tensor([0.3333], dtype=torch.float64), tensor([[1.0000, 0.5000]], dtype=torch.float64))
    """
    tau = rank_consistency(x, y, counterpart, mask=x_mask)
    shares = [top_k_intersection(x, y, counterpart, k=k, x_mask=x_mask, y_mask=y_mask) for k in ks]
    return Consistency(tau, torch.stack(shares, dim=1))


def rank_consistency(
    x: Float[Tensor, "batch classes words"],
    y: Float[Tensor, "batch classes others"],
    counterpart: Int[Tensor, "batch words"],
    *,
    mask: Bool[Tensor, "batch words"],
) -> Float64[Tensor, " batch"]:
    """Kendall's τ-b over words with a counterpart, averaged over the classes for which it is defined."""
    batch, classes, words = x.shape
    both = (mask & (counterpart >= 0))[:, None].expand_as(x)
    places = counterpart.clamp(min=0)[:, None].expand_as(x)
    there = y.gather(2, places) if y.shape[2] else torch.zeros_like(x)
    x_rows, y_rows, real = (part.reshape(-1, words) for part in (x, there, both))
    tau = kendall_tau(x_rows, y_rows, real).tau
    return tau.view(batch, classes).nanmean(1)


def top_k_intersection(
    x: Float[Tensor, "batch classes words"],
    y: Float[Tensor, "batch classes others"],
    counterpart: Int[Tensor, "batch words"],
    *,
    k: int,
    x_mask: Bool[Tensor, "batch words"],
    y_mask: Bool[Tensor, "batch others"],
) -> Float64[Tensor, " batch"]:
    """Share of the k top words of x whose counterparts are among the k top words of y, averaged over classes.

    Of equal scores the word that comes first wins. Texts of fewer words are divided by the number of the shorter's; NaN
    where one has none, or where a score is NaN.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    classes = x.shape[1]
    tops = [
        top_items(scores.flatten(0, 1), k=k, real=mask.repeat_interleave(classes, dim=0)).view(scores.shape)
        for scores, mask in ((x, x_mask), (y, y_mask))
    ]
    places = counterpart.clamp(min=0)[:, None].expand_as(x)
    shared = tops[0] & (counterpart >= 0)[:, None]
    shared &= tops[1].gather(2, places) if y.shape[2] else False
    most = torch.minimum(x_mask.sum(1), y_mask.sum(1)).clamp(max=k)[:, None]
    share = shared.sum(2).double() / most  # 0 / 0 where a text has no words
    unknown = [(part.isnan() & mask[:, None]).any(2) for part, mask in ((x, x_mask), (y, y_mask))]
    return share.masked_fill(unknown[0] | unknown[1], torch.nan).mean(1)
