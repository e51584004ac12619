"""How far a prediction can be pushed by a small change of the weights: the inner maximum of SEAT's Equation 6."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import logsigmoid, softplus

from heedful.measures.norms import Norm, dual_norm, project, steepest

Loss = Callable[[Float[Tensor, "batch places"]], Float[Tensor, " batch"]]
"""What a change of the weights does to each text."""


def binary_kl(z: Float[Tensor, "*batch"], y: Float[Tensor, "*batch"]) -> Float[Tensor, "*batch"]:
    """KL(σ(z) ‖ σ(y)) of two predictions given by their logits, without a probability that rounds to 0 or 1.

    >>> binary_kl(torch.tensor(0.0), torch.tensor([0.0, 3.0]))
    tensor([0.0000, 0.8554])
    """
    p = z.sigmoid()
    return p * (logsigmoid(z) - logsigmoid(y)) + (1 - p) * (logsigmoid(-z) - logsigmoid(-y))


def prediction_kl(
    z: Float[Tensor, "batch outputs"], y: Float[Tensor, "batch outputs"]
) -> Float[Tensor, " batch"]:
    """KL of two predictions given by logits: one for two classes, else one for each; in double precision inside."""
    if z.shape[-1] == 1:
        return binary_kl(z[:, 0].double(), y[:, 0].double()).to(z.dtype)
    ours, others = z.double().log_softmax(-1), y.double().log_softmax(-1)
    return (ours.exp() * (ours - others)).sum(-1).to(z.dtype)


def exact_maximum(
    logits: Float[Tensor, " batch"], slopes: Float[Tensor, "batch places"], *, radius: float, norm: Norm
) -> Float[Tensor, " batch"]:
    """max over ‖δ‖ ≤ R of KL(σ(z) ‖ σ(z + v·δ)), for a logit that is linear in the weights.

    The divergence is convex in the shift v·δ, so that it is largest at an end ±R‖v‖_* of what the shift can be; and
    of the two at the one towards 0, because σ is concave where it is above ½. So with r = R‖v‖_* and a = |z| it is
    softplus(a − r) − softplus(a) + σ(a)·r: no search, and differentiable in z and v. Small radii give
    divergences below what single precision resolves, so that it is computed in double.
    """
    a, r = logits.double().abs(), radius * dual_norm(slopes, norm).double()
    return (softplus(a - r) - softplus(a) + a.sigmoid() * r).to(logits.dtype)


def searched_maximum(
    loss: Loss,
    mask: Bool[Tensor, "batch places"],
    *,
    radius: float,
    norm: Norm,
    steps: int,
    generator: torch.Generator | None = None,
) -> Float[Tensor, "batch places"]:
    """Climb to a δ with ‖δ‖ ≤ R and a large loss, for each text by itself, in steps of 2R / steps.

    Starts at random, because at δ = 0 the loss is at its minimum and has no slope to follow, and gives the best
    of all places visited. Real places alone are changed.
    """
    start = torch.randn(mask.shape, generator=generator) * mask
    delta = project(start, radius=radius, norm=norm, surface=True)
    best, most = delta, torch.full((len(mask),), -torch.inf)
    for step in range(steps + 1):
        delta = delta.detach().requires_grad_()
        with torch.enable_grad():
            found = loss(delta)
            (slope,) = torch.autograd.grad(found.sum(), delta) if step < steps else (delta,)
        better = found.detach() > most
        best, most = (
            torch.where(better[:, None], delta.detach(), best),
            torch.where(better, found.detach(), most),
        )
        climbed = delta.detach() + steepest(slope.detach() * mask, norm) * (2 * radius / steps)
        delta = project(climbed, radius=radius, norm=norm)
    return best
