"""What the page says, section by section, as plain values that a template sets."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import yaml

from heedful.audits.audit import ALL, AUDITS, Number, Summary, written
from heedful.audits.citations import Citation, citations
from heedful.audits.verdict import Judgement
from heedful.report.figures import Figure, draw
from heedful.report.material import Material

SENTENCES = {
    "show": "You may show {} as an explanation.",
    "show with caveat": "Show {} as an explanation only with a caveat.",
    "do not show": "Do not show {} as an explanation.",
    "not enough evidence": "There is not enough evidence to say whether {} may be shown as an explanation.",
}
OUTCOMES = {
    "good": "passes",
    "unclear": "with a caveat",
    "bad": "fails",
    "open": "not told by so few texts",
    "too few": "too few texts",
    "not measured": "not measured",
}


_DECISIVE = {
    "do not show": {"bad"},
    "show with caveat": {"unclear", "open", "too few", "not measured"},
    "show": {"good"},
    "not enough evidence": {"open", "too few", "not measured"},
}


class Finding(NamedTuple):
    """One rule of the policy and what came of it, for a reader who knows no measure."""

    audit: str
    outcome: str
    word: str
    sentence: str
    interval: str
    needs: str
    reason: str
    gauge: dict[str, float] | None
    """Where the number, its interval and the thresholds lie, between 0 and 100."""


class Line(NamedTuple):
    """One number of an audit."""

    description: str
    group: str
    number: Number
    judged: bool
    """Whether it is of all texts and speaks for or against; the others are folded in."""


@dataclass(frozen=True)
class Evidence:
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
    """Say the verdict."""
    return SENTENCES[material.verdict.verdict].format(material.scores)


def findings(material: Material) -> tuple[list[Finding], list[Finding]]:
    """Give the findings that decided, and those that were weighed too."""
    judged = [(_finding(judgement, material), judgement) for judgement in material.verdict.judgements]
    outcomes = _DECISIVE[material.verdict.verdict]
    deciding = [f for f, j in judged if f.outcome in outcomes and (f.outcome != "good" or j.rule.decides)]
    return deciding, [f for f, _ in judged if f not in deciding]


def evidence(material: Material) -> list[Evidence]:
    """Give what every audit found, with its figures; what decided first."""
    names = dict.fromkeys(
        j.rule.audit for j in material.verdict.judgements if j.rule.audit in material.summaries
    )
    found = []
    for name in [*names, *(name for name in material.summaries if name not in names)]:
        summary, audit = material.summaries[name], material.audit(name)
        lines = [_line(name, number) for number in summary.numbers]
        found.append(
            Evidence(
                name=name,
                summary=summary,
                figures=[draw(chart) for chart in audit.charts(material.numbers(name))] if audit else [],
                lines=[line for line in lines if line.judged],
                detail=[line for line in lines if not line.judged],
                equation=audit.equation if audit else "",
                method=audit.method if audit else "",
                citation=citations().get(audit.paper) if audit else None,
            )
        )
    return found


def provenance(material: Material) -> list[tuple[str, str]]:
    """Give what was audited, on what, and by which command."""
    about, environment, trained = material.about, material.environment(), material.config(of_run=True)
    versions = environment.get("versions") or {}
    facts = [
        ("model", about.model),
        ("encoder", about.encoder),
        ("objective", str(trained.get("objective", ""))),
        ("classes", ", ".join(about.labels)),
        ("data", f"{about.data}, {about.texts:,} texts"),
        ("performance", ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in about.performance.items())),
        ("audited", about.source),
        ("policy", material.verdict.policy),
        ("seed", str(about.options.get("seed", ""))),
        ("time taken", f"{sum(s.seconds for s in material.summaries.values()):.0f} s"),
        ("command", shlex.join(map(str, environment.get("command") or []))),
        ("commit", str(environment.get("commit") or "")),
        ("python", str(environment.get("python") or "")),
        ("packages", ", ".join(f"{name} {version}" for name, version in versions.items() if version)),
        ("platform", str(environment.get("platform") or "")),
    ]  # fmt: skip
    return [(name, value) for name, value in facts if value]


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
    names = {AUDITS.get(name).paper for m in materials for name in m.summaries if name in AUDITS}
    return "\n\n".join(cited.bibtex for name, cited in citations().items() if name in names)


def spell(number: Number, *, share: bool) -> tuple[str, str]:
    """Write a number and its interval; shares in percent.

    >>> spell(Number(name="x", estimate=0.953, low=0.945, high=0.964, std=None, count=9, missing=0), share=True)
    ('95 %', '94 to 96 %')
    """
    if number.estimate is None:
        return "unknown", ""
    known = number.low is not None and number.high is not None
    if share:
        low_high = f"{number.low * 100:.0f} to {number.high * 100:.0f} %" if known else ""  # type: ignore[operator]
        return f"{number.estimate * 100:.0f} %", low_high
    low_high = f"{written(number.low)} to {written(number.high)}" if known else ""  # type: ignore[arg-type]
    return written(number.estimate), low_high


def _finding(judgement: Judgement, material: Material) -> Finding:
    rule, number, about = judgement.rule, judgement.number, judgement.rule.about
    share = "share of" in about.description
    more = about.better == "higher"
    shown, forbidden = (
        "" if t is None else f"{t * 100:.0f} %" if share else f"{t:g}" for t in (rule.show, rule.forbid)
    )
    needs = f"Showing asks for {'at least' if more else 'at most'} {shown}; "
    needs += (
        f"{'less' if more else 'more'} than {forbidden} forbids it."
        if forbidden
        else "otherwise a caveat is due, and no more."
    )
    if judgement.lacking:
        needs += f" About {judgement.lacking:,} more texts would tell."
    if number is None or number.estimate is None:
        missing = (
            f"{_words(rule.audit)} was not measured."
            if rule.audit not in material.summaries
            else f"The {about.description} could not be told."
        )
        return Finding(rule.audit, judgement.outcome, OUTCOMES[judgement.outcome], _capital(missing), "", needs, rule.reason, None)  # fmt: skip
    value, interval = spell(number, share=share)
    plain = about.plain.format(value) if about.plain else f"{_capital(about.description)}: {value}."
    width = about.high - about.low
    places = {
        "at": number.estimate,
        "low": number.low,
        "high": number.high,
        "show": rule.show,
        "forbid": rule.forbid,
    }
    gauge = {k: min(max((v - about.low) / width * 100, 0), 100) for k, v in places.items() if v is not None}
    return Finding(rule.audit, judgement.outcome, OUTCOMES[judgement.outcome], plain, interval, needs, rule.reason, gauge)  # fmt: skip


def _line(audit: str, number: Number) -> Line:
    known = AUDITS.get(audit).measures if audit in AUDITS else {}
    described = known[number.name].description if number.name in known else _words(number.name)
    speaks = number.name not in known or known[number.name].better is not None
    return Line(described, number.group, number, number.group == ALL and speaks)


def _words(name: str) -> str:
    return re.sub(r"[_-]", " ", name)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
