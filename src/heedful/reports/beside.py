"""Attention beside other explainers, as plain values that a template, a table or a terminal sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from heedful.audits.audit import AUDITS, Number
from heedful.audits.running.alternatives import Alternatives, more_is_better, share_of_range
from heedful.output.numbers import NOTHING, apart
from heedful.reports.material import joined, spoken
from heedful.reports.sections import OUTCOMES


class BesideCell(NamedTuple):
    """One number of one explainer."""

    value: str
    interval: str
    outcome: str
    word: str
    best: bool


class BesideRow(NamedTuple):
    """One rule, asked of all."""

    description: str
    cells: Sequence[BesideCell]


class Beside(NamedTuple):
    """A column for attention and for each explainer."""

    names: Sequence[str]
    rows: Sequence[BesideRow]
    gains: Sequence[BesideCell]
    """How much better than attention each does; empty for attention itself."""
    verdicts: Sequence[str]
    best: str
    """The name of the explainer that did better than attention; empty where none did."""
    says: str
    notes: Sequence[str]


def beside(found: Alternatives) -> Beside:
    """Lay out a comparison."""
    names = [spoken(column.source) for column in found.columns]
    rows = []
    for judged in zip(*(column.judgements for column in found.columns), strict=True):
        rule = judged[0].rule
        numbers = [judgement.number for judgement in judged]
        reached = [
            -1.0 if n is None or n.estimate is None else share_of_range(rule, n.estimate) for n in numbers
        ]
        cells = [
            BesideCell(
                *_written(n),
                j.outcome,
                OUTCOMES[j.outcome],
                more_is_better(rule) and part == max(reached) >= 0,
            )
            for j, n, part in zip(judged, numbers, reached, strict=True)
        ]
        rows.append(BesideRow(rule.about.description, cells))
    gains = [BesideCell(*_written(column.gain, signed=True), "", "", False) for column in found.columns]
    best = spoken(found.best.source) if found.better else ""
    verdicts = [column.verdict for column in found.columns]
    return Beside(names, rows, gains, verdicts, best, _says(found), _notes(found))


def _says(found: Alternatives) -> str:
    others = joined([spoken(column.source) for column in found.columns[1:]])
    if not found.better:
        if not any(column.decided for column in found.columns):
            more = "compare more of them (--instead-texts)" if found.texts < found.of else "audit more"
            return f"So few texts do not tell whether {others} would do better than attention: {more}."
        return f"None of {others} did better than attention here: there is nothing to show in its place."
    finding = f"{_capital(spoken(found.best.source))} did better than attention here, by the same rules on the same texts."
    if found.best.verdict == "do not show":
        return f"{finding} It fails too, and is no way out."
    if found.best.verdict == "not enough evidence":
        return f"{finding} Whether it may be shown these texts do not tell."
    return finding


def _notes(found: Alternatives) -> list[str]:
    drawn = (
        f"a random sample of {found.texts:,} of {found.of:,} texts, drawn with seed {found.seed}"
        if found.texts < found.of
        else f"all {found.texts:,} texts"
    )
    notes = [
        f"All columns are of {drawn}. A text that a measure cannot tell of one of them is left out for all. Intervals are of 95 %.",
        "What decides which is best is how few of these rules it fails, how many it passes, and then how far it comes on average, from the worst that each "
        "number can be (0) to the best (1). That a heatmap is sharp is asked for, and a sharper one gains nothing.",
        "Leave-one-out deletes single words, and so is close to what tests by deletion ask.",
    ]
    notes += [f"Not compared: {spoken(source)}; {reason}." for source, reason in found.silent.items()]
    for measure, reason in found.left_out.items():
        audit, _, name = measure.partition(".")
        notes.append(f"Not compared: {AUDITS.get(audit).measures[name].description}; {reason}.")
    return notes


def _written(number: Number | None, *, signed: bool = False) -> tuple[str, str]:
    if number is None or number.estimate is None:
        return "" if signed else NOTHING, ""
    value, interval = apart(number, 2)
    sign = "+" if signed and number.estimate > 0 else ""
    return sign + value, "" if interval == NOTHING else interval


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
