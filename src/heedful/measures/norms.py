"""Balls of three norms: how far one reaches, how to climb in it, and how to get back into it."""

from __future__ import annotations

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

Norm = Literal["linf", "l2", "l1"]
NORMS: tuple[Norm, ...] = ("linf", "l2", "l1")


def length(v: Float[Tensor, "*batch places"], order: float) -> Float[Tensor, "*batch"]:
    """The norm of this order."""
    found: Tensor = torch.linalg.vector_norm(v, ord=order, dim=-1)
    return found


def dual_norm(v: Float[Tensor, "*batch places"], norm: Norm) -> Float[Tensor, "*batch"]:
    """The largest v·δ over ‖δ‖ ≤ 1.

    >>> v = torch.tensor([3.0, -4.0])
    >>> [dual_norm(v, norm).item() for norm in ("linf", "l2", "l1")]
    [7.0, 5.0, 4.0]
    """
    match norm:
        case "linf":
            return v.abs().sum(-1)
        case "l2":
            return length(v, 2)
        case "l1":
            return v.abs().amax(-1)


def steepest(slope: Float[Tensor, "batch places"], norm: Norm) -> Float[Tensor, "batch places"]:
    """The direction of norm 1 in which a slope climbs most; 0 where there is no slope."""
    match norm:
        case "linf":
            return slope.sign()
        case "l2":
            return slope / length(slope, 2)[..., None].clamp(min=1e-30)
        case "l1":
            most = slope.abs().argmax(-1, keepdim=True)
            return torch.zeros_like(slope).scatter(-1, most, slope.gather(-1, most).sign())


def project(
    delta: Float[Tensor, "batch places"], *, radius: float, norm: Norm, surface: bool = False
) -> Float[Tensor, "batch places"]:
    """The nearest point of the ball ‖δ‖ ≤ R; with `surface`, scaled onto its surface instead."""
    if surface:
        size = {"linf": torch.inf, "l2": 2, "l1": 1}[norm]
        return delta * (radius / length(delta, size)[..., None].clamp(min=1e-30))
    match norm:
        case "linf":
            return delta.clamp(-radius, radius)
        case "l2":
            return delta * (radius / length(delta, 2)[..., None].clamp(min=radius))
        case "l1":
            return _project_l1(delta, radius)


def _project_l1(delta: Float[Tensor, "batch places"], radius: float) -> Float[Tensor, "batch places"]:
    """Shrink all entries by one threshold, such that what is left has norm R."""
    size = delta.abs()
    largest_first = size.sort(dim=-1, descending=True).values
    places = torch.arange(1, size.shape[-1] + 1, dtype=size.dtype)
    thresholds = (largest_first.cumsum(-1) - radius) / places
    kept = (largest_first > thresholds).sum(-1, keepdim=True).clamp(min=1)
    threshold = thresholds.gather(-1, kept - 1).clamp(min=0)
    return delta.sign() * (size - threshold).clamp(min=0)
