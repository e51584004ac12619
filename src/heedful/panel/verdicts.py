"""What a policy makes of the panel: how many unfaithful heatmaps it shows, and how many faithful ones it refuses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from scipy.stats import binomtest

from heedful.audits.audit import Number, Summary
from heedful.audits.policy import ErrorRates, Policy
from heedful.audits.verdict import Verdict, judge_findings
from heedful.panel.case import Case


class Rate(NamedTuple):
    """A share of cases with its exact (Clopper–Pearson) 95 % interval."""

    count: int  # type: ignore[assignment]  # hides tuple.count, which is not needed here
    of: int

    @property
    def share(self) -> float:
        """The share itself; NaN of nothing."""
        return self.count / self.of if self.of else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true share lies."""
        if not self.of:
            return 0.0, 1.0
        found = binomtest(self.count, self.of).proportion_ci()
        return float(found.low), float(found.high)

    def __str__(self) -> str:
        if not self.of:
            return "–"
        low, high = self.interval
        return f"{self.count} of {self.of} ({self.share:.0%}; {low:.0%} to {high:.0%})"


class Errors(NamedTuple):
    """Both kinds of error, and how often there was no answer."""

    shown: Rate
    """Of unfaithful heatmaps."""
    forbidden: Rate
    """Of faithful ones."""
    open: Rate
    """Not enough evidence, of both."""
    whole: Rate
    """Shown without a caveat, of faithful ones."""


def verdict_of(case: Case, policy: Policy) -> Verdict:
    """Judge a case by a policy, from its numbers."""
    by_audit: dict[str, list[Number]] = {}
    for measure, number in case.numbers.items():
        by_audit.setdefault(measure.partition(".")[0], []).append(number)
    summaries = {
        name: Summary(audit=name, question="", finding="", numbers=tuple(numbers), caveats=(), instances=0)
        for name, numbers in by_audit.items()
    }
    return judge_findings(policy, summaries, source=case.source, encoder=case.encoder)


def errors(judged: Iterable[tuple[Case, Verdict]]) -> Errors:
    """Count the errors over the cases whose truth is clear."""
    words = {
        sort: [str(verdict) for case, verdict in judged_list if case.sort == sort]
        for judged_list in [list(judged)]
        for sort in ("faithful", "unfaithful")
    }
    good, bad = words["faithful"], words["unfaithful"]
    return Errors(
        shown=Rate(sum(word in ("show", "show with caveat") for word in bad), len(bad)),
        forbidden=Rate(good.count("do not show"), len(good)),
        open=Rate((good + bad).count("not enough evidence"), len(good + bad)),
        whole=Rate(good.count("show"), len(good)),
    )


def error_rates(found: Errors) -> ErrorRates:
    """Give the counts as a policy file holds them."""
    return ErrorRates(
        unfaithful=found.shown.of,
        shown=found.shown.count,
        faithful=found.forbidden.of,
        forbidden=found.forbidden.count,
    )
