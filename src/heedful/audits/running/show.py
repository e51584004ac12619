"""An audit in a terminal: the verdict first, then what decided, then every audit's sentence and numbers."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from heedful.audits.audit import AUDITS, Number, Summary, written
from heedful.audits.running.result import AuditResult
from heedful.audits.verdict import Judgement

_WIDEST = 110  # a file or a pipe has no width of its own
_COLOURS = {"show": "green", "show with caveat": "yellow", "do not show": "red", "not enough evidence": "magenta"}  # fmt: skip
_MARKS = {"good": "[green]passes[/]", "unclear": "[yellow]caveat[/]", "bad": "[red]fails[/]", "open": "[magenta]not told[/]", "too few": "[magenta]too few texts[/]", "not measured": "[dim]not measured[/]"}  # fmt: skip


def _plain(text: str) -> str:
    """Names of others may hold markup, or characters that steer a terminal."""
    return escape("".join(c if c.isprintable() else "\ufffd" for c in text))


def show(result: AuditResult, console: Console, *, brief: bool) -> None:
    """Print a result; in brief, the verdict and its rules."""
    console.print(_panel(result), width=min(console.width, _WIDEST))
    console.print(_rules(result))
    if not brief:
        for summary in result.summaries.values():
            console.print(*_findings(summary), sep="\n")
    about = result.about
    accuracy = f", accuracy {about.performance['accuracy']:.3f}" if about.performance else ""
    where = f"{about.model} ({about.encoder}) on {about.texts:,} texts of {about.data}{accuracy}."
    console.print(f"\n[dim]{_plain(where)}[/]", *_notes("Note", about.notes), sep="\n")


def _panel(result: AuditResult) -> Panel:
    verdict, source = result.verdict, result.about.source
    colour = _COLOURS[verdict.verdict]
    what = "Attention" if source == "attention" else f"The scores of {source}"
    because = "\n".join(f"• {_plain(finding)}" for finding in verdict.because)
    before = "".join(f"{_plain(remark)}\n" for remark in verdict.first)
    word = "findings, not a verdict" if verdict.partial else verdict.verdict
    record = f"\n[dim]{_plain(verdict.record)}[/]" if verdict.record and not verdict.partial else ""
    text = f"{before}[bold {colour}]{escape(what)}: {word}.[/]\n{because}{record}"
    return Panel(
        text,
        title="Findings" if verdict.partial else "Verdict",
        title_align="left",
        border_style=colour,
        padding=(1, 2),
    )


def _findings(summary: Summary) -> list[str]:
    heading = f"\n[bold]{summary.audit}[/]  {escape(summary.question)}"
    remarks = [*_notes("Note", summary.notes), *_notes("Caveat", summary.caveats)]
    return [heading, _plain(summary.finding), *remarks]


def _notes(kind: str, notes: tuple[str, ...]) -> list[str]:
    return [f"[dim]{kind}: {_plain(note)}[/]" for note in notes]


def _rules(result: AuditResult) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
    for heading in ("what the policy looks at", "measured", "95 % interval", "show", "forbid", ""):
        table.add_column(heading, justify="left" if heading in ("what the policy looks at", "") else "right")
    for judgement in result.verdict.judgements:
        table.add_row(*_rule(judgement))
    return table


def _rule(judgement: Judgement) -> tuple[str, ...]:
    rule, number = judgement.rule, judgement.number
    sign = "≥" if rule.about.better == "higher" else "≤"
    wrong = "<" if rule.about.better == "higher" else ">"
    described = AUDITS.get(rule.audit).measures[rule.number].description
    return (described, *_measured(number), f"{sign} {rule.show:g}", "–" if rule.forbid is None else f"{wrong} {rule.forbid:g}", _MARKS[judgement.outcome])  # fmt: skip


def _measured(number: Number | None) -> tuple[str, str]:
    if number is None or number.estimate is None:
        return "–", "–"
    if number.low is None or number.high is None:
        return written(number.estimate, 3), "–"
    return written(number.estimate, 3), f"{written(number.low, 3)} to {written(number.high, 3)}"
