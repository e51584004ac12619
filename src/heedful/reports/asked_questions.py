"""One row for each question: its answer in plain words, the number, where it lies, and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from heedful.audits.audit import ALL, AUDITS, Measure, Number, Summary
from heedful.reports.material import Material
from heedful.reports.sections import OUTCOMES, Finding, capital, judged, spell
from heedful.reports.threshold_bar import threshold_bar

INFORMS = "informs"
_WORST_FIRST = ("bad", "not measured", "not counted", "too few", "open", "unclear", "good", INFORMS)
_COUNTED = {
    "bad": ("fails", "fail"),
    "not measured": ("is not measured", "are not measured"),
    "not counted": ("is not counted", "are not counted"),
    "too few": ("has too few texts", "have too few texts"),
    "open": ("is undecided", "are undecided"),
    "unclear": ("asks for a caveat", "ask for a caveat"),
    "good": ("passes", "pass"),
    INFORMS: ("informs", "inform"),
}


class AskedQuestion(NamedTuple):
    """A question, with one answer for each rule that looks at it, or with one that informs."""

    name: str
    question: str
    outcome: str
    """The worst of its answers."""
    word: str
    answers: Sequence[Finding]


class OutcomeCount(NamedTuple):
    """How many questions have one outcome."""

    outcome: str
    many: int
    words: str


def asked_questions(material: Material) -> list[AskedQuestion]:
    """Give every question that was asked or that a rule asks for, what decided first."""
    summaries = material.summaries
    by_audit: dict[str, list[Finding]] = {}
    for finding in judged(material):
        if material.verdict.partial and finding.audit not in summaries:
            continue  # nothing was to be decided: what was not asked is listed as such
        by_audit.setdefault(finding.audit, []).append(finding)
    rows = []
    for name in dict.fromkeys((*by_audit, *summaries)):
        answers = by_audit.get(name) or [informing(name, summaries[name])]
        if name not in summaries:
            answers = answers[:1]  # whatever rules ask for, there is one thing to say of it
        outcome = min((answer.outcome for answer in answers), key=_WORST_FIRST.index)
        question = summaries[name].question if name in summaries else AUDITS.get(name).question
        rows.append(AskedQuestion(name, question, outcome, OUTCOMES.get(outcome, INFORMS), answers))
    return rows


def counted(rows: Sequence[AskedQuestion]) -> list[OutcomeCount]:
    """Count outcomes, the worst first."""
    found = Counter(row.outcome for row in rows)
    return [
        OutcomeCount(outcome, found[outcome], f"{found[outcome]} {_COUNTED[outcome][found[outcome] != 1]}")
        for outcome in _WORST_FIRST
        if found[outcome]
    ]


def in_one_line(counts: Sequence[OutcomeCount]) -> str:
    """Say how many questions have which outcome.

    >>> in_one_line([OutcomeCount("bad", 1, "1 fails"), OutcomeCount("good", 2, "2 pass"), OutcomeCount(INFORMS, 8, "8 inform")])
    '1 fails, 2 pass; 8 inform and decide nothing.'
    """
    deciding = ", ".join(count.words for count in counts if count.outcome != INFORMS)
    inform = [
        f"{c.words} and {'decides' if c.many == 1 else 'decide'} nothing"
        for c in counts
        if c.outcome == INFORMS
    ]
    return "; ".join(filter(None, (deciding, *inform))) + "."


def informing(name: str, summary: Summary) -> Finding:
    """What an audit found that no rule looks at: its first number that has a plain sentence, or else its own sentence."""
    found = _headline(name, summary)
    if found is None:
        return Finding(name, INFORMS, "no rule", summary.finding, "", "", "", "", "", None)
    number, about = found
    share = "share of" in about.description
    value, interval = spell(number, share=share)
    return Finding(
        audit=name,
        outcome=INFORMS,
        word="no rule",
        sentence=capital(about.plain.format(value)) if about.plain else summary.finding,
        value=value,
        interval=interval,
        needs=f"No rule of the policy looks at it{_direction(about)}.",
        why="It is a lower bound: the true number may be anything above it."
        if number.bound == "lower"
        else "",
        reason="",
        bar=threshold_bar(number, about, share=share),
    )


def _direction(about: Measure) -> str:
    return f"; {'more' if about.better == 'higher' else 'less'} speaks for showing" if about.better else ""


def _headline(name: str, summary: Summary) -> tuple[Number, Measure] | None:
    measures = AUDITS.get(name).measures if name in AUDITS else {}
    numbers = {number.name: number for number in summary.numbers if number.group == ALL}
    known = [
        (numbers[measure], about)
        for measure, about in measures.items()
        if measure in numbers and numbers[measure].estimate is not None
    ]
    in_order = sorted(known, key=lambda pair: (not pair[1].plain, pair[1].better is None))
    return next(iter(in_order), None)
