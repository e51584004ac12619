"""An audit as a SARIF 2.1.0 file, which code hosts show beside a change: one rule and one result for each question."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

from heedful import __version__
from heedful.audits.running.result import AuditResult
from heedful.reporting import REPORT
from heedful.reports.asked_questions import INFORMS, AskedQuestion, asked_questions
from heedful.reports.material import Material
from heedful.reports.sections import Finding, sentence

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_VERDICT = "verdict"
_HALF = re.compile("[\ud800-\udfff]")
"""Half characters, which no file in UTF-8 can hold."""
# A kind other than fail has the level none, says the standard (3.27.9 and 3.27.10).
_KINDS: dict[str, tuple[str, str]] = {
    "bad": ("fail", "error"),
    "unclear": ("fail", "warning"),
    "open": ("open", "none"),
    "too few": ("open", "none"),
    "not measured": ("notApplicable", "none"),
    "not counted": ("notApplicable", "none"),
    "good": ("pass", "none"),
    INFORMS: ("informational", "none"),
}
_OF_VERDICT: dict[str, tuple[str, str]] = {
    "show": _KINDS["good"],
    "show with caveat": _KINDS["unclear"],
    "do not show": _KINDS["bad"],
    "not enough evidence": ("open", "none"),
}


def sarif(result: AuditResult) -> str:
    """Write the file. It points at the report, where there is one, since no line of code is to blame."""
    material = Material.of(result)
    rows = asked_questions(material)
    rules = [
        _rule(_VERDICT, "May it be shown as an explanation?"),
        *(_rule(row.name, row.question) for row in rows),
    ]
    results = [
        _of_verdict(material),
        *(_of_question(material, row, place + 1) for place, row in enumerate(rows)),
    ]
    driver = {"name": "heedful", "version": __version__, "semanticVersion": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return _HALF.sub("\ufffd", json.dumps(document, ensure_ascii=False, indent=1)) + "\n"


def _rule(name: str, question: str) -> dict[str, Any]:
    return {"id": name, "name": name, "shortDescription": {"text": question}}


def _of_verdict(material: Material) -> dict[str, Any]:
    kind, level = _OF_VERDICT[material.verdict.verdict]
    text = " ".join((sentence(material), *material.verdict.because))
    return _result(_VERDICT, 0, kind, level, text, material)


def _of_question(material: Material, row: AskedQuestion, place: int) -> dict[str, Any]:
    kind, level = _KINDS[row.outcome]
    found = _result(row.name, place, kind, level, " ".join(map(_said, row.answers)), material)
    numbers = [
        {"name": n.name, "estimate": n.estimate, "low": n.low, "high": n.high, "count": n.count}
        for judgement in material.verdict.judgements
        if judgement.rule.audit == row.name and (n := judgement.number) is not None
    ]
    return found | ({"properties": {"numbers": numbers}} if numbers else {})


def _said(answer: Finding) -> str:
    return " ".join(filter(None, (answer.sentence, answer.needs, answer.why)))


def _result(rule: str, place: int, kind: str, level: str, text: str, material: Material) -> dict[str, Any]:
    return {
        "ruleId": rule,
        "ruleIndex": place,
        "kind": kind,
        "level": level,
        "message": {"text": text},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": _uri(material)}}}],
        "partialFingerprints": {"heedful/v1": f"{material.about.model}/{material.about.data}/{rule}"},
    }


def _uri(material: Material) -> str:
    """The report, from here where it lies below, as an address."""
    if material.folder is None:
        return REPORT
    path = (material.folder / REPORT).absolute()
    here = Path.cwd()
    return quote(path.relative_to(here).as_posix()) if path.is_relative_to(here) else path.as_uri()
