"""Does the heatmap point anywhere at all? It goes with every other number: flat attention explains nothing."""

from __future__ import annotations

from typing import ClassVar

import polars as pl
import torch

from heedful.audits.audit import Audit, Columns, Measure, Summary, register
from heedful.audits.chart_kinds import histogram
from heedful.audits.exhibits import Chart, Order
from heedful.audits.questions.movement import largest_weight, mean_sharpness, snapshot
from heedful.audits.subject.reading import Reading
from heedful.measures.divergence import LN_2
from heedful.output.numbers import percent, value

FLAT = 0.02
"""Nats of JSD to uniform below which a heatmap is called flat: no weight is then far above an equal share."""


@register
class Sharpness(Audit):
    """How far the weights, or the scores of another source, are from uniform."""

    name = "sharpness"
    question = "Does the heatmap point anywhere at all?"
    paper = "heedful"
    measures: ClassVar = {
        "sharpness": Measure(
            "JSD of the heatmap to uniform, in nats",
            high=LN_2,
            better="higher",
            plain="On average a heatmap is {} nats away from one that is the same everywhere.",
        ),
        "largest_weight": Measure("largest weight of a text", better="higher"),
        "flat": Measure(
            f"share of texts with a sharpness below {FLAT}",
            better="lower",
            plain="For {} of the texts the heatmap is flat: it points nowhere.",
        ),
        "flat_needed": Measure(
            f"share of texts, of those that need attention, with a sharpness below {FLAT}",
            better="lower",
            plain="Of the texts whose answer depends on attention, {} have a flat heatmap.",
        ),
        "special_share": Measure(
            "share of the attention on tokens that are no words, such as [CLS]; only for models that have them",
        ),
    }
    caveats = (
        "A sharp heatmap points somewhere; the other audits ask whether it points at the right place.",
    )

    equation = "sharpness = JSD(α, uniform) = H((α + u) / 2) − H(α) / 2 − H(u) / 2,  u = 1 / items"
    method = (
        "The Jensen-Shannon divergence between the weights of a text and uniform weights, in nats, averaged "
        f"over heads. It is 0 for a flat heatmap and at most {LN_2:.2f}; below {FLAT} a heatmap is called flat. For an explainer "
        "the absolute values of its scores, divided by their sum, take the place of the weights; scores that are all zero point nowhere."
    )
    compared = ("sharpness", "largest_weight")
    order = Order("sharpness", "sharpness", worst="lowest")

    def charts(self, rows: pl.DataFrame) -> list[Chart]:
        """Histogram of the largest weight."""
        caption = "Near 1 one item has all the attention; near 0 it is spread over many."
        return [
            histogram(
                rows,
                "largest_weight",
                title="The largest weight of each text",
                axis="largest weight",
                low=0,
                high=1,
                caption=caption,
            )
        ]

    def rows(self, reading: Reading) -> Columns:
        """Measure each head against uniform, and average over heads."""
        heatmap = snapshot(reading, self.source)
        apart = mean_sharpness(heatmap)
        nowhere = apart.isnan()
        apart = apart.masked_fill(nowhere, 0.0)
        flat = (apart < FLAT).double()
        fixed = reading.states.fixed
        return ({} if fixed is None else {"special_share": fixed}) | {
            "sharpness": apart,
            "largest_weight": torch.where(nowhere, 1 / reading.mask.sum(1), largest_weight(heatmap)),
            "flat": flat,
            "flat_needed": flat.masked_fill(reading.needless, torch.nan),
        }

    def summarise(self, rows: pl.DataFrame) -> Summary:
        """Average over texts."""
        numbers = [self.number(name, rows[name]) for name in self.measures if name in rows.columns]
        _, largest, flat, _, *special = numbers
        return self.summary(
            rows,
            f"The largest weight of a text is {value(largest)} on average, and the heatmap is flat for {percent(flat)} of the texts.",
            [*numbers, *self.by_class("sharpness", rows, "sharpness")[1:]],
            *(
                f"{percent(number)} of the attention lies on tokens that are no words, such as [CLS]. Audits that replace weights hold "
                f"it there and ask about the words' share alone."
                for number in special
            ),
        )
