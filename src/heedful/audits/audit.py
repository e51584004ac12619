"""What an audit is: a question, a measurement per instance, numbers with intervals, and one plain sentence."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict
from torch import Tensor

from heedful.audits.citations import Citation, citations
from heedful.audits.separation import caveat
from heedful.audits.subject.reading import Reading
from heedful.audits.subject.scope import Scope
from heedful.config import AuditOptions
from heedful.measures.intervals import bootstrap_interval
from heedful.measures.resampling import Ratio, mean_of
from heedful.models.stages import Access
from heedful.registry import Registry

if TYPE_CHECKING:
    from heedful.audits.exhibits import Chart, Heatmap, Order, PickedItems
    from heedful.audits.subject.subject import Subject
    from heedful.progress import Watcher

Columns = Mapping[str, Tensor | Sequence[object]]
ALL = "all"
Bound = Literal["lower"] | None
BINS = ((0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.0))
"""Bins of the largest weight, as in Jain & Wallace's figures."""


class Measure(NamedTuple):
    """What a number is, where it can lie, and which way is good for showing attention (None: neither)."""

    description: str
    low: float = 0.0
    high: float = 1.0
    better: Literal["higher", "lower"] | None = None
    plain: str = ""
    """The number in a sentence for readers who do not read papers, with {} in its place."""


class Number(BaseModel):
    """A mean over instances with its 95 % interval; None where no instance defines it, or seeds are too few for one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    group: str = ALL
    estimate: float | None
    low: float | None
    high: float | None
    std: float | None
    count: int
    missing: int
    bound: Bound = None
    """Whether this is a lower bound of the true value, because it was searched for and not solved exactly."""


class Summary(BaseModel):
    """What an audit found."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    audit: str
    question: str
    finding: str
    numbers: tuple[Number, ...]
    caveats: tuple[str, ...]
    notes: tuple[str, ...] = ()
    """What was left out or done differently, with counts."""
    instances: int
    seconds: float = 0.0
    revision: int = 0
    """Of the audit that measured it."""

    def number(self, name: str, group: str = ALL) -> Number:
        """Find a number by its name."""
        return next(n for n in self.numbers if n.name == name and n.group == group)


class Audit(ABC):
    """One question asked of a trained model."""

    name: ClassVar[str]
    question: ClassVar[str]
    paper: ClassVar[str]
    """Where it comes from: a key of citations.yaml, or any word if the audit has a `citation` of its own."""
    citation: ClassVar[Citation | None] = None
    measures: ClassVar[Mapping[str, Measure]]
    caveats: ClassVar[tuple[str, ...]] = ()
    revision: ClassVar[int] = 1
    """Goes up when its numbers change their meaning, so that results of an earlier version are measured again."""
    does: ClassVar[str] = "looks at the heatmap"
    """What it does to the model or the text. Audits that replace weights keep the states, and miss evidence that the
    context has carried to other states; those that change words do not."""
    options: ClassVar[tuple[str, ...]] = ()
    """Options that its numbers depend on, besides those that all audits share: changing any other option does not
    repeat it. An option that no other audit reads is declared in its own file (see heedful.declared)."""
    config: AuditOptions
    access: ClassVar[Access] = "predictions"
    """How much of a model it needs access to."""
    scores_words: ClassVar[bool] = True
    """Whether it looks at scores of words; one that does not can be asked of models without attention, whatever the source."""
    needs_reach: ClassVar[bool] = False
    """Whether it asks what other weights do to the prediction, which says nothing of the heatmap where none does anything."""
    only_named: ClassVar[str] = ""
    """Why it runs only if it is named; empty if it always runs."""
    compared: ClassVar[tuple[str, ...]] = ()
    """Numbers that represent it where models are compared; if none is named, all for which high or low is better."""
    flat_passes: ClassVar[bool] = False
    """Whether a flat heatmap does well in it without saying anything, so that it must be read with sharpness."""
    equation: ClassVar[str] = ""
    method: ClassVar[str] = ""
    """How it is computed, for readers who want to know."""
    heatmap: ClassVar[Heatmap | None] = None
    marks: ClassVar[PickedItems | None] = None
    order: ClassVar[Order | None] = None

    def __init__(
        self, options: AuditOptions, *, source: str = "attention", task: str = "classification"
    ) -> None:
        self.config, self.source, self.task = options, source, task

    @classmethod
    def refuses(cls, scope: Scope) -> str | None:
        """Say why it cannot be asked about this model, these scores and these texts; None if it can."""
        return scope.lacks(cls.access)

    def check(self) -> None:  # noqa: B027 most audits need nothing that could be missing
        """Raise `BadInput` where something that it needs is missing, before anything is written."""

    def prepare(self, subject: Subject, watcher: Watcher) -> None:  # noqa: B027 most audits need no preparation
        """Do what must be done once before texts are measured."""

    @abstractmethod
    def rows(self, reading: Reading) -> Columns:
        """Measure every instance of a batch; NaN for an instance for which the question has no answer."""

    @abstractmethod
    def summarise(self, rows: pl.DataFrame) -> Summary:
        """Put the measurements of all instances together."""

    def by_text(self, number: str, rows: pl.DataFrame, *, classes: int) -> Ratio | None:
        """Return a number as sums over texts, so that models are compared text by text; None if no column holds it.

        The mean of the column of its name, unless a subclass knows better.
        """
        if number not in rows.columns or not rows[number].dtype.is_numeric():
            return None
        return mean_of(rows[number].cast(pl.Float64).to_numpy())

    def charts(self, rows: pl.DataFrame) -> list[Chart]:
        """Draw the paper's figures from the measurements; columns that hold lists may be missing."""
        return []

    def number(
        self, name: str, values: pl.Series | np.ndarray, group: str = ALL, *, bound: Bound = None
    ) -> Number:
        """Average values, with an interval; `bound` says whether they are only bounds of the true ones."""
        measured = np.asarray(values, dtype=np.float64)
        interval = bootstrap_interval(measured, resamples=1000, seed=self.config.seed)
        present = measured[~np.isnan(measured)]
        std = float(present.std(ddof=1)) if len(present) > 1 else None
        estimate, low, high = (None if math.isnan(v) else v for v in interval[:3])
        return Number(
            name=name,
            group=group,
            estimate=estimate,
            low=low,
            high=high,
            std=std,
            count=interval.count,
            missing=interval.missing,
            bound=bound,
        )

    def by_class(self, name: str, rows: pl.DataFrame, column: str, *, bound: Bound = None) -> list[Number]:
        """Average a column over all instances, and over those of each predicted class."""
        numbers = [self.number(name, rows[column], bound=bound)]
        for label in rows["predicted"].unique().sort():
            of_class = rows.filter(pl.col("predicted") == label)[column]
            numbers.append(self.number(name, of_class, f"class {label}", bound=bound))
        return numbers

    def by_largest_weight(
        self, name: str, rows: pl.DataFrame, column: str, *, bound: Bound = None
    ) -> list[Number]:
        """Average a column over the instances in each bin of the largest weight."""
        groups = {
            f"largest weight {low:.2f}–{high:.2f}": rows.filter(in_bin(low, high)) for low, high in BINS
        }
        return [self.number(name, some[column], group, bound=bound) for group, some in groups.items()]

    def summary(self, rows: pl.DataFrame, finding: str, numbers: Sequence[Number], *notes: str) -> Summary:
        """Make the summary, with the audit's own question and caveats."""
        return Summary(
            audit=self.name,
            question=self.question,
            finding=finding,
            numbers=tuple(numbers),
            caveats=(*self.caveats, *caveat(self.name)),
            notes=tuple(note for note in notes if note),
            instances=len(rows),
            revision=self.revision,
        )


AUDITS: Registry[type[Audit]] = Registry("audit", "heedful.audits.questions")


def register(audit: type[Audit]) -> type[Audit]:
    """Make an audit known by its name, with its question as description."""
    return AUDITS.register(audit.name, audit.question)(audit)


def of_attention_alone(name: str) -> bool:
    """Whether an audit asks about the weights themselves, so that no other scores can take their place."""
    return AUDITS.get(name).refuses(Scope(source="any explainer", rationales=True)) is not None


def cited(audit: type[Audit]) -> Citation | None:
    """Return the paper that an audit comes from: its own citation, or one of citations.yaml."""
    return audit.citation or citations().get(audit.paper)


def in_bin(low: float, high: float) -> pl.Expr:
    """Whether the largest weight lies in a bin; the last one holds 1 too."""
    largest = pl.col("largest_weight")
    return (largest >= low) & ((largest < high) if high < 1 else (largest <= 1 + 1e-6))
