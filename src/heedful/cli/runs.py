"""heedful runs"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.console import console
from heedful.output.terminal import plain


def runs(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder that holds the runs.")] = Path(
        "runs"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
) -> None:
    """List the runs there are, what each reached, and which are unfinished.

    Examples

      heedful runs

      heedful runs /data/runs --json
    """
    import json

    from rich.table import Table

    from heedful.errors import BadInput
    from heedful.runs import list_runs

    found = list_runs(folder)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("run", "state", "epoch", "test F1", "accuracy"):
        table.add_column(heading, no_wrap=heading != "run", overflow="fold")
    for run in found:
        metrics, state = None, "unfinished"
        if run.complete:
            try:
                metrics, state = run.metrics(), "complete"
            except BadInput:
                state = "damaged"
        if as_json:
            typer.echo(json.dumps({"run": str(run.folder), "state": state, "metrics": metrics}))
        elif metrics:
            test = metrics["test"]
            table.add_row(
                plain(run.name), state, str(metrics["epoch"]), f"{test['f1']:.3f}", f"{test['accuracy']:.3f}"
            )
        else:
            table.add_row(plain(run.name), f"[yellow]{state}[/]", "", "", "")
    if as_json:
        return
    if found:
        console().print(table)
    else:
        console().print(
            f"There are no runs in {plain(folder)} yet: start with heedful demo or heedful train."
        )
