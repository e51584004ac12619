"""How different can a heatmap be and still give this prediction? Jain & Wallace 4.2.2: Figures 1, 7, 8."""

from __future__ import annotations

from typing import ClassVar

import polars as pl

from heedful.audits.audit import Audit, Columns, Measure, Summary, percent, register, value
from heedful.audits.ragged import ragged
from heedful.audits.reading import Reading
from heedful.audits.search import published_search, search
from heedful.measures.counterfactual import eps_max_jsd
from heedful.measures.divergence import LN_2

DIFFERENT = LN_2 / 2
"""A heatmap at least this far from the model's own, half of the largest JSD, is called a different one."""


@register
class Counterfactual(Audit):
    """ε-max JSD: exact for binary linear decoders with one head, a lower bound for others."""

    name = "counterfactual"
    question = "How different can a heatmap be and still give this prediction?"
    paper = "jain-wallace"
    of_weights = True
    measures: ClassVar = {
        "eps_max_jsd": Measure("largest JSD of a heatmap that gives the same prediction", high=LN_2, better="lower"),
        "replaceable": Measure("share of texts that a different heatmap predicts the same", better="lower"),
    }  # fmt: skip
    caveats = (
        "Wiegreffe & Pinter object that such a heatmap is no attention the model could compute: it is made for one "
        "text at a time, outside of training. The imitation audit asks for one that a model computes.",
        "For contextual encoders ε-max JSD is near its ceiling of 0.69 for almost all texts, so that it tells models "
        "apart only where it is low.",
    )

    def __init__(self, *arguments: object, **named: object) -> None:
        super().__init__(*arguments, **named)  # type: ignore[arg-type]
        # The paper: 0.01, and 0.05 for question answering, where there are more answers to choose from.
        self.epsilon = self.options.epsilon or (0.05 if self.task == "qa" else 0.01)

    def exact(self, reading: Reading) -> bool:
        """Whether the true maximum can be had."""
        return self.options.method == "exact" and reading.linear and reading.item_logits.shape[-1] == 1

    def rows(self, reading: Reading) -> Columns:
        """Find the farthest heatmap of every text, and keep it."""
        exact = self.exact(reading)
        if exact:
            found = eps_max_jsd(
                reading.weights[:, 0], reading.item_logits[..., 0], reading.mask, epsilon=self.epsilon
            )
            values, weights = found.value, found.weights
        else:
            find = search if self.options.method == "exact" else published_search
            values, heads = find(reading, self.epsilon, seed=self.options.seed)
            weights = heads.mean(1)
        own = reading.scores("attention")
        counts = reading.mask.sum(1).tolist()
        return {
            "eps_max_jsd": values,
            "replaceable": (values >= DIFFERENT).double(),
            "exact": [exact] * len(counts),
            "largest_weight": own.amax(-1),
            "weights": ragged(own, reading.mask),
            "counterfactual_weights": ragged(weights, reading.mask),
        }

    def summarise(self, rows: pl.DataFrame) -> Summary:
        """Average by predicted class and by the largest weight."""
        numbers = self.by_class("eps_max_jsd", rows, "eps_max_jsd")
        replaceable = self.by_class("replaceable", rows, "replaceable")
        numbers += [*replaceable, *self.by_largest_weight("eps_max_jsd", rows, "eps_max_jsd")]
        exact = bool(rows["exact"].all())
        bound = "" if exact else "at least "
        note = "" if exact else (
            "Searched, not solved: the numbers are lower bounds."
            + (" The search is the published one (5 starts, 500 steps of Adam at 0.01)." if self.options.method == "search" else "")
        )  # fmt: skip
        return self.summary(
            rows,
            f"For {bound}{percent(replaceable[0])} of the texts a very different heatmap (JSD ≥ {DIFFERENT:.2f}) gives "
            f"the same prediction within {self.epsilon}; the largest JSD is {bound}{value(numbers[0])} on average, of {LN_2:.2f} possible.",
            numbers,
            note,
        )
