"""An audit in a terminal: the verdict first, then what decided, then every audit's sentence and numbers."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from heedful.audits.audit import AUDITS, Number
from heedful.audits.policy import Judgement
from heedful.audits.result import AuditResult

_COLOURS = {"show": "green", "show with caveat": "yellow", "do not show": "red"}
_MARKS = {"good": "[green]passes[/]", "unclear": "[yellow]unclear[/]", "bad": "[red]fails[/]", "not measured": "[dim]not measured[/]"}  # fmt: skip


def show(result: AuditResult, console: Console) -> None:
    """Print a result."""
    verdict, about = result.verdict, result.about
    colour = _COLOURS[verdict.verdict]
    what = "Attention" if about.source == "attention" else f"The scores of {about.source}"
    because = "\n".join(f"• {escape(finding)}" for finding in verdict.because)
    console.print(Panel(f"[bold {colour}]{what}: {verdict.verdict}.[/]\n{because}", title="Verdict", title_align="left", border_style=colour, padding=(1, 2)))  # fmt: skip
    console.print(_rules(result))
    for name, summary in result.summaries.items():
        console.print(f"\n[bold]{name}[/]  {escape(summary.question)}")
        console.print(escape(summary.finding))
        for note in summary.notes:
            console.print(f"[dim]Note: {escape(note)}[/]")
        for caveat in summary.caveats:
            console.print(f"[dim]Caveat: {escape(caveat)}[/]")
    accuracy = "".join(f", accuracy {about.performance['accuracy']:.3f}" for _ in about.performance and "1")
    console.print(f"\n[dim]{escape(about.model)} ({escape(about.encoder)}) on {about.texts:,} texts of {escape(about.data)}{accuracy}.[/]")  # fmt: skip
    for note in about.notes:
        console.print(f"[dim]Note: {escape(note)}[/]")


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
    return (described, *_measured(number), f"{sign} {rule.show:g}", f"{wrong} {rule.forbid:g}", _MARKS[judgement.outcome])  # fmt: skip


def _measured(number: Number | None) -> tuple[str, str]:
    if number is None or number.estimate is None:
        return "–", "–"
    return f"{number.estimate:.3f}", f"{number.low:.3f} to {number.high:.3f}"
