"""How much may the weights move before the decision can change? Exact, for decoders linear in the weights."""

from __future__ import annotations

import math
from typing import ClassVar

import polars as pl
import torch
from pydantic import Field
from torch import Tensor

from heedful.audits.audit import ALL, Audit, Columns, Measure, Number, Summary, register
from heedful.audits.chart_kinds import dots
from heedful.audits.exhibits import Chart, Order
from heedful.audits.subject.reading import Reading
from heedful.audits.subject.scope import Scope
from heedful.config import AuditOptions, Sizes
from heedful.measures.certificate import certified_radius
from heedful.measures.norms import NORMS, Norm
from heedful.output.numbers import percent, value

SEAT_RADIUS = 1e-3
"""Largest change of a weight that SEAT asks a decision to survive."""

FARTHEST: dict[Norm, float] = {"linf": 1.0, "l2": math.sqrt(2), "l1": 2.0}
"""How far apart two heatmaps can be; a larger radius has no further meaning, and counts as this."""

_SPELLED: dict[Norm, str] = {"linf": "ℓ∞", "l2": "ℓ2", "l1": "ℓ1"}


def _measures() -> dict[str, Measure]:
    found = {}
    for norm, spelled in _SPELLED.items():
        largest, far = (
            f"largest change of the weights ({spelled}) that cannot change the decision",
            FARTHEST[norm],
        )
        found[f"radius_{norm}"] = Measure(largest, high=far, better="higher")
        found[f"radius_{norm}_zero_sum"] = Measure(
            f"{largest}, if changes sum to 0", high=far, better="higher"
        )
        found[f"certified_{norm}"] = Measure(
            f"share of texts whose decision no change of this size ({spelled}) can change", better="higher"
        )
    return found


class CertificateOptions(AuditOptions):
    """Options of this audit only."""

    radii: Sizes = Field(
        (0.001, 0.01, 0.05, 0.1, 0.5),
        description="Sizes of a change of the weights, separated by commas (certificate).",
    )


@register
class Certificate(Audit):
    """The largest ‖δ‖ on the weights that cannot change the decision, in three norms."""

    name = "certificate"
    question = "How much may the weights move before the decision can change?"
    does = "replaces weights"
    paper = "heedful"
    options = ("radii",)
    config: CertificateOptions
    access = "stages"
    measures: ClassVar = _measures() | {
        "certified": Measure(
            f"share of texts whose decision no change of each weight by {SEAT_RADIUS:g} can change",
            better="higher",
            plain="For {} of the texts no tiny change of the weights, however it is chosen, changes the answer.",
        )
    }
    caveats = (
        "A decision that does not depend on attention at all survives any change of the weights: a large radius is good only "
        "where attention is needed (counterfactual.needless) and points somewhere (sharpness).",
        "Only the weights move here, and the states stay as they are; a change of the text moves both.",
        "ℓ∞ lets every weight move at once, so that long texts have smaller radii for the same decision.",
    )

    equation = (
        "R = min over c′ ≠ c of (z_c − z_c′) / ‖v_c − v_c′‖*,  v_k,i = (W h_i)_k;  "
        "with Σδ = 0 the norm of v less a constant"
    )
    method = (
        "With a decoder linear in the weights, a change δ moves the lead of the class decided on over another by the product of "
        "δ and the difference of the items' logits for the two classes, without bias. At a given size of δ that product is bounded by the dual norm "
        "(ℓ1 for ℓ∞, ℓ2 for ℓ2, ℓ∞ for ℓ1), and the bound is reached: the radius is exact. If the changes of a head "
        "sum to 0, so that weights still sum to 1, a constant is subtracted first: median, mean, or middle of the range. The "
        "weights of several heads move together. A radius beyond the distance of any two heatmaps counts as that distance."
    )
    compared = ("radius_linf", "radius_l2", "certified")
    flat_passes = True
    order = Order("radius_linf", "how far weights may move", worst="lowest")

    @classmethod
    def refuses(cls, scope: Scope) -> str | None:
        """It replaces weights, and scores other than attention are not weights."""
        return super().refuses(scope) or scope.beyond_attention()

    def rows(self, reading: Reading) -> Columns:
        """Compute every radius; NaN if the decoder is not linear."""
        effects = reading.effects
        if effects is None:
            nothing = torch.full((len(reading.mask),), torch.nan, dtype=torch.float64)
            return dict.fromkeys(self._columns(), nothing)
        columns: dict[str, Tensor] = {}
        for norm in NORMS:
            free, held = (
                certified_radius(
                    reading.logits,
                    effects.of_item,
                    reading.mask,
                    norm=norm,
                    zero_sum=zero_sum,
                    candidates=_candidates(reading),
                )
                for zero_sum in (False, True)
            )
            columns |= {
                f"radius_{norm}": free.clamp(max=FARTHEST[norm]),
                f"radius_{norm}_zero_sum": held.clamp(max=FARTHEST[norm]),
            }
            columns |= {f"certified_{norm}_{r:g}": (free >= r).double() for r in self.config.radii}
            if norm == "linf":
                columns["certified"] = (free >= SEAT_RADIUS).double()
        return columns

    def summarise(self, rows: pl.DataFrame) -> Summary:
        """Average the radii, also by class, and the shares certified at each size."""
        numbers: list[Number] = [self.number("certified", rows["certified"])]
        for norm in NORMS:
            numbers += self.by_class(f"radius_{norm}", rows, f"radius_{norm}")
            numbers.append(self.number(f"radius_{norm}_zero_sum", rows[f"radius_{norm}_zero_sum"]))
            numbers += [
                self.number(f"certified_{norm}", rows[f"certified_{norm}_{r:g}"], f"R = {r:g}")
                for r in self.config.radii
            ]
        found = {number.name: number for number in reversed(numbers) if number.group == ALL}
        if found["radius_linf"].estimate is None:
            return self.summary(
                rows,
                "There is no exact certificate, because the decoder is not linear in the weights.",
                numbers,
                "Train with --decoder linear for an exact certificate; a bound found by a search would certify nothing.",
            )
        return self.summary(
            rows,
            f"Every weight may move by {value(found['radius_linf'], 4)} on average before the decision can change; no change by "
            f"{SEAT_RADIUS:g} can change it for {percent(found['certified'])} of the texts.",
            numbers,
        )

    def charts(self, rows: pl.DataFrame) -> list[Chart]:
        """Share certified at each size of a change."""
        shares = {
            f"{_SPELLED[norm]} ≤ {r:g}": rows[f"certified_{norm}_{r:g}"].drop_nans().mean()
            for norm in NORMS
            for r in self.config.radii
            if f"certified_{norm}_{r:g}" in rows.columns
        }
        known = {name: float(share) for name, share in shares.items() if isinstance(share, float)}
        title = "Texts whose decision no change of this size can change"
        return (
            [
                dots(
                    known,
                    title=title,
                    axis="share of texts",
                    caption="Sizes of a change of the weights, by norm.",
                )
            ]
            if known
            else []
        )

    def _columns(self) -> list[str]:
        kinds = [f"radius_{norm}{end}" for norm in NORMS for end in ("", "_zero_sum")]
        return [
            *kinds,
            *(f"certified_{norm}_{r:g}" for norm in NORMS for r in self.config.radii),
            "certified",
        ]


def _candidates(reading: Reading) -> Tensor | None:
    """Which classes can be decided on; a model with one logit has no candidates."""
    return None if reading.logits.shape[-1] == 1 else reading.states.candidates
