"""What the page says, section by section, as plain values that a template sets."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import yaml

from heedful.audits.audit import ALL, AUDITS, Number, Summary, cited
from heedful.audits.citations import Citation, citations
from heedful.audits.policy import Rule
from heedful.audits.verdict import Judgement
from heedful.output.numbers import NOTHING, apart, fixed, percentage
from heedful.reports.figures import Figure, figures
from heedful.reports.material import Material
from heedful.reports.threshold_bar import ThresholdBar, threshold_bar

SENTENCES = {
    "show": "You may show {} as an explanation.",
    "show with caveat": "Show {} as an explanation only with a caveat.",
    "do not show": "Do not show {} as an explanation.",
    "not enough evidence": "Not enough evidence to show {} as an explanation.",
}
PARTIAL = "These are findings on {}, and not a verdict."
OUTCOMES = {
    "good": "passes",
    "unclear": "with a caveat",
    "bad": "fails",
    "open": "undecided",
    "too few": "too few texts",
    "not measured": "not measured",
    "not counted": "not counted",
}


_LEAST = 0.001
"""Below this a reader is not told how much less it is; tables say it."""
_UNDECIDED = ("open", "too few", "not measured", "not counted")


class Finding(NamedTuple):
    """One rule of the policy and what came of it, for a reader who knows no measure."""

    audit: str
    outcome: str
    word: str
    sentence: str
    value: str
    interval: str
    needs: str
    """What the policy asks for."""
    why: str
    """Why it does not count, or not as it seems, and what would change that; empty where it counts as it is."""
    reason: str
    bar: ThresholdBar | None
    """Where the number, its interval and the thresholds lie."""


class Line(NamedTuple):
    """One number of an audit."""

    description: str
    group: str
    number: Number
    judged: bool
    """Whether it is of all texts and speaks for or against; the others are folded in."""


@dataclass(frozen=True)
class AuditEvidence:
    """One audit."""

    name: str
    summary: Summary
    figures: Sequence[Figure]
    lines: Sequence[Line]
    detail: Sequence[Line]
    equation: str
    method: str
    citation: Citation | None


def sentence(material: Material) -> str:
    """Say the verdict, or that there is none."""
    template = PARTIAL if material.verdict.partial else SENTENCES[material.verdict.verdict]
    return template.format(material.scores)


def findings(material: Material) -> tuple[list[Finding], list[Finding]]:
    """Give the findings that decided, and those that were weighed too."""
    judgements = material.verdict.judgements
    deciding = _deciding(material)
    first = [_finding(judgement, material) for judgement in judgements if judgement in deciding]
    if material.verdict.partial:
        looked_at = {judgement.rule.audit for judgement in deciding}
        first += [_informs(summary) for name, summary in material.summaries.items() if name not in looked_at]
    return first, [_finding(judgement, material) for judgement in judgements if judgement not in deciding]


def judged(material: Material) -> list[Finding]:
    """Give a finding for every rule, the worst first."""
    return [_finding(judgement, material) for judgement in material.verdict.judgements]


def _deciding(material: Material) -> list[Judgement]:
    judgements = material.verdict.judgements
    if material.verdict.partial:
        return [j for j in judgements if j.outcome not in ("not measured", "not counted")]
    match material.verdict.verdict:
        case "do not show":
            return [j for j in judgements if j.outcome == "bad"]
        case "not enough evidence":
            return [j for j in judgements if j.rule.forbid is not None and j.outcome in _UNDECIDED]
        case "show with caveat":
            return [j for j in judgements if j.outcome != "good"]
    return [j for j in judgements if j.rule.decides]


def evidence(material: Material) -> list[AuditEvidence]:
    """Give what every audit found, with its figures; what decided first."""
    names = dict.fromkeys(
        j.rule.audit for j in material.verdict.judgements if j.rule.audit in material.summaries
    )
    rules: dict[str, list[Judgement]] = {}
    for judgement in material.verdict.judgements:
        rules.setdefault(judgement.rule.audit, []).append(judgement)
    found = []
    for name in [*names, *(name for name in material.summaries if name not in names)]:
        summary, audit = material.summaries[name], material.audit(name)
        lines = [_line(name, number) for number in summary.numbers]
        found.append(
            AuditEvidence(
                name=name,
                summary=summary,
                figures=figures(audit, material.numbers(name), rules.get(name, ())) if audit else [],
                lines=[line for line in lines if line.judged],
                detail=[line for line in lines if not line.judged],
                equation=audit.equation if audit else "",
                method=audit.method if audit else "",
                citation=cited(type(audit)) if audit else None,
            )
        )
    return found


def provenance(material: Material) -> list[tuple[str, str]]:
    """Give what was audited, on what, and by which command."""
    about, environment, trained = material.about, material.environment(), material.config(of_run=True)
    versions = environment.get("versions") or {}
    facts = [
        ("model", about.model),
        ("encoder", "" if material.alone else about.encoder),
        ("objective", str(trained.get("objective", ""))),
        ("classes", ", ".join(about.labels)),
        ("data", f"{about.data}, {about.texts:,} texts"),
        (
            "performance",
            ", ".join(
                f"{name.replace('_', ' ')} {fixed(value)}" for name, value in about.performance.items()
            ),
        ),
        ("audited", about.source),
        ("access", "predictions alone" if material.alone else ""),
        ("asked", "" if about.asked is None else f"the function was asked for {about.asked:,} texts"),
        ("policy", material.verdict.policy),
        ("seed", str(about.options.get("seed", ""))),
        ("time taken", f"{sum(s.seconds for s in material.summaries.values()):.0f} s"),
        ("command", shlex.join(map(str, environment.get("command") or []))),
        ("commit", str(environment.get("commit") or "")),
        ("python", str(environment.get("python") or "")),
        ("packages", ", ".join(f"{name} {version}" for name, version in versions.items() if version)),
        ("platform", str(environment.get("platform") or "")),
    ]
    return [(name, value) for name, value in facts if value]


def origin(material: Material) -> str:
    """Say in one line what was audited, by which policy and from which random numbers."""
    about = material.about
    seconds = sum(summary.seconds for summary in material.summaries.values())
    seed = about.options.get("seed")
    drawn = "" if seed is None else f", with seed {seed}"
    return f"{about.counted} of {about.data}, judged by the policy {material.verdict.policy}{drawn}; it took {seconds:.0f} s."


def settings(material: Material) -> list[tuple[str, str]]:
    """Give the whole configuration, as YAML."""
    found: list[tuple[str, dict[str, Any]]] = [
        ("Options of the audit", material.config() or material.about.options),
        ("Options of the training", material.config(of_run=True)),
    ]
    dump = {title: yaml.safe_dump(c, sort_keys=False, allow_unicode=True) for title, c in found if c}
    return list(dump.items())


def bibtex(materials: Sequence[Material]) -> str:
    """Give an entry for every paper whose test was used."""
    used = [AUDITS.get(name) for m in materials for name in m.summaries if name in AUDITS]
    found = {audit.paper: paper.bibtex for audit in used if (paper := cited(audit)) is not None}
    return "\n\n".join(found[name] for name in dict.fromkeys((*citations(), *found)) if name in found)


def spell(number: Number, *, share: bool) -> tuple[str, str]:
    """Write a number and its interval; shares in percent.

    >>> spell(Number(name="x", estimate=0.953, low=0.945, high=0.964, std=None, count=9, missing=0), share=True)
    ('95 %', '94 to 96 %')
    """
    if number.estimate is None:
        return "unknown", ""
    if not share:
        if 0 < abs(number.estimate) < _LEAST and number.high is not None and abs(number.high) < _LEAST:
            return f"less than {_LEAST}", f"below {_LEAST}"
        value, interval = apart(number, 2)
        return value, "" if interval == NOTHING else interval
    if number.low is None or number.high is None:
        return percentage(number.estimate), ""
    return percentage(number.estimate), f"{number.low * 100:.0f} to {percentage(number.high)}"


def _finding(judgement: Judgement, material: Material) -> Finding:
    rule, number, about = judgement.rule, judgement.number, judgement.rule.about
    share = "share of" in about.description
    value, interval, bar = "", "", None
    if number is None or number.estimate is None:
        asked = rule.audit in material.summaries
        plain = (
            f"Could not be measured: {about.description}." if asked else _not_measured(rule.audit, material)
        )
    else:
        value, interval = spell(number, share=share)
        plain = about.plain.format(value) if about.plain else f"{about.description}: {value}."
        bar = threshold_bar(number, about, share=share, rule=rule)
    return Finding(
        audit=rule.audit,
        outcome=judgement.outcome,
        word=OUTCOMES[judgement.outcome],
        sentence=capital(plain),
        value=value,
        interval=interval,
        needs=_needs(rule, share=share),
        why=why(judgement, least_texts=material.verdict.least_texts),
        reason=rule.reason,
        bar=bar,
    )


def _not_measured(audit: str, material: Material) -> str:
    """Say that an audit was not measured, or that it cannot be and why."""
    reason = AUDITS.get(audit).refuses(material.scope)
    return (
        f"{_words(audit)} cannot be asked here: {reason}." if reason else f"{_words(audit)} was not measured."
    )


def _informs(summary: Summary) -> Finding:
    """What an audit found that no rule looks at."""
    return Finding(summary.audit, "informs", "no rule", summary.finding, "", "", "", "", "", None)


def _needs(rule: Rule, *, share: bool) -> str:
    shown, forbidden = (_threshold(t, share=share) for t in (rule.show, rule.forbid))
    more = rule.about.better == "higher"
    asks = f"Showing asks for {'at least' if more else 'at most'} {shown}; "
    if rule.forbid is None:
        return asks + "otherwise a caveat is due, and no more: this alone never forbids."
    return asks + f"{'less' if more else 'more'} than {forbidden} forbids it."


def why(judgement: Judgement, *, least_texts: int) -> str:
    """Say why a finding does not count, or not as it seems, and how many more texts would decide."""
    rule, number = judgement.rule, judgement.number
    if number is None or number.estimate is None:
        return ""
    if number.low is None or number.high is None:
        return "It has no interval, so that it is not counted."
    side = _threshold(rule.forbid, share="share of" in rule.about.description)
    more = f" About {judgement.lacking:,} more texts would decide." if judgement.lacking else ""
    if judgement.outcome == "too few":
        many = f"Only {number.count:,} text{'s have' if number.count != 1 else ' has'} an answer"
        if number.missing:
            many += f" ({number.missing:,} others have none)"
        beyond = rule.judge(number, least_texts=1) == "bad"
        reach = (
            f"The whole interval lies beyond {side}, which would forbid, and yet it is not counted. "
            if beyond
            else ""
        )
        return f"{reach}{many}, and the policy counts nothing from fewer than {least_texts:,}, because the interval of so few is too narrow.{more}"
    if judgement.outcome == "open":
        if number.bound == "lower":
            return f"It is a lower bound: the true number may lie on either side of {side}."
        return f"The interval lies on both sides of {side}, so that it neither passes nor fails.{more}"
    if number.bound == "lower" and judgement.outcome == "unclear":
        return (
            "It is a lower bound: the true number may be anything above it, so that it does not clearly pass."
        )
    return ""


def _threshold(threshold: float | None, *, share: bool) -> str:
    if threshold is None:
        return ""
    return percentage(threshold) if share else f"{threshold:g}"


def _line(audit: str, number: Number) -> Line:
    known = AUDITS.get(audit).measures if audit in AUDITS else {}
    described = known[number.name].description if number.name in known else _words(number.name)
    speaks = number.name not in known or known[number.name].better is not None
    return Line(described, number.group, number, number.group == ALL and speaks)


def _words(name: str) -> str:
    return re.sub(r"[_-]", " ", name)


def capital(text: str) -> str:
    """A sentence begins with a capital."""
    return text[:1].upper() + text[1:]
