"""Does the heatmap point anywhere at all? It stands beside every other number: flat attention explains nothing."""

from __future__ import annotations

from typing import ClassVar

import polars as pl

from heedful.audits.audit import Audit, Columns, Measure, Summary, percent, register, value
from heedful.audits.reading import Reading
from heedful.measures.divergence import LN_2, sharpness

FLAT = 0.02
"""Nats of JSD to uniform below which a heatmap is called flat: no weight is then far above its fair share."""


@register
class Sharpness(Audit):
    """How far the weights are from uniform."""

    name = "sharpness"
    question = "Does the heatmap point anywhere at all?"
    paper = "heedful"
    of_weights = True
    measures: ClassVar = {
        "sharpness": Measure("JSD of the weights to uniform, in nats", high=LN_2, better="higher"),
        "largest_weight": Measure("largest weight of a text", better="higher"),
        "flat": Measure(f"share of texts with a sharpness below {FLAT}", better="lower"),
    }
    caveats = (
        "A sharp heatmap points somewhere; the other audits ask whether it points at the right place.",
    )

    def rows(self, reading: Reading) -> Columns:
        """Measure each head against uniform, and average over heads."""
        weights = reading.weights.double()
        mask = reading.mask[:, None].expand_as(weights)
        sharp = sharpness(weights, mask).mean(1)
        return {
            "sharpness": sharp,
            "largest_weight": weights.mean(1).amax(-1),
            "flat": (sharp < FLAT).double(),
        }

    def summarise(self, rows: pl.DataFrame) -> Summary:
        """Average over texts."""
        numbers = [self.number(name, rows[name]) for name in self.measures]
        _, largest, flat = numbers
        return self.summary(
            rows,
            f"The largest weight of a text is {value(largest)} on average, and the heatmap is flat for {percent(flat)} of the texts.",
            [*numbers, *self.by_class("sharpness", rows, "sharpness")[1:]],
        )
