"""heedful sweep"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.console import console, error_console, watcher
from heedful.cli.train import RunsFolder
from heedful.cli.where import On
from heedful.errors import BadInput, did_you_mean
from heedful.output.terminal import grid, plain

if TYPE_CHECKING:
    from heedful.scale.store import Store
    from heedful.scale.sweeps.grid import SweptPiece
    from heedful.scale.sweeps.ledger import Entry, Ledger

_FORMATS = ("table", "csv", "md", "json")
_SHOWN = 6
"""Columns of results in a terminal; all formats for files have all."""

SpecFile = Annotated[
    Path,
    typer.Argument(metavar="SPEC", help="A YAML file: command, options, grid or list, and then (see below)."),
]
Status = Annotated[
    bool,
    typer.Option("--status", help="Say what is done, failed and to do, and how long that takes; do nothing."),
]
Format = Annotated[
    str,
    typer.Option("--format", metavar="NAME", help="One of table, csv, md, json.", rich_help_panel="Output"),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FOLDER-OR-ADDRESS",
        help="Where results are kept: a folder that all machines see, or an address such as s3://bucket/sweep, to which "
        "runs are carried too; below sweeps in the folder of runs if not given.",
        rich_help_panel="Output",
    ),
]


def sweep(
    spec: SpecFile,
    on: On = None,
    status: Status = False,
    output: Output = None,
    form: Format = "table",
    runs: RunsFolder = Path("runs"),
) -> int:
    """Do a command for every combination of options, on one machine or many, and put the results into one table.

    SPEC names a command (train, audit, attack, reproduce, study, panel), the options that all pieces share, and a grid of
    values to be combined, or a list of choices, or both: each entry of the list is then done with every combination.
    With then, a trained model is audited or attacked.

      command: train

      options: {dataset: mock_1, epochs: 3}

      grid: {encoder: [average, bilstm], seed: [0, 1, 2]}

      then: {audit: {quick: true}}

    What is finished is not done again: the same command continues, and tries again what failed. Results are kept piece by
    piece, with table.csv beside them.

    Examples

      heedful sweep seeds.yaml --on processes

      heedful sweep seeds.yaml --on ray:10.0.0.1:6379 --output /shared/seeds

      heedful sweep seeds.yaml --status

      heedful sweep seeds.yaml --status --format csv > seeds.csv
    """
    if form not in _FORMATS:
        raise BadInput(f"There is no format {form!r}: {did_you_mean(form, _FORMATS)}")
    from heedful.cli.swept.swept_command import check, check_after
    from heedful.scale.store import store_at
    from heedful.scale.sweeps.grid import read_sweep
    from heedful.scale.sweeps.ledger import Ledger

    pieces = read_sweep(spec, check, check_after)
    ledger = Ledger(store_at(output or str(runs / "sweeps" / spec.stem), runs=runs))
    if status:
        entries = ledger.entries(pieces)
        _say_status(pieces, entries, ledger.store)
    else:
        entries = _do(pieces, ledger, on, runs)
    _show(pieces, entries, form, ledger.store)
    return _code(entries.values()) if not status else 0


def _do(pieces: Sequence[SweptPiece], ledger: Ledger, on: str | None, runs: Path) -> dict[str, Entry]:
    """Do what is not done, and tell of each piece as it is finished."""
    from heedful.cli.swept.swept_command import do_swept
    from heedful.output.tables import comma_separated
    from heedful.scale.chosen import working_on
    from heedful.scale.piece import Outcome, Piece
    from heedful.scale.share_out import share_out
    from heedful.scale.sweeps.sweep_table import sweep_table

    shown, store = watcher(), ledger.store
    with working_on(on), store.alone():
        entries = ledger.entries(pieces)
        todo = [p for p in pieces if p.key not in entries or entries[p.key].problem]
        if len(todo) < len(pieces):
            shown.say(
                f"{len(pieces) - len(todo)} of {len(pieces)} pieces are done already ({store.address})."
            )
        configs: list[dict[str, Any]] = [
            {
                "key": piece.key,
                "name": piece.name,
                "command": piece.command,
                "options": dict(piece.options),
                "then": dict(piece.then),
                "store": store.address,
                "runs": str(runs),
            }
            for piece in todo
        ]
        done = len(pieces) - len(todo)

        def tell(place: int, outcome: Outcome) -> None:
            nonlocal done
            done += 1
            piece = todo[place]
            entry = ledger.entry(piece.key)
            if entry is None or (
                outcome.problem and not entry.problem
            ):  # it died before it could write anything
                entry = ledger.put(configs[place], outcome)
            entries[piece.key] = entry
            became = (
                f"failed: {outcome.problem}"
                if outcome.problem
                else f"done ({outcome.seconds:.0f} s of a core)"
            )
            shown.say(f"[{done}/{len(pieces)}] {piece.name}: {became}")

        def write_table() -> None:
            store.write("table.csv", comma_separated(sweep_table(pieces, entries, exact=True)).encode())

        write_table()  # whether results can be kept is known before anything is computed
        work = [Piece(config["name"], do_swept, config, apart=store.runs is None) for config in configs]
        share_out(work, title="Sweep", done=tell, watcher=shown)
        write_table()
    return entries


def _say_status(pieces: Sequence[SweptPiece], entries: Mapping[str, Entry], store: Store) -> None:
    """Say how far it is, and how much longer it will take."""
    from heedful.output.numbers import duration
    from heedful.scale.sweeps.ledger import seconds_left

    failed = sum(bool(entry.problem) for entry in entries.values())
    todo = len(pieces) - len(entries)
    said = f"{len(pieces)} pieces: {len(entries) - failed} done, {failed} failed, {todo} to do."
    busy = store.busy
    if busy is not None:
        said += " Somebody is at work." if busy else " Nobody is at work."
    left = seconds_left(list(entries.values()), todo=todo)
    if busy and todo and left is not None:
        said += f" At this pace {duration(left)} are left."
    error_console().print(said, soft_wrap=True)


def _show(pieces: Sequence[SweptPiece], entries: Mapping[str, Entry], form: str, store: Store) -> None:
    from heedful.output.tables import comma_separated, markdown
    from heedful.scale.sweeps.sweep_table import as_json, sweep_table

    if form == "table":
        console().print(grid(sweep_table(pieces, entries, most=_SHOWN)))
        console().print(
            f"Results: [bold]{plain(store.address)}[/] (table.csv has all columns)", soft_wrap=True
        )
    elif form == "json":
        typer.echo(as_json(pieces, entries))
    else:
        table = sweep_table(pieces, entries, exact=form == "csv")
        typer.echo(comma_separated(table) if form == "csv" else markdown(table) + "\n", nl=False)


def _code(entries: Iterable[Entry]) -> int:
    """0 if all is done, 70 if something failed by an error of ours, else 4: it could not be done."""
    problems = [entry for entry in entries if entry.problem]
    if not problems:
        return 0
    return 70 if any(entry.fault for entry in problems) else 4
