"""Claims: what a paper says, as a number and the range it must lie in, and whether it does here."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from heedful.measures.intervals import Interval, bootstrap_interval
from heedful.measures.resampling import spread
from heedful.papers.results import Results

SampleUnit = Literal["texts", "twins", "words"]
Decision = Literal[
    "holds",
    "does not hold",
    "undecided",
    "too few texts",
    "too few twins",
    "too few words",
    "too few seeds",
    "not measured",
]
LEAST_TEXTS = 30
"""Fewer texts than this decide nothing: their bootstrap interval is too narrow to be believed."""
LEAST: Mapping[SampleUnit, int] = {"texts": LEAST_TEXTS, "twins": 3, "words": LEAST_TEXTS}
_TOO_FEW: Mapping[SampleUnit, Decision] = {
    "texts": "too few texts",
    "twins": "too few twins",
    "words": "too few words",
}
_NO_VOTE: tuple[Decision, ...] = (*_TOO_FEW.values(), "too few seeds")

RULE = (
    "A claim is one number per text, averaged over seeds. It holds if the 95 % bootstrap interval of the mean over all "
    f"texts lies inside the claimed range, and the same is so for most datasets (and models) of {LEAST_TEXTS} texts or more; it does not hold if "
    "the interval lies outside; else it is undecided. Intervals speak of other texts, not of other seeds. The ranges "
    "are our reading of words such as weak, often and few."
)


class Sample(NamedTuple):
    """A number that is not a mean over texts, such as a ratio, with draws that show how certain it is."""

    dataset: str
    model: str
    estimate: float
    draws: np.ndarray
    """Of other texts, as many for every sample of a claim."""
    size: int
    """Of how many texts or twins it is."""
    seeds: tuple[Sequence[float], ...] = ()
    """What every seed (or twin) gives alone, in a group for each model whose seeds are its own. Without any the number is
    that of some seeds, and its draws do not speak of others."""


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, and the measurement that decides it."""

    id: str
    statement: str
    source: str
    """Where the paper says so."""
    measure: str
    """What the number is."""
    audit: str
    value: pl.Expr | Callable[[Results], Sequence[Sample]]
    """The number of one text, from the rows of the audit; or what gives the numbers themselves, with draws."""
    models: tuple[str, ...]
    above: float = -math.inf
    below: float = math.inf
    against: Mapping[str, str] = field(default_factory=dict)
    """For each model the one whose number is subtracted, text by text."""
    where: pl.Expr | None = None
    """Which texts it is about; all if not given."""
    published: str = ""
    """What the paper prints, where it prints a number."""
    unit: SampleUnit = "texts"
    """What the interval counts."""
    ratio: bool = False
    """Whether its numbers are ratios: their mean over seeds, datasets and models is geometric, so that no one of them is the mean."""
    throughout: bool = False
    """Whether one dataset or step that clearly goes the other way keeps it from holding."""

    @property
    def range(self) -> str:
        """The claimed range in words."""
        if self.above == -math.inf:
            return f"below {self.below:g}"
        return f"above {self.above:g}" if self.below == math.inf else f"{self.above:g} to {self.below:g}"

    def word(self, interval: Interval) -> Decision:
        """Compare a whole interval with the claimed range."""
        if interval.count == 0:
            return "not measured"
        if interval.count < LEAST[self.unit]:
            return _TOO_FEW[self.unit]
        if math.isnan(interval.low):
            return "too few seeds"
        if interval.low > self.above and interval.high < self.below:
            return "holds"
        outside = interval.high <= self.above or interval.low >= self.below
        return "does not hold" if outside else "undecided"


class ClaimPart(NamedTuple):
    """A claim on one dataset and model."""

    dataset: str
    model: str
    interval: Interval
    word: Decision
    seeds: tuple[int, ...] | None = None
    """How many seeds the interval is over, for each model; None for a number of texts, averaged over seeds."""


class Judged(NamedTuple):
    """A claim with what decided it."""

    claim: Claim
    interval: Interval
    word: Decision
    parts: tuple[ClaimPart, ...]

    @property
    def able(self) -> int:
        """How many datasets and models have enough texts (or twins, or seeds) to decide alone."""
        return sum(part.word not in _NO_VOTE for part in self.parts)

    @property
    def held(self) -> int:
        """On how many of these it holds."""
        return sum(part.word == "holds" for part in self.parts)


FoundPart = tuple[str, str, Interval, tuple[int, ...] | None]
"""Dataset, model, what was found there, and of how many seeds."""


def judge(claim: Claim, results: Results) -> Judged:
    """Decide a claim from all its datasets and models."""
    value = claim.value
    if not isinstance(value, pl.Expr):
        return judge_samples(claim, value(results))
    return decide(claim, *_from_texts(claim, value, results))


def judge_samples(claim: Claim, samples: Sequence[Sample]) -> Judged:
    """Decide a claim from its numbers on all datasets and models."""
    return decide(claim, *_from_samples(samples, geometric=claim.ratio))


def decide(claim: Claim, whole: Interval, found: Sequence[FoundPart]) -> Judged:
    """Decide a claim from its interval over all, and from that on each dataset and model."""
    parts = [
        ClaimPart(dataset, model, interval, claim.word(interval), seeds)
        for dataset, model, interval, seeds in found
    ]
    judged = Judged(claim, whole, claim.word(whole), tuple(parts))
    turned = claim.throughout and any(part.word == "does not hold" for part in parts)
    if judged.word == "holds" and (2 * judged.held <= judged.able or turned):
        return judged._replace(word="undecided")
    return judged


def judge_all(claims: Iterable[Claim], results: Results) -> list[Judged]:
    """Decide every claim."""
    return [judge(claim, results) for claim in claims]


def _from_texts(claim: Claim, value: pl.Expr, results: Results) -> tuple[Interval, list[FoundPart]]:
    """Put the texts of all datasets and models together, and take each alone."""
    found = [
        (dataset, model, texts)
        for dataset in results.datasets
        for model in claim.models
        if len(texts := _by_text(claim, value, results, dataset=dataset, model=model))
    ]
    whole = bootstrap_interval(np.concatenate([texts for *_, texts in found] or [np.array([])]))
    return whole, [(dataset, model, bootstrap_interval(texts), None) for dataset, model, texts in found]


def _from_samples(samples: Sequence[Sample], *, geometric: bool) -> tuple[Interval, list[FoundPart]]:
    """Average over datasets and models, each counting the same, and take each alone."""
    if not samples:
        return bootstrap_interval(np.array([])), []
    parts: list[FoundPart] = [
        (s.dataset, s.model, _interval([s], geometric=geometric), tuple(map(len, s.seeds))) for s in samples
    ]
    return _interval(samples, geometric=geometric), parts


def _interval(samples: Sequence[Sample], *, geometric: bool) -> Interval:
    """The mean of samples, whose texts are drawn together and whose seeds are their own."""
    scale = np.log if geometric else np.asarray
    draws = np.mean([scale(np.concatenate([[s.estimate], s.draws])) for s in samples], axis=0)
    found = spread(draws, [scale(group) / len(samples) for s in samples for group in s.seeds])
    estimate, low, high = np.exp(found) if geometric else found
    return Interval(float(estimate), float(low), float(high), max(s.size for s in samples), 0)


def _by_text(claim: Claim, value: pl.Expr, results: Results, *, dataset: str, model: str) -> np.ndarray:
    """One number for each text; where two models are compared, of the seeds that both have: one may have more than the other."""

    def of(name: str, seeds: Container[int] | None = None) -> pl.DataFrame:
        return results.by_text(
            claim.audit, value, dataset=dataset, model=name, where=claim.where, seeds=seeds
        )

    other = claim.against.get(model)
    if other is None:
        return of(model)["value"].to_numpy()
    one, two = (results.seeds(claim.audit, dataset=dataset, model=name) for name in (model, other))
    joined = of(model, one & two).join(of(other, one & two), on="row", suffix="_minus").sort("row")
    return (joined["value"] - joined["value_minus"]).to_numpy()


def rank_correlation(x: str, y: str) -> pl.Expr:
    """Spearman's ρ as one number per text, whose mean is ρ: ρ and the text's influence on it.

    So the bootstrap of a mean gives the interval of a correlation, also where several datasets are put together.
    """

    def standard(name: str) -> pl.Expr:
        ranks = pl.col(name).rank()
        return (ranks - ranks.mean()) / ranks.std(ddof=0)

    a, b = standard(x), standard(y)
    rho = (a * b).mean()
    return rho + a * b - rho * (a**2 + b**2) / 2
