"""Does shuffling the weights change the prediction? Jain & Wallace 4.2.1: Figure 6."""

from __future__ import annotations

from typing import ClassVar

import polars as pl
import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from heedful.audits.audit import BINS, Audit, Columns, Measure, Summary, register
from heedful.audits.chart_kinds import violins
from heedful.audits.exhibits import Chart, Order
from heedful.audits.subject.reading import Reading
from heedful.audits.subject.scope import Scope
from heedful.config import AuditOptions, Times
from heedful.measures.divergence import tvd
from heedful.measures.permutation import permutation_change, permuted_weights
from heedful.models.stages import probabilities
from heedful.output.numbers import percent, value

SMALL = 0.05
"""A median change of less than this counts as none."""


class PermutationOptions(AuditOptions):
    """Options of this audit only."""

    permutations: Times = Field(100, description="Shuffles per text.")


@register
class Permutation(Audit):
    """Median change of the prediction (TVD) over random shuffles of the weights."""

    name = "permutation"
    question = "Does shuffling the weights change the prediction?"
    options = ("permutations",)
    config: PermutationOptions
    does = "replaces weights"
    needs_reach = True
    paper = "jain-wallace"
    access = "stages"
    measures: ClassVar = {
        "permutation_change": Measure(
            "median change of the prediction when weights are shuffled", better="higher"
        ),
        "indifferent": Measure(
            f"share of texts whose median change is below {SMALL}",
            better="lower",
            plain="For {} of the texts the answer stays the same when the heatmap is shuffled at random.",
        ),
    }
    caveats = (
        "A prediction near 0 or 1 moves little whatever is done to it, so that a small change is weak evidence "
        "against attention.",
        "In training, the states were never mixed with weights like the shuffled ones.",
    )

    equation = "Δŷ = median over shuffles π of TVD(ŷ(π(α)), ŷ(α)),  TVD(p, q) = ½ Σ |p_k − q_k|"
    method = (
        "The weights of a text are shuffled at random, the states stay as they are, and the model decides again. The "
        "total variation distance between the two predictions is taken for every shuffle, and its median for every text."
    )
    order = Order("permutation_change", "change under shuffling", worst="lowest")

    @classmethod
    def refuses(cls, scope: Scope) -> str | None:
        """It replaces weights, and scores other than attention are not weights."""
        return super().refuses(scope) or scope.beyond_attention()

    def charts(self, rows: pl.DataFrame) -> list[Chart]:
        """Violins by the largest weight and class (Jain & Wallace, Figure 6)."""
        return [
            violins(
                rows,
                "permutation_change",
                BINS,
                title="Change of the prediction under shuffling",
                axis="median Δŷ",
                high=1.0,
                caption="Sharp heatmaps whose shuffling changes nothing lie at the lower left.",
            )
        ]

    def rows(self, reading: Reading) -> Columns:
        """Shuffle, decode, and take the median."""
        change = self._linear(reading) if reading.linear else self._any(reading)
        return {
            "permutation_change": change,
            "indifferent": (change < SMALL).double(),
            "largest_weight": reading.scores("attention").amax(-1),
        }

    def summarise(self, rows: pl.DataFrame) -> Summary:
        """Average by predicted class and by the largest weight."""
        numbers = self.by_class("permutation_change", rows, "permutation_change")
        indifferent = self.by_class("indifferent", rows, "indifferent")
        numbers += [*indifferent, *self.by_largest_weight("permutation_change", rows, "permutation_change")]
        return self.summary(
            rows,
            f"Shuffling the weights moves the prediction by {value(numbers[0])} (median of "
            f"{self.config.permutations} shuffles), and leaves it within {SMALL} for {percent(indifferent[0])} of the texts.",
            numbers,
        )

    def _linear(self, reading: Reading) -> Float[Tensor, " batch"]:
        return permutation_change(
            reading.weights[:, 0],
            reading.item_logits,
            reading.mask,
            reading.rows,
            permutations=self.config.permutations,
            seed=self.config.seed,
        )

    def _any(self, reading: Reading) -> Float[Tensor, " batch"]:
        """Shuffle the items of all heads in the same way and decode again, one shuffle of the whole batch at a time."""
        before, moved = reading.probabilities, []
        with torch.no_grad():
            for draw in range(self.config.permutations):
                shuffled = [
                    permuted_weights(head, reading.mask, reading.rows, seed=self.config.seed, draw=draw)
                    for head in reading.weights.unbind(1)
                ]
                after = probabilities(reading.decode(torch.stack(shuffled, 1)[:, None])[:, 0])
                moved.append(tvd(after, before))
        return torch.stack(moved).quantile(0.5, dim=0)
