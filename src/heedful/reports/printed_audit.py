"""An audit in a terminal: the sentences of the page, in at most forty lines, with the verdict and the next step last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from heedful.audits.running.result import AuditResult
from heedful.output.numbers import fixed
from heedful.output.terminal import Screen, folded, plain
from heedful.reporting import REPORT
from heedful.reports.advice import neighbours, refused_by_name, steps
from heedful.reports.asked_questions import INFORMS, AskedQuestion, asked_questions, counted, in_one_line
from heedful.reports.beside import beside
from heedful.reports.material import Material, joined, spoken
from heedful.reports.sections import Finding, sentence

MOST_LINES, COLUMNS, WIDEST = 40, 80, 110
"""What is told fits a terminal of this size; on a wider screen and in a file the same is told."""

_SIGNS = {
    "good": ("✓", "green"),
    "unclear": ("△", "yellow"),
    "bad": ("✕", "red"),
    "open": ("?", "magenta"),
    "too few": ("?", "magenta"),
    "not measured": ("–", "magenta"),
    "not counted": ("–", "magenta"),
}
_COLOURS = {
    "show": "green",
    "show with caveat": "yellow",
    "do not show": "red",
    "not enough evidence": "magenta",
}


class Paragraph(NamedTuple):
    """Words with markup; 0 is always told, and of the rest what has the largest number is left out first."""

    text: str
    least: int = 0
    whole: bool = False
    """Whether it is one line whatever its length, to be copied."""


def print_audit(result: AuditResult, screen: Screen) -> None:
    """Print a result."""
    material = Material.of(result)
    told = _fitting(list(_paragraphs(material)), min(screen.width, COLUMNS))
    width = min(screen.width, WIDEST) if screen.is_terminal else screen.width
    for paragraph in told:
        for line in folded(paragraph.text, width, indent=2, whole=paragraph.whole):
            screen.print(line, soft_wrap=True)


def _fitting(paragraphs: list[Paragraph], width: int) -> list[Paragraph]:
    """Leave out what is needed least until the rest fits, and say how much that was."""
    lengths = [_lines(paragraph, width) for paragraph in paragraphs]
    kept = {place for place, p in enumerate(paragraphs) if not p.least}
    room = MOST_LINES - 1 - sum(lengths[place] for place in kept)
    for _, place in sorted((p.least, place) for place, p in enumerate(paragraphs) if p.least):
        if lengths[place] <= room:
            kept.add(place)
            room -= lengths[place]
    found = [p for place, p in enumerate(paragraphs) if place in kept]
    if out := len(paragraphs) - len(found):
        more = (
            f"{out} more sentence{'s are' if out > 1 else ' is'} in the report, with all figures and caveats."
        )
        blank = next(place for place, p in enumerate(found) if not p.text)
        found.insert(blank, Paragraph(f"[dim]{more}[/]"))
    return found


def _lines(paragraph: Paragraph, width: int) -> int:
    lines = folded(paragraph.text, width, indent=2, whole=paragraph.whole)
    return sum(max(1, -(-line.cell_len // width)) for line in lines)


def _paragraphs(material: Material) -> Iterator[Paragraph]:
    questions = asked_questions(material)
    yield Paragraph(f"[bold]{plain(_where(material))}[/]")
    for note in material.about.notes:
        yield Paragraph(f"[dim]Note: {plain(note)}[/]", 22)
    for row in questions:
        for place, answer in enumerate(row.answers):
            yield _answer(row, answer, first=place == 0)
    for reason, names in _reasons(material).items():
        yield Paragraph(f"[dim]Cannot be asked here: {plain(joined(names))}; {plain(reason)}.[/]", 30)
    if (found := material.alternatives) is not None:
        yield Paragraph(f"What could be shown instead: {plain(beside(found).says)}", 10)
    yield Paragraph("")
    yield from _ending(material, questions)


def _answer(row: AskedQuestion, answer: Finding, *, first: bool) -> Paragraph:
    words = answer.sentence
    if answer.interval:
        words = f"{words.removesuffix('.')} ({answer.interval})."
    words = f"{words} {answer.why}".rstrip()
    if answer.outcome == INFORMS:
        return Paragraph(f"[dim]·[/] {plain(words)}", 50)
    sign, colour = _SIGNS[answer.outcome]
    asked = f"{row.question} " if first else ""
    return Paragraph(
        f"[{colour}]{sign} {answer.word}:[/] {plain(asked + words)}", 15 if answer.outcome == "good" else 5
    )


def _ending(material: Material, questions: Sequence[AskedQuestion]) -> Iterator[Paragraph]:
    """Where it is kept, how far to trust it, what must be known first, the verdict, and what to do."""
    verdict = material.verdict
    if material.folder is not None:
        yield Paragraph(f"Audit: {plain(material.folder)}", whole=True)
        if (page := material.folder / REPORT).is_file():
            yield Paragraph(f"Report: {plain(page)}", whole=True)
    if verdict.record and not verdict.partial:
        yield Paragraph(f"[dim]How far to trust this: {plain(verdict.record)}[/]", 4)
    for remark in verdict.first:
        yield Paragraph(plain(remark), 3)
    if not verdict.judgements:
        yield from (Paragraph(plain(line)) for line in verdict.because)
    yield Paragraph(
        f"[bold {_COLOURS[verdict.verdict]}]{plain(sentence(material))}[/] {plain(_outcomes(questions))}"
    )
    todo = steps(material, neighbours(material))
    if not todo:
        return
    yield Paragraph(f"[bold]Next: {plain(todo[0].title)}.[/] {plain(todo[0].text)}")
    with_command = next((step for step in todo if step.command), None)
    if with_command is None:
        return
    if with_command is not todo[0]:
        yield Paragraph(f"[bold]Then: {plain(with_command.title)}.[/]")
    yield Paragraph(f"  {plain(with_command.command)}", whole=True)


def _outcomes(questions: Sequence[AskedQuestion]) -> str:
    said = in_one_line(counted(questions))
    return f"{said[:1].upper()}{said[1:]}"


def _where(material: Material) -> str:
    about = material.about
    accuracy = f", accuracy {fixed(about.performance['accuracy'])}" if "accuracy" in about.performance else ""
    where = f"{about.model} ({about.encoder}) on {about.counted} of {about.data}{accuracy}."
    return where if about.asked is None else f"{where} The function was asked for {about.asked:,} texts."


def _reasons(material: Material) -> dict[str, list[str]]:
    """Audits that cannot be asked, by the reason."""
    reasons: dict[str, list[str]] = {}
    for name, reason in refused_by_name(material).items():
        reasons.setdefault(reason, []).append(spoken(name))
    return reasons
