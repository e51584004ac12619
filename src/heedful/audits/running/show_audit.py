"""An audit in a terminal: the verdict first, then what decided, then every audit's sentence and numbers."""

from __future__ import annotations

from typing import Any

from heedful.audits.audit import AUDITS, Summary
from heedful.audits.running.result import AuditResult
from heedful.audits.verdict import Judgement
from heedful.output.numbers import NOTHING, apart, fixed
from heedful.output.tables import Cell, Table
from heedful.output.terminal import Screen, grid, panel, plain

_WIDEST = 110  # for files and pipes, which have no width
_COLOURS = {
    "show": "green",
    "show with caveat": "yellow",
    "do not show": "red",
    "not enough evidence": "magenta",
}
_OUTCOMES = {
    "good": Cell("passes", tone="good"),
    "unclear": Cell("caveat", tone="unclear"),
    "bad": Cell("fails", tone="bad"),
    "open": Cell("undecided", tone="open"),
    "too few": Cell("too few texts", tone="open"),
    "not measured": Cell("not measured", tone="dim"),
}


def show_audit(result: AuditResult, screen: Screen, *, brief: bool) -> None:
    """Print a result; in brief, the verdict and its rules."""
    screen.print(_panel(result), width=min(screen.width, _WIDEST))
    screen.print(grid(_rules(result), right=range(1, 5)))
    if not brief:
        for summary in result.summaries.values():
            screen.print(*_findings(summary), sep="\n")
        reasons: dict[str, list[str]] = {}
        for name, reason in result.refused().items():
            reasons.setdefault(reason, []).append(name)
        for reason, names in reasons.items():
            screen.print(f"\n[bold]{', '.join(names)}[/]  cannot be asked here: {plain(reason)}.")
    about = result.about
    accuracy = f", accuracy {fixed(about.performance['accuracy'])}" if about.performance else ""
    where = f"{about.model} ({about.encoder}) on {about.texts:,} texts of {about.data}{accuracy}."
    if about.asked is not None:
        where += f" The function was asked for {about.asked:,} texts."
    screen.print(f"\n[dim]{plain(where)}[/]", *_notes("Note", about.notes), sep="\n")


def _panel(result: AuditResult) -> Any:
    verdict, source = result.verdict, result.about.source
    colour = _COLOURS[verdict.verdict]
    what = "Attention" if source == "attention" else f"The scores of {source}"
    because = "\n".join(f"• {plain(finding)}" for finding in verdict.because)
    before = "".join(f"{plain(remark)}\n" for remark in verdict.first)
    word = "findings, not a verdict" if verdict.partial else verdict.verdict
    record = f"\n[dim]{plain(verdict.record)}[/]" if verdict.record and not verdict.partial else ""
    text = f"{before}[bold {colour}]{plain(what)}: {word}.[/]\n{because}{record}"
    return panel(text, title="Findings" if verdict.partial else "Verdict", style=colour)


def _findings(summary: Summary) -> list[str]:
    heading = f"\n[bold]{summary.audit}[/]  {plain(summary.question)}"
    remarks = [*_notes("Note", summary.notes), *_notes("Caveat", summary.caveats)]
    return [heading, plain(summary.finding), *remarks]


def _notes(kind: str, notes: tuple[str, ...]) -> list[str]:
    return [f"[dim]{kind}: {plain(note)}[/]" for note in notes]


def _rules(result: AuditResult) -> Table:
    headings = ("what the policy looks at", "measured", "95 % interval", "show", "forbid", "")
    return Table(headings, [_rule(judgement) for judgement in result.verdict.judgements])


def _rule(judgement: Judgement) -> list[str | Cell]:
    rule = judgement.rule
    sign, wrong = ("≥", "<") if rule.about.better == "higher" else ("≤", ">")
    described = AUDITS.get(rule.audit).measures[rule.number].description
    forbid = NOTHING if rule.forbid is None else f"{wrong} {rule.forbid:g}"
    return [
        described,
        *apart(judgement.number),
        f"{sign} {rule.show:g}",
        forbid,
        _OUTCOMES[judgement.outcome],
    ]
