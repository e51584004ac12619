"""Thresholds learnt from some models and judged on others, which they were not set on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from heedful.audits.policy import Policy, Rule
from heedful.audits.verdict import KINDS, Verdict
from heedful.panel.case import Case
from heedful.panel.separation import oriented, separation
from heedful.panel.verdicts import verdict_of

LEARNT = ("rationale.comprehensiveness_share", "rationale.sufficiency_share")
"""Numbers whose line that forbids is learnt; few, so that there is little to learn by heart."""

TAIL = 0.05
"""Of either sort: the line that forbids lies midway between the best unfaithful models and the worst faithful ones but this share."""

_STEP = 0.05
"""Thresholds are rounded to this: a finer one would only fit the panel."""


def learn(cases: Sequence[Case], policy: Policy) -> Policy:
    """Give the policy with the lines that forbid set on these cases; everything else stays as it is.

    A line that forbids no unfaithful model but those that another forbids too would refuse faithful ones and gain nothing: it is
    left out, the one that tells the sorts apart least first, and its number asks for a caveat at the most.
    """
    drawn = {rule.measure: _set(rule, cases) for rule in policy.rules if rule.measure in LEARNT}
    caught = {
        name: {c.name for c in cases if c.sort == "unfaithful" and _forbids(rule, c)}
        for name, rule in drawn.items()
    }
    for name in sorted(drawn, key=lambda name: _auroc(cases, name)):
        others = set().union(*(found for other, found in caught.items() if other != name))
        if len(caught) > 1 and caught[name] <= others:
            del caught[name]
            drawn[name] = drawn[name].model_copy(update={"forbid": None})
    return policy.model_copy(update={"rules": tuple(drawn.get(rule.measure, rule) for rule in policy.rules)})


def _forbids(rule: Rule, case: Case) -> bool:
    return rule.forbid is not None and oriented(case, rule.measure) < rule.forbid


def _auroc(cases: Sequence[Case], measure: str) -> float:
    found = separation(cases, measure, resamples=0)
    return found.auroc if found else 0.0


def _set(rule: Rule, cases: Sequence[Case]) -> Rule:
    good, bad = (
        np.array([v for c in cases if c.sort == sort and not np.isnan(v := oriented(c, rule.measure))])
        for sort in ("faithful", "unfaithful")
    )
    if not len(good) or not len(bad):
        return rule
    forbid = (np.quantile(bad, 1 - TAIL) + np.quantile(good, TAIL)) / 2
    return rule.model_copy(update={"show": max(rule.show, _rounded(forbid)), "forbid": _rounded(forbid)})


def _rounded(threshold: float) -> float:
    return round(round(threshold / _STEP) * _STEP, 2)


def held_out(cases: Sequence[Case], policy: Policy) -> list[tuple[Case, Verdict]]:
    """Judge the cases of every corpus by thresholds that were set on the others."""
    return _leave_out(cases, policy, lambda case: case.corpus)


def held_out_encoders(cases: Sequence[Case], policy: Policy) -> list[tuple[Case, Verdict]]:
    """Judge the cases of every kind of encoder by thresholds that were set on the others."""
    return _leave_out(cases, policy, lambda case: KINDS.get(case.encoder, case.encoder))


def _leave_out(
    cases: Sequence[Case], policy: Policy, group: Callable[[Case], str]
) -> list[tuple[Case, Verdict]]:
    judged = []
    for name in sorted({group(case) for case in cases}):
        learnt = learn([case for case in cases if group(case) != name], policy)
        judged += [(case, verdict_of(case, learnt)) for case in cases if group(case) == name]
    return judged
