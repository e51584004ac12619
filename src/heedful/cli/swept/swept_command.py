"""What a command must offer to be swept, and how one piece of a sweep is done, wherever that is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heedful.errors import BadInput, did_you_mean
from heedful.registry import Registry

_FIRST = 2
"""Numbers of a command that stand before those of commands done afterwards."""
Options = Mapping[str, Any]
Kinds = Mapping[str, type | tuple[type, ...]]
Row = dict[str, float | int | str | bool | None]


@dataclass(frozen=True)
class SweptCommand:
    """A command for one choice of options."""

    check: Callable[[Options], Options]
    """Gives all options, or refuses them, before anything is done."""
    do: Callable[[Options, Path], Row]
    """Does it, with the folder of runs, or finds it done, and gives the numbers of a row."""
    makes: str = ""
    """Which entry of its row a command done afterwards takes as its `run`."""


SWEPT: Registry[SweptCommand] = Registry("command to sweep", "heedful.cli.swept")


def check(command: str, options: Options) -> Options:
    """Refuse what a command would refuse."""
    return SWEPT.get(command).check(options)


def check_after(command: str, after: str) -> None:
    """Refuse to do a command on what another made, if that makes no model."""
    SWEPT.get(after)
    if not SWEPT.get(command).makes:
        able = ", ".join(name for name in SWEPT if SWEPT.get(name).makes)
        raise BadInput(f"{command} makes no model that could be taken on to {after}: then is for {able}.")


def check_known(options: Options, known: Kinds, *, needed: tuple[str, ...]) -> None:
    """Refuse options that a command does not have, of another kind than it takes, or that it lacks."""
    for name, value in options.items():
        if name not in known:
            raise BadInput(f"There is no option {name!r}: {did_you_mean(name, known)}")
        if value is not None and (
            not isinstance(value, known[name]) or isinstance(value, bool) != (known[name] is bool)
        ):
            raise BadInput(f"Option {name} cannot be {value!r}.")
    for name in needed:
        if options.get(name) is None:
            raise BadInput(f"Option {name} is missing: give it.")


def names(value: Any) -> list[str] | None:
    """Read names from a list, or separated by commas."""
    if value is None or isinstance(value, list):
        return value
    return [name.strip() for name in str(value).split(",") if name.strip()]


def do_swept(config: Mapping[str, Any]) -> Row:
    """Do one piece, and write down what became of it where all pieces are kept."""
    from heedful.data.fetch.cache import cache_folder
    from heedful.scale.carried import folder_of_runs
    from heedful.scale.piece import Piece
    from heedful.scale.store import store_at
    from heedful.scale.sweeps.ledger import Ledger
    from heedful.scale.worker import do_here

    store = store_at(config["store"], runs=Path(config["runs"]))
    with folder_of_runs(store, scratch=cache_folder() / "sweeps") as runs:
        outcome = do_here(Piece(config["name"], _do, {**config, "runs": str(runs)}))
    if store.runs is None and outcome.value and "run" in outcome.value:
        carried = outcome.value["run"].replace(str(runs), f"{store.address}/runs")
        outcome = replace(outcome, value={**outcome.value, "run": carried})
    Ledger(store).put(config, outcome)
    row: Row = outcome.taken()
    return row


def _do(config: Mapping[str, Any]) -> Row:
    command, runs = SWEPT.get(config["command"]), Path(config["runs"])
    row = command.do(config["options"], runs)
    after: Row = {}
    for name, more in config["then"].items():
        reached = SWEPT.get(name).do({"run": row[command.makes], **more}, runs)
        after |= {f"{name}.{key}": value for key, value in reached.items()}
    first = list(row)[:_FIRST]  # a terminal has no room for all columns
    return {name: row[name] for name in first} | after | row
