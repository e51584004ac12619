"""Attention stays as it was initialised, and everything else is trained: a heatmap that learnt nothing."""

from __future__ import annotations

from collections.abc import Iterable

from torch import nn

from heedful.training.objectives.objective import OBJECTIVES
from heedful.training.objectives.vanilla import Vanilla


@OBJECTIVES.register("frozen", "cross-entropy, with attention left as it was initialised (for comparison)")
class Frozen(Vanilla):
    """Cross-entropy to the labels; attention keeps its random parameters, and the states adapt to it."""

    needs_attention = True

    def trainable_parameters(self) -> Iterable[tuple[str, nn.Parameter]]:
        """Return all parameters except those of attention."""
        return (
            (name, parameter)
            for name, parameter in super().trainable_parameters()
            if not name.startswith("attention.")
        )
