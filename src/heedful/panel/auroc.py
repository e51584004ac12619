"""How well a number tells faithful heatmaps from unfaithful ones: AUROC, with an interval over corpora and models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from heedful.audits.audit import AUDITS
from heedful.panel.case import Case

RESAMPLES = 400
LEAST = 5
"""Cases of either sort; with fewer, a number's separation is not given."""


class Separation(NamedTuple):
    """Probability that a faithful heatmap has the better number of the two; 0.5 is a coin, below it is inverted."""

    measure: str
    auroc: float
    low: float
    high: float
    faithful: int
    unfaithful: int


def oriented(case: Case, measure: str) -> float:
    """A case's number, turned so that more is better; NaN where it has none."""
    audit, _, name = measure.partition(".")
    number = case.numbers.get(measure)
    if number is None or number.estimate is None:
        return float("nan")
    return -number.estimate if AUDITS.get(audit).measures[name].better == "lower" else number.estimate


def auroc(better: NDArray[np.float64], worse: NDArray[np.float64]) -> float:
    """Share of pairs in which the first has the larger value; ties count half.

    >>> auroc(np.array([0.9, 0.8]), np.array([0.1, 0.8]))
    0.875
    """
    ranks = rankdata(np.concatenate([better, worse]))
    n, m = len(better), len(worse)
    return float((ranks[:n].sum() - n * (n + 1) / 2) / (n * m))


def separation(
    cases: Sequence[Case], measure: str, *, seed: int = 0, resamples: int = RESAMPLES
) -> Separation | None:
    """Judge one number by the cases that count; None where there are too few of them.

    Corpora are drawn anew, and the cases of each: models of one corpus resemble each other. Without resamples there is no interval.
    """
    counted = [
        (case.corpus, case.sort, value)
        for case in sorted(cases, key=lambda case: case.name)  # in any other order, others would be drawn
        if case.sort in ("faithful", "unfaithful") and not np.isnan(value := oriented(case, measure))
    ]
    good = np.array([value for _, sort, value in counted if sort == "faithful"])
    bad = np.array([value for _, sort, value in counted if sort == "unfaithful"])
    if min(len(good), len(bad)) < LEAST:
        return None
    if not resamples:
        return Separation(measure, auroc(good, bad), float("nan"), float("nan"), len(good), len(bad))
    corpora = sorted({corpus for corpus, *_ in counted})
    of_corpus = {
        name: (
            np.array([value for corpus, sort, value in counted if corpus == name and sort == "faithful"]),
            np.array([value for corpus, sort, value in counted if corpus == name and sort == "unfaithful"]),
        )
        for name in corpora
    }
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(resamples):
        chosen = [of_corpus[corpora[i]] for i in rng.integers(len(corpora), size=len(corpora))]
        both = [
            np.concatenate(
                [rng.choice(part[k], len(part[k])) for part in chosen if len(part[k])] or [np.array([])]
            )
            for k in (0, 1)
        ]
        if all(map(len, both)):
            drawn.append(auroc(both[0], both[1]))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Separation(measure, auroc(good, bad), float(low), float(high), len(good), len(bad))


def judged_measures() -> list[str]:
    """Name every number of every audit that has a better side."""
    return [
        f"{audit}.{name}"
        for audit in AUDITS
        for name, about in AUDITS.get(audit).measures.items()
        if about.better is not None
    ]


def separations(cases: Sequence[Case], *, resamples: int = RESAMPLES) -> list[Separation]:
    """Judge every number, the best first."""
    found = (separation(cases, measure, resamples=resamples) for measure in judged_measures())
    return sorted((s for s in found if s is not None), key=lambda s: -s.auroc)
