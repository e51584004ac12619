"""Does the most attended item matter more than another? Serrano & Smith 4: Figures 3, 4, 9, 12, 13; Table 2."""

from __future__ import annotations

import polars as pl
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.audits.audit import Audit, Columns, Measure, Number, Summary, register
from heedful.audits.chart_kinds import scatter
from heedful.audits.exhibits import Chart, Order
from heedful.audits.subject.reading import Reading
from heedful.measures.divergence import jsd
from heedful.measures.streams import Stream, uniform_by_instance
from heedful.models.stages import probabilities
from heedful.output.numbers import percent

RANKINGS = {"attention": "attention", "gradient": "weight_gradient", "product": "weight_product"}
_ROUNDING = 1e-8  # two items with the same effect differ by less in single precision
_OUTCOMES = {
    "both": (True, True),
    "top_only": (True, False),
    "other_only": (False, True),
    "neither": (False, False),
}

_PLAIN = "For {} of the texts the most attended item matters less than one picked at random."


def _measures() -> dict[str, Measure]:
    found = {}
    for name in RANKINGS:
        less = f"share of texts where the {name}'s top item changes the output less than a random other"
        flips = f"share of texts whose decision flips without the {name}'s top item"
        found[f"{name}_negative"] = Measure(less, better="lower", plain=_PLAIN if name == "attention" else "")
        found[f"{name}_flips"] = Measure(flips, better="higher")
        for outcome in _OUTCOMES:
            which = outcome.replace("_", " ")
            found[f"{name}_{outcome}"] = Measure(f"share of texts where what flips is: {which} ({name})")
    return found


@register
class SingleErasure(Audit):
    """Erase one item (its weight goes to zero, the rest is scaled up) and measure how far the output moves."""

    name = "single_erasure"
    question = "Does the most attended item matter more than another?"
    does = "replaces weights"
    paper = "serrano-smith"
    access = "stages"
    measures = _measures()
    caveats = (
        "Erasing leaves the training distribution: the model never saw texts with weights set to zero.",
        "One item seldom decides a text, so that few decisions flip either way; flip_set erases more.",
    )

    equation = "ΔJS = JS(ŷ without top, ŷ) − JS(ŷ without random, ŷ),  Δα = α_top − α_random"
    method = (
        "The item with most weight is erased: its weight goes to zero and the others are scaled up. The same is done with a "
        "random other item, and the two changes of the output (Jensen-Shannon divergence) are compared. Where ΔJS is below "
        "zero the random item mattered more."
    )
    order = Order("attention_delta_js", "how much more the top item matters", worst="lowest")

    def charts(self, rows: pl.DataFrame) -> list[Chart]:
        """ΔJS against Δα (Serrano & Smith, Figure 3)."""
        return [
            scatter(
                rows,
                "attention_delta_weight",
                "attention_delta_js",
                title="Top item against a random other",
                axes=("Δα, difference of weight", "ΔJS, difference of effect"),
                caption="Below zero the random item mattered more than the most attended one.",
            )
        ]

    def rows(self, reading: Reading) -> Columns:
        """Erase the top item of each ranking, and for each a random other one."""
        mask, before = reading.mask, reading.probabilities
        columns: dict[str, Tensor] = {}
        for name, explainer in RANKINGS.items():
            scores = reading.scores(self.source if explainer == "attention" else explainer)
            top = scores.masked_fill(~mask, -torch.inf).argmax(1)  # the first of equals
            other = _another(reading, top, seed=self.config.seed)
            after = probabilities(
                reading.erase_all_but(torch.stack([_all_but(mask, top), _all_but(mask, other)], 1))
            )
            flips = after.argmax(-1) != before.argmax(-1)[:, None]
            moved = jsd(after, before[:, None])
            weights = reading.scores("attention").double()
            columns |= {
                f"{name}_delta_js": moved[:, 0] - moved[:, 1],
                f"{name}_delta_weight": _at(weights, top) - _at(weights, other),
                f"{name}_flips": flips[:, 0].double(),
                f"{name}_other_flips": flips[:, 1].double(),
            }
        return columns

    def summarise(self, rows: pl.DataFrame) -> Summary:
        """Shares of texts, and the table of which erasures flip the decision."""
        numbers: list[Number] = []
        for name in RANKINGS:
            numbers.append(
                self.number(f"{name}_negative", (rows[f"{name}_delta_js"] < -_ROUNDING).cast(pl.Float64))
            )
            numbers += self.by_class(f"{name}_flips", rows, f"{name}_flips")
            for outcome, (top, other) in _OUTCOMES.items():
                same = (rows[f"{name}_flips"] == float(top)) & (rows[f"{name}_other_flips"] == float(other))
                numbers.append(self.number(f"{name}_{outcome}", same.cast(pl.Float64)))
        found = {number.name: number for number in reversed(numbers) if number.group == "all"}
        return self.summary(
            rows,
            f"Erasing the most attended item flips the decision for {percent(found['attention_flips'])} of the texts; "
            f"for {percent(found['attention_negative'])} it changes the output less than a random other item does.",
            numbers,
        )


def _another(reading: Reading, top: Int[Tensor, " batch"], *, seed: int) -> Int[Tensor, " batch"]:
    """Draw an item that is not the top one. The published code draws a rank and uses it as a position."""
    keys = uniform_by_instance(reading.rows, reading.mask.shape[1], seed=seed, draw=Stream.SINGLE_ERASURE)
    return keys.masked_fill(~_all_but(reading.mask, top), -1.0).argmax(1)


def _all_but(mask: Bool[Tensor, "batch items"], item: Int[Tensor, " batch"]) -> Bool[Tensor, "batch items"]:
    return mask.scatter(1, item[:, None], False)


def _at(values: Float[Tensor, "batch items"], item: Int[Tensor, " batch"]) -> Float[Tensor, " batch"]:
    return values.gather(1, item[:, None])[:, 0]
