"""Scores that differ by rounding alone count as equal: otherwise the batch would decide which item is first."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

ROUNDING = 1e-6
"""Uncertainty of a sum in single precision, relative to its largest part: more than eight units in the last place."""

PROBABILITY_ROUNDING = 2**-21
"""Uncertainty of a difference of probabilities, however small the difference is."""


def settled(
    scores: Float[Tensor, "batch items"],
    mask: Bool[Tensor, "batch items"],
    *,
    uncertain: Float[Tensor, "batch items"] | None = None,
) -> Float[Tensor, "batch items"]:
    """Return scores with near ties made exact: each becomes the largest of those it cannot be distinguished from.

    From the largest score downwards, a score begins a new group if it can be distinguished from the one before it or from
    the first of its group; so no chain of near ties makes scores equal that are far apart. `uncertain` is how far each
    score may be off, and the less certain of two decides. If it is not given, it is `relative_uncertainty`, as for weights.

    >>> scores = torch.tensor([[0.5, 0.2, 0.5 + 1e-7, 3e-9, 1e-9, 0.0]])
    >>> [round(score, 10) for score in settled(scores, scores > 0).tolist()[0]]
    [0.5000001192, 0.200000003, 0.5000001192, 3e-09, 1e-09, 0.0]
    """
    values = scores.detach().double().masked_fill(~mask, 0.0)
    uncertain = relative_uncertainty(values, mask) if uncertain is None else uncertain.double()
    ordered, order = values.masked_fill(~mask, -torch.inf).sort(dim=1, descending=True, stable=True)
    unsure = uncertain.gather(1, order)
    begins = torch.ones_like(mask)
    begins[:, 1:] = -ordered.diff(dim=1) > torch.maximum(unsure[:, 1:], unsure[:, :-1])
    places = torch.arange(mask.shape[1])
    while True:
        first = (places * begins).cummax(1).values
        apart = ordered.gather(1, first) - ordered > torch.maximum(unsure.gather(1, first), unsure)
        so_far = apart.cumsum(1)
        further = apart & (
            so_far - so_far.gather(1, first) == 1
        )  # the first of each group that does not belong to it
        if not bool(further.any()):
            return values.scatter(1, order, ordered.gather(1, first)).masked_fill(~mask, 0.0)
        begins = begins | further


def relative_uncertainty(
    weights: Float[Tensor, "batch items"], mask: Bool[Tensor, "batch items"]
) -> Float[Tensor, "batch items"]:
    """Say how far weights may be off: each in proportion to itself, however small it is compared with the others.

    The relative error of a softmax weight is the absolute error of its score, which grows with the size of the scores; that
    size follows from the logarithms of the weights.
    """
    sizes = weights.detach().double().abs().masked_fill(~mask, 0.0)
    logs = sizes.masked_fill(sizes == 0, torch.nan).log()
    spread = logs.nan_to_num(-torch.inf).amax(1) - logs.nan_to_num(torch.inf).amin(1)
    return ROUNDING * spread.clamp(min=1)[:, None] * sizes


def settled_weights(
    scores: Float[Tensor, "batch heads items"],
    mask: Bool[Tensor, "batch items"],
    normalise: Callable[[Tensor, Tensor], Tensor],
) -> Float[Tensor, "batch items"]:
    """Normalise attention scores to weights, averaged over heads, with near ties made exact.

    Normalising keeps the order of scores, but in single precision the small weights of a sharp heatmap vanish. So ties are
    settled among the scores, which are off in proportion to the largest of them, and only then are they normalised, in
    double precision. Items to which sparsemax or entmax give no weight are equal, because their weight is zero.

    >>> from heedful.models.attention import normalise
    >>> scores = torch.tensor([[[0.0, 200.0, 1.0]]])
    >>> settled_weights(scores, scores[0] > -1, lambda s, m: normalise(s, m[:, None])).argsort(dim=1).tolist()
    [[0, 2, 1]]
    """
    real = mask[:, None].expand_as(scores)
    sizes = scores.detach().double().abs().masked_fill(~real, 0.0)
    uncertain = ROUNDING * sizes.amax(2, keepdim=True).clamp(min=1).expand_as(sizes)
    each = settled(scores.flatten(0, 1), real.flatten(0, 1), uncertain=uncertain.flatten(0, 1)).view_as(sizes)
    return normalise(each, mask).mean(1)
