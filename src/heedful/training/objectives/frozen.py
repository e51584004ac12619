"""Attention as it was drawn, and everything else trained around it: a heatmap that learnt nothing."""

from __future__ import annotations

from collections.abc import Iterable

from torch import nn

from heedful.training.objectives.objective import OBJECTIVES
from heedful.training.objectives.vanilla import Vanilla


@OBJECTIVES.register("frozen", "cross-entropy, with attention left as it was drawn (to compare with)")
class Frozen(Vanilla):
    """Cross-entropy to the labels; attention keeps its random parameters, and weighs states that learn to suit it."""

    needs_attention = True

    def trainable_parameters(self) -> Iterable[tuple[str, nn.Parameter]]:
        """Give all parameters but attention's."""
        return (
            (name, parameter)
            for name, parameter in super().trainable_parameters()
            if not name.startswith("attention.")
        )
