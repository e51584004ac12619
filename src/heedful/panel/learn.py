"""Thresholds learnt from some models and judged on others, which they were not set on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from heedful.audits.policy import Policy, Rule
from heedful.audits.verdict import KINDS, Verdict
from heedful.panel.auroc import oriented, separation
from heedful.panel.case import Case
from heedful.panel.corpora import KEPT_APART
from heedful.panel.verdicts import verdict_of

LEARNT = ("rationale.comprehensiveness_share", "rationale.sufficiency_share")
"""Numbers whose line that forbids is learnt; few, so that there is little to learn by heart."""

SHOWN = 2.0
"""How much worse it is to show an unfaithful heatmap than to refuse a faithful one: 5 % of the one are aimed at, and 10 % of the other."""

ALIKE = 0.03
"""Lines that lose this much more than the best are as good, as far as so few models show: it is about one standard error."""

_LINES = np.arange(21) * 0.05
"""Lines that are tried; finer ones would only fit the panel."""


def learn(cases: Sequence[Case], policy: Policy) -> Policy:
    """Give the policy with the lines that forbid set on these cases, except for corpora kept apart; everything else stays as it is.

    The number that tells the sorts apart best gets the line at which least is lost. Another gets one only where less is lost
    with both: a line that finds few whom the first does not find refuses faithful models and gains nothing, and its number then
    asks for a caveat at the most.
    """
    cases = [case for case in cases if case.corpus not in KEPT_APART]
    counted = [case for case in cases if case.sort in ("faithful", "unfaithful")]
    bad = np.array([case.sort == "unfaithful" for case in counted], dtype=bool)
    if bad.all() or not bad.any():
        return policy
    lines: dict[str, float | None] = {}
    refused = np.zeros(len(counted), dtype=bool)
    for name in sorted(LEARNT, key=lambda name: -_auroc(cases, name)):
        values = np.array([oriented(case, name) for case in counted])
        lost = [_lost(refused | (values < line), bad) for line in _LINES]
        if min(lost) >= _lost(refused, bad):
            lines[name] = None
            continue
        # One model more or less tells no line from another: the one in the middle of the good ones is farthest from either sort.
        best = _LINES[np.array(lost) <= min(lost) + ALIKE]
        lines[name] = round(float(best[len(best) // 2]), 2)
        refused |= values < lines[name]
    return policy.model_copy(update={"rules": tuple(_drawn(rule, lines) for rule in policy.rules)})


def _lost(refused: NDArray[np.bool_], bad: NDArray[np.bool_]) -> float:
    return float(SHOWN * np.mean(~refused[bad]) + np.mean(refused[~bad]))


def _drawn(rule: Rule, lines: Mapping[str, float | None]) -> Rule:
    if rule.measure not in lines:
        return rule
    line = lines[rule.measure]
    return rule.model_copy(
        update={"forbid": line, "show": rule.show if line is None else max(rule.show, line)}
    )


def _auroc(cases: Sequence[Case], measure: str) -> float:
    found = separation(cases, measure, resamples=0)
    return found.auroc if found else 0.0


def held_out(cases: Sequence[Case], policy: Policy) -> list[tuple[Case, Verdict]]:
    """Judge the cases of every corpus by thresholds that were set on the others; what is planted in one counts with it."""
    return _leave_out(cases, policy, lambda case: case.corpus.partition("+")[0])


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
