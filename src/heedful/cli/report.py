"""heedful report"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.console import console, error_console
from heedful.cli.train import RunsFolder
from heedful.errors import BadInput, did_you_mean
from heedful.output.terminal import plain
from heedful.reporting import REPORT

_FORMATS = ("html", "md", "latex", "csv", "json", "card")


AuditedRuns = Annotated[
    list[str],
    typer.Argument(metavar="RUN", help="A run that was audited, or an audit's folder; several to compare."),
]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where to write; HTML goes into the audit's folder if not given, anything else is printed.",
        rich_help_panel="Output",
    ),
]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="NAME",
        help="One of html, md, latex, csv, json (the tables), card (a section for a model card).",
        rich_help_panel="Output",
    ),
]
Partial = Annotated[
    bool,
    typer.Option(
        "--partial",
        help="Write a model card even from an audit of only some questions, or of too few texts.",
        rich_help_panel="Output",
    ),
]
PolicyName = Annotated[
    str,
    typer.Option(
        metavar="NAME-OR-FILE",
        help="Policy to judge all of them by: default, version-1, or a YAML file.",
        rich_help_panel="Output",
    ),
]


def report(
    run: AuditedRuns,
    output: OutputFile = None,
    form: Format = "html",
    partial: Partial = False,
    policy: PolicyName = "default",
    runs: RunsFolder = Path("runs"),
) -> None:
    """Write what an audit found as one HTML file to read and pass on, or as tables.

    If a run has several audits, the most complete is taken: whole before partial ones, of all texts before samples, then
    of more texts, then the newest; the command says which. Nothing is measured again. All are judged by one policy,
    whatever policy they were judged by before.

    Examples

      heedful report RUN -o audit.html

      heedful report RUN OTHER-RUN -o both.html

      heedful report RUN --format latex

      heedful report RUN --format card -o model-card.md
    """
    if form not in _FORMATS:
        raise BadInput(f"There is no format {form!r}: {did_you_mean(form, _FORMATS)}")

    from heedful.audits.policy import read_policy
    from heedful.reports.finding import find, taken

    rules = read_policy(policy)
    found = [find(name, runs=runs).judged(rules) for name in dict.fromkeys(run)]
    if form == "card" and not partial:
        for material in found:
            if material.lacks:
                raise BadInput(
                    f"{material.folder} is a partial audit ({material.lacks}), and a model card needs a whole one: run heedful "
                    f"audit {material.run or material.about.model}, or give --partial."
                )
    if form == "html":
        from heedful.reports import write_report

        alone = found[0].folder if len(found) == 1 else None
        with error_console().status("Writing the report"):
            path = write_report(found, output or (alone or Path()) / REPORT)
        _say(map(taken, found))
        console().print(f"Report: [bold]{plain(path)}[/]", soft_wrap=True)
        return

    from heedful.reports.exports import write
    from heedful.storage import write_text

    text = write(found, form)  # type: ignore[arg-type]
    if output is None:
        _say(map(taken, found))
        typer.echo(text, nl=False)
    else:
        write_text(output, text)
        _say(map(taken, found))
        error_console().print(f"Written: [bold]{plain(output)}[/]", soft_wrap=True)


def _say(taken: Iterable[str]) -> None:
    """Say which audits were taken, after everything was written."""
    for sentence in taken:
        error_console().print(f"Taken: {plain(sentence)}", soft_wrap=True)
