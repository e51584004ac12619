"""Does attention rank words as gradients and leave-one-out do? Jain & Wallace 4.1: Table 2, Figures 2–5."""

from __future__ import annotations

from typing import ClassVar

import polars as pl
from pydantic import Field
from torch import Tensor

from heedful.audits.audit import Audit, Columns, Measure, Summary, register
from heedful.audits.chart_kinds import histogram
from heedful.audits.exhibits import Chart, Order
from heedful.audits.subject.reading import Reading
from heedful.audits.subject.scope import Scope
from heedful.config import AuditOptions, Names
from heedful.errors import BadInput
from heedful.explainers.explainer import EXPLAINERS, can_explain, check_access
from heedful.measures.correlation import kendall_tau
from heedful.measures.overlap import top_k_overlap
from heedful.models.stages import Opaque
from heedful.output.numbers import percent, value

SIGNIFICANT = 0.05
TOP = 3
_USUAL = {
    "tau_g": ("attention", "gradient"),
    "tau_loo": ("attention", "leave_one_out"),
    "tau_g_loo": ("gradient", "leave_one_out"),
}


class AgreementOptions(AuditOptions):
    """Options of this audit only."""

    pairs: Names | None = Field(
        None,
        description="Pairs of explainers for agreement, such as attention:gradient, separated by commas.",
    )


@register
class Agreement(Audit):
    """Kendall's τ-b between the rankings of two explainers, text by text."""

    name = "agreement"
    question = "Does attention rank words as gradients and leave-one-out do?"
    does = "changes words"
    revision = 2
    paper = "jain-wallace"
    options = ("pairs",)
    config: AgreementOptions
    measures: ClassVar = {
        "tau_g": Measure("Kendall's τ of attention and gradient", low=-1.0, better="higher"),
        "tau_loo": Measure("Kendall's τ of attention and leave-one-out", low=-1.0, better="higher"),
        "tau_g_loo": Measure("Kendall's τ of gradient and leave-one-out", low=-1.0),
        "tau_g_significant": Measure("share of texts where τ_g has p ≤ 0.05", better="higher"),
        "tau_loo_significant": Measure("share of texts where τ_loo has p ≤ 0.05", better="higher"),
        "tau_g_loo_significant": Measure("share of texts where τ of gradient and leave-one-out has p ≤ 0.05"),
        "tau_g_top": Measure(
            f"share of the top {TOP} items of attention that are in the gradient's", better="higher"
        ),
        "tau_loo_top": Measure(
            f"share of the top {TOP} items of attention that are in leave-one-out's",
            better="higher",
            plain=f"Of the {TOP} items with most attention, {{}} are among the {TOP} whose removal matters most.",
        ),
        "tau_g_loo_top": Measure(f"share of the top {TOP} items of the gradient that are in leave-one-out's"),
    }
    caveats = (
        "τ weighs every pair of words the same, including words that no reader would point at; the overlap of the top "
        f"{TOP} looks only at what is shown.",
        "Gradients and leave-one-out are estimates of importance too, and need not agree with each other.",
    )

    equation = "τ_b = (concordant − discordant) / √((pairs − ties in x) · (pairs − ties in y))"
    method = (
        "Kendall's τ-b between the scores that two explainers give the items of a text; 1 is the same order, 0 no relation, "
        "−1 the reverse. Gradients are those of the prediction with respect to the input, leave-one-out deletes an item and "
        "measures how far the prediction moves. A text counts as significant where p ≤ 0.05."
    )
    order = Order("tau_loo", "agreement with leave-one-out", worst="lowest")

    def __init__(self, *arguments: object, **named: object) -> None:
        super().__init__(*arguments, **named)  # type: ignore[arg-type]
        self.pairs = self._pairs()

    @classmethod
    def refuses(cls, scope: Scope) -> str | None:
        """Of a model of which predictions alone are known there is leave-one-out, and that must not be what is audited."""
        if scope.access == "predictions" and scope.source in _USUAL["tau_loo"]:
            return "of this model it could only be compared with leave-one-out, and that is what is audited"
        return super().refuses(scope)

    def _pairs(self) -> dict[str, tuple[str, str]]:
        """Which rankings are compared; those of the audited scores take the place of attention."""
        if self.config.pairs is None:
            return {name: (self._named(x), self._named(y)) for name, (x, y) in _USUAL.items()}
        chosen = [_read_pair(pair) for pair in self.config.pairs]
        return {f"tau_{x}_{y}": (self._named(x), self._named(y)) for x, y in chosen}

    def rows(self, reading: Reading) -> Columns:
        """Correlate the scores of every pair."""
        columns: dict[str, Tensor] = {}
        for name, (x, y) in self._within_reach(reading).items():
            a, b = reading.scores(x), reading.scores(y)
            tau, p_value = kendall_tau(a, b, reading.mask)
            columns |= {
                name: tau,
                f"{name}_significant": (p_value <= SIGNIFICANT)
                .double()
                .masked_fill(tau.isnan(), float("nan")),
                f"{name}_top": top_k_overlap(a, b, k=TOP, mask=reading.mask),
            }
        return columns

    def _within_reach(self, reading: Reading) -> dict[str, tuple[str, str]]:
        """The pairs whose scores can be had of a model; those that the user named must be."""

        def can(name: str) -> bool:
            return name == "own" or can_explain(name, reading.model)

        if not isinstance(reading.model, Opaque):
            return self.pairs
        for name in {name for pair in self.pairs.values() for name in pair} if self.config.pairs else ():
            if name != "own":
                check_access(name, reading.model)
        return {name: (x, y) for name, (x, y) in self.pairs.items() if can(x) and can(y)}

    def summarise(self, rows: pl.DataFrame) -> Summary:
        """Average by pair and by predicted class."""
        pairs = {name: pair for name, pair in self.pairs.items() if name in rows.columns}
        numbers = [
            number
            for name in pairs
            for column in (name, f"{name}_significant", f"{name}_top")
            for number in self.by_class(column, rows, column)
        ]
        first = {name: next(n for n in numbers if n.name == name) for name in pairs}
        sentences = []
        for name, (x, y) in pairs.items():
            significant = next(n for n in numbers if n.name == f"{name}_significant")
            sentences.append(
                f"{_spelled(x)} and {_spelled(y)} agree with τ = {value(first[name])}, significantly for {percent(significant)} of the texts"
            )
        missing = max(number.missing for number in first.values())
        note = (
            f"{missing} texts have constant scores, so that τ is not defined; they are left out."
            if missing
            else ""
        )
        return self.summary(rows, _sentence(sentences), numbers, note)

    def charts(self, rows: pl.DataFrame) -> list[Chart]:
        """Histograms of τ by predicted class (Jain & Wallace, Figures 2 to 5)."""
        return [
            histogram(
                rows,
                name,
                title=f"{_spelled(x)} and {_spelled(y)}".capitalize(),
                axis="Kendall's τ",
                low=-1,
                high=1,
                caption="1: the same order of items. 0: no relation.",
            )
            for name, (x, y) in self.pairs.items()
            if name in rows.columns
        ]

    def _named(self, explainer: str) -> str:
        return self.source if explainer == "attention" else explainer


def _read_pair(pair: str) -> tuple[str, str]:
    names = pair.split(":")
    if len(names) != 2:
        raise BadInput(f"--pairs must hold pairs such as attention:gradient, not {pair!r}.")
    for name in names:
        EXPLAINERS.get(name)
    return names[0], names[1]


def _spelled(explainer: str) -> str:
    return {"own": "the scores given"}.get(explainer, explainer.replace("_", " "))


def _sentence(parts: list[str]) -> str:
    joined = "; ".join(parts)
    return joined[:1].upper() + joined[1:] + "."
