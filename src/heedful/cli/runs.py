"""heedful runs"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.console import console
from heedful.cli.inputs import Format
from heedful.output.tables import Cell, Row, Table
from heedful.output.terminal import grid, plain


def runs(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder that holds the runs.")] = Path(
        "runs"
    ),
    form: Format = "text",
    as_json: Annotated[
        bool, typer.Option("--json", help="The same as --format json.", rich_help_panel="Output")
    ] = False,
) -> None:
    """List the runs, what each reached, and which are unfinished.

    Examples

      heedful runs

      heedful runs /data/runs --json
    """
    import json

    from heedful.errors import BadInput
    from heedful.output.numbers import fixed
    from heedful.runs import list_runs

    as_json = as_json or form == "json"
    found = list_runs(folder)
    rows: list[Row] = []
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
            reached = (metrics["test"].get(name) for name in ("f1", "accuracy"))
            shown = (fixed(x if isinstance(x, int | float) else None) for x in reached)
            rows.append([run.name, state, str(metrics["epoch"]), *shown])
        else:
            rows.append([run.name, Cell(state, tone="unclear"), "", "", ""])
    if as_json:
        return
    if found:
        console().print(grid(Table(["run", "state", "epoch", "test F1", "accuracy"], rows)))
    else:
        console().print(
            f"There are no runs in {plain(folder)} yet: start with heedful demo or heedful train."
        )
