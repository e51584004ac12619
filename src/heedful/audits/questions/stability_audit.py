"""What every stability audit reports: the same measures, together with sharpness, for each condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
import torch
from numpy.typing import NDArray
from torch import Tensor

from heedful.audits.audit import ALL, Audit, Measure, Number
from heedful.audits.chart_kinds import scatter
from heedful.audits.exhibits import Chart, Order
from heedful.audits.questions.movement import Change, Snapshot, largest_weight, mean_change, mean_sharpness
from heedful.audits.questions.sharpness import FLAT
from heedful.audits.subject.reading import Reading
from heedful.audits.subject.scope import Scope
from heedful.errors import BadInput
from heedful.measures.divergence import LN_2
from heedful.measures.resampling import Ratio, Spread, f1_of, resample, spread
from heedful.output.numbers import percent, value
from heedful.progress import Watcher

if TYPE_CHECKING:
    from heedful.audits.subject.subject import Subject

LEAST = 1e-12
"""Where a logarithmic axis ends: a smaller movement counts as none."""
RESAMPLES = 1000


def measures(what: str) -> dict[str, Measure]:
    """Describe the shared measures; `what` says after which change, such as 'under noise'."""
    return {
        "jsd": Measure(f"JSD of the heatmap {what}, in nats", high=LN_2, better="lower"),
        "relative_jsd": Measure(
            f"JSD of the heatmap {what}, relative to its own sharpness",
            high=2.0,
            better="lower",
            plain=f"Relative to its sharpness, the heatmap moves by {{}} {what} (0: not at all; 1: it is another one).",
        ),
        "top_k_overlap": Measure(f"share of the top items that stay {what}", better="higher"),
        "top_moved": Measure(
            f"share of texts whose top item changes {what}",
            better="lower",
            plain=f"For {{}} of the texts the top item of the heatmap changes {what}.",
        ),
        "tvd": Measure(f"TVD of the prediction {what}", better="lower"),
        "flipped": Measure(
            f"share of texts whose decision changes {what}",
            better="lower",
            plain=f"For {{}} of the texts the decision changes {what}.",
        ),
        "f1": Measure(f"F1 {what}", better="higher"),
        "sharpness": Measure("JSD of the unchanged heatmap to uniform, in nats", high=LN_2, better="higher"),
        "largest_weight": Measure("largest weight of the unchanged heatmap"),
    }


class StabilityAudit(Audit):
    """Changes something that should not matter, and measures how far heatmap and prediction move."""

    paper = "seat"
    compared = ("jsd", "relative_jsd", "top_k_overlap", "tvd", "f1")
    flat_passes = True
    order = Order("relative_jsd", "how unsteady the heatmap is", worst="highest")
    equation: ClassVar[str] = (
        "JSD(w, w′) = ½ KL(w ‖ m) + ½ KL(w′ ‖ m),  m = (w + w′) / 2;  "
        "relative = JSD(w, w′) / (JSD(w, u) + JSD(w′, u)),  u = 1 / items"
    )
    labelled: bool = False
    classes: int = 2

    @classmethod
    def refuses(cls, scope: Scope) -> str | None:
        """Texts are changed and scored again."""
        return super().refuses(scope) or scope.fixed()

    @property
    def main_condition(self) -> str:
        """The condition whose numbers are reported first, by the suffix of its columns."""
        raise TypeError(f"{type(self).__name__} has no main condition")

    def prepare(self, subject: Subject, watcher: Watcher) -> None:
        """Refuse scores that cannot be computed again, and note whether F1 can be measured."""
        if self.source == "own":
            raise BadInput(
                f"{self.name} needs the scores of changed texts, and scores of your own are given for the texts as they "
                f"are: choose attention or an explainer as --source."
            )
        self.labelled, self.classes = subject.texts.labelled, len(subject.classifier.labels)

    def context_columns(self, heatmap: Snapshot, reading: Reading) -> dict[str, Tensor | list[Any]]:
        """Columns that belong to every stability number: how sharp the heatmap is, and the label, for F1."""
        columns: dict[str, Tensor | list[Any]] = {
            "sharpness": mean_sharpness(heatmap),
            "largest_weight": largest_weight(heatmap),
        }
        if self.labelled:
            columns["label"] = reading.batch.labels.tolist()
        return columns

    def columns(
        self, condition: str, changes: Sequence[Change], probabilities: Sequence[Tensor]
    ) -> dict[str, Tensor | list[Any]]:
        """Averages over draws, as `measure_condition`, and what was decided in each draw."""
        found: dict[str, Tensor | list[Any]] = {
            f"{name}_{condition}": values for name, values in mean_change(changes)._asdict().items()
        }
        if self.labelled:
            found[f"said_{condition}"] = torch.stack([p.argmax(-1) for p in probabilities], 1).tolist()
        return found

    def numbers(self, rows: pl.DataFrame, conditions: Mapping[str, str]) -> list[Number]:
        """Every measure for all texts (of the main condition), and by condition, which is given as suffix → group."""
        found = [self.overall(name, rows) for name in Change._fields]
        found += [self.number(name, rows[name]) for name in ("sharpness", "largest_weight")]
        found += self._f1(rows, self.main_condition, ALL)
        for condition, group in conditions.items():
            for name in Change._fields:
                if f"{name}_{condition}" in rows.columns:
                    found.append(self.number(name, rows[f"{name}_{condition}"], group))
            found += self._f1(rows, condition, group)
        return found

    def by_text(self, number: str, rows: pl.DataFrame, *, classes: int) -> Ratio | None:
        """F1 follows from what was decided in every draw; other numbers are means of their columns."""
        if number != "f1":
            return super().by_text(number, rows, classes=classes)
        found = _decisions(rows, self.main_condition)
        return None if found is None else f1_of(*found, classes=classes)

    def overall(self, name: str, rows: pl.DataFrame, group: str = ALL) -> Number:
        """Average a measure over texts."""
        return self.number(name, rows[name], group)

    def f1_with_interval(self, labels: np.ndarray, predicted: np.ndarray, condition: str) -> Spread:
        """F1 of what was decided in every draw [texts, draws], averaged, with an interval over texts."""
        drawn = resample(
            [[f1_of(labels, predicted, classes=self.classes)]], seed=self.config.seed, resamples=RESAMPLES
        )
        return spread(drawn[0, :, 0])

    def notes(self, rows: pl.DataFrame, items: str = "items") -> list[str]:
        """Say for how many texts a number is undefined, or means little."""
        k = self.config.top_k
        short = int((rows[items] <= k).sum())
        flat = int((rows["relative_jsd"].is_nan() & rows["jsd"].is_not_nan()).sum())
        zero = int(rows["sharpness"].is_nan().sum())
        reasons = (
            (
                short,
                f"have {k} items or fewer, all of which are their top items: their overlap is 1 whatever happens",
            ),
            (
                flat,
                "have a heatmap that is the same everywhere, so that its relative JSD is undefined",
            ),
            (zero, "have scores that are all zero, so that there is no heatmap to compare"),
        )
        return [f"{count} texts {what}." for count, what in reasons if count]

    def steadiness(self, numbers: Sequence[Number]) -> str:
        """The end of every finding: what moved, and how sharp the heatmap is."""
        n = {number.name: number for number in reversed(numbers) if number.group == ALL}
        dull = n["sharpness"].estimate is not None and n["sharpness"].estimate < FLAT
        return (
            f"moves the heatmap by a JSD of {value(n['jsd'])}, which is {value(n['relative_jsd'])} relative to its sharpness "
            f"of {value(n['sharpness'])}, gives another top item to {percent(n['top_moved'])} of the texts, and changes the "
            f"decision of {percent(n['flipped'])}"
            + ("; the heatmap is flat, so that it can hardly move." if dull else ".")
        )

    def against_sharpness(self, rows: pl.DataFrame) -> Chart:
        """Draw stability against sharpness, one point per text."""
        logs = rows.with_columns(
            moved=pl.col("relative_jsd").clip(lower_bound=LEAST).log10(), sharp=pl.col("sharpness")
        )
        return scatter(
            logs,
            "sharp",
            "moved",
            title="Steadiness beside sharpness",
            axes=("sharpness (JSD to uniform)", "log₁₀ of relative JSD"),
            caption="Lower is steadier, further right is sharper: a heatmap worth showing lies at the lower right.",
        )

    def _f1(self, rows: pl.DataFrame, condition: str, group: str) -> list[Number]:
        found = _decisions(rows, condition)
        if found is None:
            return []
        estimate, *ends = self.f1_with_interval(*found, condition)
        low, high = (None if np.isnan(end) else end for end in ends)
        return [
            Number(
                name="f1",
                group=group,
                estimate=estimate,
                low=low,
                high=high,
                std=None,
                count=len(rows),
                missing=0,
            )
        ]


def _decisions(rows: pl.DataFrame, condition: str) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Labels [texts], and what was decided in every draw [texts, draws]; None where they were not measured."""
    if "label" not in rows.columns or f"said_{condition}" not in rows.columns:
        return None
    return rows["label"].to_numpy(), np.array(rows[f"said_{condition}"].to_list(), dtype=np.int64)
