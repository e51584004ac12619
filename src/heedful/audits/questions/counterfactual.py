"""How different can a heatmap be and still give this prediction? Jain & Wallace 4.2.2: Figures 1, 7, 8."""

from __future__ import annotations

from typing import ClassVar, Literal

import polars as pl
import torch
from pydantic import Field

from heedful.audits.audit import BINS, Audit, Bound, Columns, Measure, Summary, register
from heedful.audits.chart_kinds import histogram, violins
from heedful.audits.exhibits import Chart, Heatmap, Order
from heedful.audits.questions.corners import farthest_of_all
from heedful.audits.questions.heatmap_search import SOLVED, published_search, search
from heedful.audits.subject.ragged import ragged
from heedful.audits.subject.reading import Reading
from heedful.audits.subject.scope import Scope
from heedful.config import AuditOptions
from heedful.measures.counterfactual import eps_max_jsd
from heedful.measures.divergence import LN_2
from heedful.models.stages import probabilities
from heedful.output.numbers import percent, value

DIFFERENT = LN_2 / 2
"""A heatmap at least this far from the model's own, half of the largest JSD, counts as different."""

TRIED = 2500
"""Of longer texts not all pairs of items are tried, but those of the lightest, half as many on each side of the boundary."""


class CounterfactualOptions(AuditOptions):
    """Options of this audit only."""

    epsilon: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="How far a counterfactual may move the prediction; 0.01, or 0.05 for questions.",
    )
    method: Literal["exact", "search"] = Field(
        "exact", description="Counterfactual heatmaps: exact where possible, or the published search."
    )


@register
class Counterfactual(Audit):
    """ε-max JSD: exact for binary linear decoders with one head, a lower bound for others."""

    name = "counterfactual"
    question = "How different can a heatmap be and still give this prediction?"
    does = "replaces weights"
    needs_reach = True
    revision = 2
    paper = "jain-wallace"
    options = ("epsilon", "method")
    config: CounterfactualOptions
    access = "stages"
    measures: ClassVar = {
        "eps_max_jsd": Measure(
            "largest JSD of a heatmap that gives the same prediction", high=LN_2, better="lower"
        ),
        "jsd_bound": Measure(
            "largest JSD that any heatmap can have which gives the same prediction", high=LN_2
        ),
        "replaceable": Measure(
            "share of texts that a different heatmap predicts the same",
            better="lower",
            plain="For {} of the texts we found a very different heatmap that gives the same answer.",
        ),
        "needless": Measure(
            "share of texts where uniform weights give the same prediction",
            better="lower",
            plain="For {} of the texts the answer would be the same if all words had the same weight.",
        ),
        "replaceable_needed": Measure(
            "share of texts, of those that need attention, that a different heatmap predicts the same",
            better="lower",
            plain="Of the texts whose answer depends on attention, {} have a very different heatmap that gives the same answer.",
        ),
    }
    caveats = (
        "A model needs no evidence for the answer it falls back to, so that any heatmap will do there. Texts where "
        "uniform weights give the same prediction are therefore counted apart (needless).",
        "Wiegreffe & Pinter object that such a heatmap is not attention that a model could compute: it is made for one "
        "text at a time, outside of training. The imitation audit looks for attention that a model does compute.",
        "For contextual encoders ε-max JSD is near its ceiling of 0.69 for almost all texts, so that it tells models "
        "apart only where it is low.",
    )

    equation = "ε-max JSD = max over weights α with TVD(ŷ(α), ŷ(α̂)) ≤ ε of JSD(α, α̂)"
    method = (
        "Among all weights that change the prediction by at most ε, we look for those that differ most from the model's own α̂. "
        "JSD is convex and the feasible weights are a simplex cut by a slab, so that for two classes and a linear decoder the "
        "maximum lies at a corner with one or two items, and all corners are tried: the answer is exact. Elsewhere it is "
        "searched for among heatmaps of one item, of two and, where the decoder is linear, of three, and from the best of them "
        "by gradient: a lower bound, which can forbid and cannot pass. With several heads those with one item each are tried too. No heatmap is farther than "
        "the mean over heads of the farthest item, which bounds it from above; where the two meet the answer is exact."
    )
    heatmap = Heatmap(
        "counterfactual_weights", "Another heatmap, nearly the same answer", "counterfactual_probability"
    )
    order = Order("eps_max_jsd", "how different another heatmap can be", worst="highest")

    enumerated: bool = False
    """Whether heatmaps of two items were listed, and not searched for."""

    @classmethod
    def refuses(cls, scope: Scope) -> str | None:
        """It replaces weights, and scores other than attention are not weights."""
        return super().refuses(scope) or scope.beyond_attention()

    @property
    def epsilon(self) -> float:
        """The user's choice, or the paper's: 0.01, and 0.05 for questions, where there are more answers to choose from."""
        return self.config.epsilon or (0.05 if self.task == "qa" else 0.01)

    def exact(self, reading: Reading) -> bool:
        """Whether the true maximum can be computed."""
        return self.config.method == "exact" and reading.linear and reading.item_logits.shape[-1] == 1

    def rows(self, reading: Reading) -> Columns:
        """Find and save the farthest heatmap of every text."""
        self.enumerated = exact = self.exact(reading)
        if exact:
            found = eps_max_jsd(
                reading.weights[:, 0],
                reading.item_logits[..., 0],
                reading.mask,
                epsilon=self.epsilon,
                most=TRIED // 2,
            )
            values, weights = found.value, found.weights
            heads = weights[:, None]
        else:
            find = search if self.config.method == "exact" else published_search
            values, heads = find(reading, self.epsilon, seed=self.config.seed)
            weights = heads.mean(1)
        most = farthest_of_all(reading.weights, reading.mask)
        all_tried = (reading.mask.sum(1) <= TRIED) & exact
        solved = (all_tried | (values >= most - SOLVED)).tolist()
        with torch.no_grad():
            after = probabilities(reading.decode(heads[:, None])[:, 0])
        probability = after.gather(1, reading.probabilities.argmax(-1, keepdim=True))[:, 0]
        replaceable = (values >= DIFFERENT).double()
        needless = reading.needless
        own = reading.scores("attention")
        return {
            "eps_max_jsd": values,
            "replaceable": replaceable,
            "needless": needless.double(),
            "replaceable_needed": replaceable.masked_fill(needless, torch.nan),
            "jsd_bound": torch.where(all_tried, values, most),
            "exact": solved,
            "largest_weight": own.amax(-1),
            "weights": ragged(own, reading.mask),
            "counterfactual_weights": ragged(weights, reading.mask),
            "counterfactual_probability": probability,
        }

    def charts(self, rows: pl.DataFrame) -> list[Chart]:
        """Histogram by class and violins by the largest weight (Jain & Wallace, Figures 7 and 8)."""
        axis = "ε-max JSD"
        return [
            histogram(
                rows,
                "eps_max_jsd",
                title="How different the other heatmap is",
                axis=axis,
                low=0,
                high=LN_2,
                caption="0.69 is the most that two heatmaps can differ.",
            ),
            violins(
                rows,
                "eps_max_jsd",
                BINS,
                title="The same by the largest weight",
                axis=axis,
                high=LN_2,
                caption="Sharp heatmaps that can be replaced lie at the lower right.",
            ),
        ]

    def summarise(self, rows: pl.DataFrame) -> Summary:
        """Average over all texts, by predicted class and by the largest weight."""
        exact = bool(rows["exact"].all())
        bound: Bound = None if exact else "lower"
        numbers = self.by_class("eps_max_jsd", rows, "eps_max_jsd", bound=bound)
        replaceable = self.by_class("replaceable", rows, "replaceable", bound=bound)
        numbers += self.by_class("needless", rows, "needless")
        needed = self.by_class("replaceable_needed", rows, "replaceable_needed", bound=bound)
        if not exact:
            numbers.append(self.number("jsd_bound", rows["jsd_bound"]))
        numbers += [
            *needed,
            *replaceable,
            *self.by_largest_weight("eps_max_jsd", rows, "eps_max_jsd", bound=bound),
        ]
        at_least = "" if exact else "at least "
        unsolved = rows.filter(~pl.col("exact"))
        note = (
            ""
            if exact
            else (
                f"In {len(unsolved)} texts of more than {TRIED:,} items only the {TRIED // 2:,} lightest on each side were mixed with one "
                f"another, so that the numbers are lower bounds. Between the largest JSD found and what no heatmap can exceed lies "
                f"{_gap(rows):.3f} on average."
            )
            if self.enumerated and bool((unsolved["items"] > TRIED).all())
            else (
                f"Searched, not solved: the numbers are lower bounds. Between the largest JSD found and what no heatmap can exceed lies {_gap(rows):.3f} on average; "
                f"for {int(rows['exact'].sum())} of {len(rows)} texts the two are the same."
                + (
                    " The search is the published one (5 starts, 500 steps of Adam at 0.01)."
                    if self.config.method == "search"
                    else ""
                )
            )
        )
        of_needed = f"for {at_least}{percent(needed[0])} of those whose prediction needs attention at all"
        return self.summary(
            rows,
            f"For {at_least}{percent(replaceable[0])} of the texts a very different heatmap (JSD ≥ {DIFFERENT:.2f}) gives "
            f"the same prediction within {self.epsilon}, and {of_needed if needed[0].count else 'no prediction needs attention at all'}; "
            f"the largest JSD is {at_least}{value(numbers[0])} on average, of {LN_2:.2f} possible.",
            numbers,
            note,
        )


def _gap(rows: pl.DataFrame) -> float:
    """How much is unknown of the largest JSD, on average."""
    return float((rows["jsd_bound"] - rows["eps_max_jsd"]).clip(0).to_numpy().mean())
