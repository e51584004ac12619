"""How far apart two distributions are: total variation, Kullback–Leibler and Jensen–Shannon.

All work over the last axis, in the dtype they are given, and broadcast over the axes before it.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

LN_2 = math.log(2.0)  # the largest Jensen–Shannon divergence, in nats
NOWHERE = 1e-4
"""Nats of JSD to uniform, of two heatmaps together, below which neither points anywhere.

No weight is then further from its fair share than a few parts in a thousand, and what there is drowns in rounding.
"""


def tvd(p: Float[Tensor, "*batch classes"], q: Float[Tensor, "*batch classes"]) -> Float[Tensor, "*batch"]:
    """Total variation distance ½Σ|p − q|, between 0 and 1, of two predictions over **all** classes.

    Papers on binary outputs use two other conventions, both of the one sigmoid σ = p[..., 1]. |Δσ| (the code
    of Jain & Wallace) equals this function over both classes. ½|Δσ| (Wiegreffe & Pinter, AtteFa), at most
    0.5, is half of it, or this function with σ alone as the last axis.

    >>> p, q = torch.tensor([[0.25, 0.75]]), torch.tensor([[0.75, 0.25]])
    >>> tvd(p, q), tvd(p[:, 1:], q[:, 1:])
    (tensor([0.5000]), tensor([0.2500]))
    """
    return (p - q).abs().sum(-1) / 2


def kl(
    p: Float[Tensor, "*batch items"],
    q: Float[Tensor, "*batch items"],
    mask: Bool[Tensor, "*batch items"] | None = None,
) -> Float[Tensor, "*batch"]:
    """Kullback–Leibler divergence Σ p ln(p / q) over the real items, in nats.

    A zero in p adds exactly 0 to the value and to the gradients; a zero in q where p has weight gives inf.

    >>> p, q = torch.tensor([[0.5, 0.5, 0.0]]), torch.tensor([[0.25, 0.5, 0.25]])
    >>> kl(p, q), kl(q, p)
    (tensor([0.3466]), tensor([inf]))
    """
    live = p != 0 if mask is None else (p != 0) & mask  # not "positive": a NaN must show
    terms = _p_log_p_over_q(p, q, live=live & (q != 0))
    # Filled in rather than computed: an infinite slope would turn into NaN even where the row is left out.
    return terms.masked_fill(live & (q == 0), math.inf).sum(-1)


def jsd(
    p: Float[Tensor, "*batch items"],
    q: Float[Tensor, "*batch items"],
    mask: Bool[Tensor, "*batch items"] | None = None,
) -> Float[Tensor, "*batch"]:
    """Jensen–Shannon divergence ½KL(p‖m) + ½KL(q‖m), m = ½(p + q), over the real items, in nats.

    Symmetric, and between 0 and ln 2 = 0.6931. The gradient is finite everywhere: a zero weight's own term
    p ln(p / m), whose slope is infinite at 0, adds nothing to it.

    >>> jsd(torch.tensor([[1.0, 0.0], [0.5, 0.5]]), torch.tensor([[0.0, 1.0], [0.5, 0.5]]))
    tensor([0.6931, 0.0000])
    """
    if mask is not None:  # before the mean, so that nothing at a padded position reaches the gradient
        p, q = p.masked_fill(~mask, 0), q.masked_fill(~mask, 0)
    mean = (p + q) / 2
    # Half of the smallest float rounds to 0, so a positive weight does not imply a positive mean.
    from_p = _p_log_p_over_q(p, mean, live=(p != 0) & (mean != 0))
    from_q = _p_log_p_over_q(q, mean, live=(q != 0) & (mean != 0))
    # Rounding alone can leave [0, ln 2], and the gradient along the simplex vanishes at either end.
    return ((from_p + from_q).sum(-1) / 2).clamp(0, LN_2)


def sharpness(
    weights: Float[Tensor, "*batch items"], mask: Bool[Tensor, "*batch items"]
) -> Float[Tensor, "*batch"]:
    """JSD of the weights to the uniform distribution over the real items: 0 for a flat heatmap.

    The largest value, one weight of 1 among n items, grows with n from 0 (n = 1) towards ln 2. NaN where no
    item is real.

    >>> mask = torch.tensor([[True, True, False], [True, True, True]])
    >>> sharpness(torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]), mask)
    tensor([0.0000, 0.3183])
    """
    items = mask.sum(-1, keepdim=True)
    uniform = mask.to(weights.dtype) / items.clamp(min=1)
    return jsd(weights, uniform, mask=mask).masked_fill(items.squeeze(-1) == 0, math.nan)


def _p_log_p_over_q(
    p: Float[Tensor, "*batch items"], q: Float[Tensor, "*batch items"], *, live: Bool[Tensor, "*batch items"]
) -> Float[Tensor, "*batch items"]:
    """Terms p ln(p / q), 0 with gradient 0 where not live.

    A difference of logarithms, because the gradient of a quotient overflows where both are tiny.
    """
    one = p.new_ones(())
    p, q = torch.where(live, p, one), torch.where(live, q, one)
    return p * (p.log() - q.log())
