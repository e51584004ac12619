"""An audit as a JUnit file, which every CI shows: one test for the verdict, and one for each question."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from heedful.audits.running.result import AuditResult
from heedful.reports.asked_questions import INFORMS, AskedQuestion, asked_questions, counted, in_one_line
from heedful.reports.material import Material
from heedful.reports.sections import Finding, sentence

# What XML 1.0 cannot hold, also when it is escaped.
_UNFIT = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SKIPPED = ("open", "too few", "not measured", "not counted")


def junit(result: AuditResult) -> str:
    """Write the file. What fails is a failure, what is undecided is skipped, and a verdict that lacks evidence is an error."""
    material = Material.of(result)
    rows = asked_questions(material)
    suite = ElementTree.Element("testsuite", name=_fit(f"{material.about.model} on {material.about.data}"))
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in (
        ("verdict", material.answer),
        ("policy", material.verdict.policy),
        ("texts", str(material.about.texts)),
        ("audited", material.about.source),
    ):
        ElementTree.SubElement(properties, "property", name=name, value=_fit(value))
    _verdict(suite, material, rows)
    for row in rows:
        _question(suite, material, row)
    _count(suite)
    root = ElementTree.Element("testsuites", suite.attrib | {"name": "heedful audit"})
    root.append(suite)
    ElementTree.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _verdict(suite: ElementTree.Element, material: Material, rows: list[AskedQuestion]) -> None:
    """Fail as the exit code does: a gate that reads this file and one that reads the code agree."""
    case = _case(suite, "verdict", sentence(material), 0.0)
    told = "\n".join(
        (*material.verdict.first, in_one_line(counted(rows)) if rows else "", *material.verdict.because)
    )
    if material.verdict.verdict == "do not show":
        _outcome(case, "failure", sentence(material), "do not show", told)
    elif material.verdict.verdict == "not enough evidence":
        _outcome(case, "error", sentence(material), "not enough evidence", told)
    else:
        _told(case, told)


def _question(suite: ElementTree.Element, material: Material, row: AskedQuestion) -> None:
    summary = material.summaries.get(row.name)
    case = _case(suite, row.name, row.question, summary.seconds if summary else 0.0)
    told = "\n".join(_line(answer) for answer in row.answers)
    if row.outcome == "bad":
        failing = " ".join(answer.sentence for answer in row.answers if answer.outcome == "bad")
        _outcome(case, "failure", failing, row.word, told)
    elif row.outcome in _SKIPPED:
        ElementTree.SubElement(
            case,
            "skipped",
            message=_fit(f"{row.word}: {row.answers[0].sentence} {row.answers[0].why}".strip()),
        )
        _told(case, told)
    else:
        _told(case, told)


def _line(answer: Finding) -> str:
    interval = f" (95 % interval: {answer.interval})" if answer.interval else ""
    word = "" if answer.outcome == INFORMS else f"{answer.word}: "
    return " ".join(filter(None, (f"{word}{answer.sentence}{interval}", answer.needs, answer.why)))


def _case(suite: ElementTree.Element, name: str, question: str, seconds: float) -> ElementTree.Element:
    named = {"classname": f"heedful.{name}", "name": _fit(question), "time": f"{seconds:.3f}"}
    return ElementTree.SubElement(suite, "testcase", named)


def _outcome(case: ElementTree.Element, tag: str, message: str, kind: str, told: str) -> None:
    ElementTree.SubElement(case, tag, message=_fit(message), type=kind).text = _fit(told)


def _told(case: ElementTree.Element, told: str) -> None:
    ElementTree.SubElement(case, "system-out").text = _fit(told)


def _count(suite: ElementTree.Element) -> None:
    """Say how many tests there are, and what came of them."""
    cases = suite.findall("testcase")
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(name, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("tests", str(len(cases)))
    suite.set("time", f"{sum(float(case.get('time', '0')) for case in cases):.3f}")


def _fit(text: str) -> str:
    return _UNFIT.sub("\ufffd", text)
