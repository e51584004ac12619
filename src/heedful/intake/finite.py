"""Numbers that are none: a model whose weights or probabilities hold them says nothing, and no verdict may come of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.errors import BadInput


def not_finite(weights: Iterable[tuple[str, Tensor]]) -> str | None:
    """Name the first weights that hold NaN or infinity."""
    return next(
        (
            name
            for name, tensor in weights
            if tensor.is_floating_point() and not bool(torch.isfinite(tensor).all())
        ),
        None,
    )


def check_probabilities(found: Float[Tensor, "batch classes"], texts: Sequence[str]) -> None:
    """Refuse a model that says of a text what is no number."""
    wrong = (~torch.isfinite(found)).any(-1).nonzero()
    if len(wrong):
        text = " ".join(texts[int(wrong[0])].split())[:60]
        raise BadInput(
            f"The model gives probabilities that are no numbers (NaN), of {text!r} for one: its weights are damaged or too large to "
            "compute with; copy it again, or train it again."
        )
