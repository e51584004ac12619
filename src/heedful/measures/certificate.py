"""How far the weights may move before a decision can change, exactly, for decoders linear in the weights."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from heedful.measures.erasure import classes
from heedful.measures.norms import Norm, dual_norm


def certified_radius(
    logits: Float[Tensor, "batch outputs"],
    effects: Float[Tensor, "batch heads items outputs"],
    mask: Bool[Tensor, "batch items"],
    *,
    norm: Norm,
    zero_sum: bool = False,
    candidates: Bool[Tensor, "batch classes"] | None = None,
) -> Float[Tensor, " batch"]:
    """Largest R for which no δ with ‖δ‖ ≤ R on the weights of all heads together changes the decision.

    `effects` are what one unit of weight on an item adds to each logit (no bias). Class c, decided on, loses to c′
    when (e_c − e_c′)·δ falls below minus the margin of their logits, and that product is at least −R times the dual
    norm; so R is the smallest margin over dual norm. With `zero_sum` the δ of each head sum to 0, and the dual
    norm is that of e_c − e_c′ less the constant, for each head, that makes it smallest: the mean for ℓ2, the median
    for ℓ∞, the middle of the range for ℓ1. Infinite where no δ changes the decision.

    >>> effects = torch.tensor([[[[2.0], [-1.0], [0.5]]]])
    >>> logits, mask = torch.tensor([[0.7]]), torch.tensor([[True, True, True]])
    >>> [round(certified_radius(logits, effects, mask, norm=norm).item(), 3) for norm in ("linf", "l2", "l1")]
    [0.2, 0.306, 0.35]
    >>> round(certified_radius(logits, effects, mask, norm="l1", zero_sum=True).item(), 3)
    0.467
    """
    logits, effects = classes(logits.double()), classes(effects.double())
    decided = logits.argmax(-1, keepdim=True)  # of equal ones the lowest class, as everywhere
    nearest = torch.full((len(logits),), torch.inf, dtype=torch.float64)
    own = effects.gather(-1, decided[:, None, None].expand(*effects.shape[:3], 1))[..., 0]
    for other in range(logits.shape[-1]):
        size = _dual(own - effects[..., other], mask[:, None], norm=norm, zero_sum=zero_sum)
        margin = logits.gather(1, decided)[:, 0] - logits[:, other]
        radius = torch.where(size > 0, margin / size, torch.inf)
        out = decided[:, 0] == other
        if candidates is not None:
            out = out | ~candidates[:, other]
        nearest = torch.minimum(nearest, radius.masked_fill(out, torch.inf))
    return nearest


def _dual(
    effect: Float[Tensor, "batch heads items"],
    mask: Bool[Tensor, "batch 1 items"],
    *,
    norm: Norm,
    zero_sum: bool,
) -> Float[Tensor, " batch"]:
    """Most that a δ of norm 1 can add up to with these effects."""
    mask = mask.expand_as(effect)
    if zero_sum:
        effect = effect - _middle(effect, mask, norm)[..., None]
    return dual_norm(effect.masked_fill(~mask, 0).flatten(1), norm)


def _middle(
    effect: Float[Tensor, "batch heads items"], mask: Bool[Tensor, "batch heads items"], norm: Norm
) -> Float[Tensor, "batch heads"]:
    """Give the constant whose subtraction leaves the smallest dual norm."""
    if norm == "linf":
        return effect.masked_fill(~mask, torch.nan).nanmedian(-1).values
    if norm == "l2":
        return effect.masked_fill(~mask, 0).sum(-1) / mask.sum(-1).clamp(min=1)
    return (
        effect.masked_fill(~mask, -torch.inf).amax(-1) + effect.masked_fill(~mask, torch.inf).amin(-1)
    ) / 2
