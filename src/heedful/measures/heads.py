"""How far apart the attention of two models is, when their heads may stand in another order."""

from __future__ import annotations

import torch
from jaxtyping import Float
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from heedful.measures.divergence import jsd


def matched_jsd(
    p: Float[Tensor, "batch heads items"], q: Float[Tensor, "batch heads items"]
) -> Float[Tensor, " batch"]:
    """Mean JSD of heads after the matching of heads that makes it smallest, text by text.

    Swapping the heads of a model changes nothing that it computes, so it must not count as other attention.
    Differentiable in both; with one head this is `jsd`. Masked items must weigh nothing, and then add nothing.

    >>> p = torch.tensor([[[0.9, 0.1], [0.2, 0.8]]])
    >>> matched_jsd(p, p.flip(1)), matched_jsd(p, p[:, :1].expand(1, 2, 2)) > 0
    (tensor([0.]), tensor([True]))
    """
    heads = p.shape[1]
    if heads == 1:
        return jsd(p[:, 0], q[:, 0])
    cost = jsd(p[:, :, None], q[:, None])  # [batch, heads of p, heads of q]
    partner = torch.stack(
        [torch.from_numpy(linear_sum_assignment(rows)[1]) for rows in cost.detach().double().numpy()]
    )
    return cost.gather(2, partner[..., None])[..., 0].mean(1)
