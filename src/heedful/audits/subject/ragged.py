"""Padded tensors as lists without padding, for files."""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor


def ragged(values: Float[Tensor, "batch items"], mask: Bool[Tensor, "batch items"]) -> list[list[float]]:
    """One list of numbers per instance, without padding."""
    return [row[real].tolist() for row, real in zip(values.float(), mask, strict=True)]
