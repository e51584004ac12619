"""A sweep as a user writes it: a command, options of all pieces, and a grid or a list of those that differ."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.checking import read_yaml
from heedful.errors import BadInput, did_you_mean
from heedful.runs import identity

MOST = 100_000
_LONGEST = 60
"""Characters of a value in the name of a piece."""
_KEYS = ("command", "options", "grid", "list", "then")
Options = Mapping[str, Any]
Check = Callable[[str, Options], Options]
"""Gives all options of a command, those at their defaults too, or refuses them in a sentence."""
CheckAfter = Callable[[str, str], None]
"""Refuses a command that cannot be done on what the first makes."""


@dataclass(frozen=True)
class SweptPiece:
    """One choice of options."""

    name: str
    """What differs from other pieces, as a user wrote it."""
    command: str
    options: Options
    then: Mapping[str, Options]
    """Commands that are done on what the first has made."""
    key: str
    """Changes when anything that decides its numbers does."""


def read_sweep(
    path: Path, check: Check, check_after: CheckAfter = lambda command, after: None
) -> list[SweptPiece]:
    """Read a file, and name everything that is wrong with it before anything is done."""
    content, where = read_yaml(path, given_as="SPEC"), f" in {path}"
    for key in content:
        if key not in _KEYS:
            raise BadInput(f"There is no key {str(key)!r}{where}: {did_you_mean(str(key), _KEYS)}")
    command = content.get("command")
    if not isinstance(command, str):
        raise BadInput(f"No command is named{where}: write, for example, 'command: train'.")
    common = _mapping(content, "options", where)
    then = {
        name: _options(f"then {name}", value, where)
        for name, value in _mapping(content, "then", where).items()
    }
    pieces: list[SweptPiece] = []
    seen: dict[str, str] = {}
    for own in _choices(content, where):
        options = {**common, **own}
        name = ", ".join(f"{key} {spelled(value)[:_LONGEST]}" for key, value in own.items()) or command
        try:
            whole = dict(check(command, options))
            for after, more in then.items():
                check_after(command, after)
                check(after, {"run": "", **more})
        except BadInput as error:
            raise BadInput(f"{path}, piece {len(pieces) + 1} ({name}): {error}") from None
        key = identity({"command": command, "options": whole, **({"then": then} if then else {})})
        if key in seen:
            raise BadInput(
                f"Two pieces{where} are the same ({seen[key]} and {name}): leave one out, or let them differ."
            )
        seen[key] = name
        pieces.append(SweptPiece(name, command, options, then, key))
    return pieces


def _choices(content: Mapping[str, Any], where: str) -> list[dict[str, Any]]:
    """Give what differs, piece by piece: each entry of the list with every combination of the grid."""
    grid = _mapping(content, "grid", where)
    for name, values in grid.items():
        if not isinstance(values, list):
            raise BadInput(
                f"{name} of the grid{where} has no list of values: write '{name}: [{spelled(values)}]'."
            )
        if not values:
            raise BadInput(f"{name} of the grid{where} is an empty list: name a value, or leave it out.")
    entries = content.get("list")
    if entries is not None and (not isinstance(entries, list) or not entries):
        raise BadInput(f"The list{where} holds nothing: write options as entries, each after a dash.")
    if not grid and entries is None:
        raise BadInput(
            f"There is no grid and no list{where}, so that there is nothing to sweep over: write one."
        )
    listed = [
        _options(f"entry {number} of the list", entry, where)
        for number, entry in enumerate(entries or [{}], 1)
    ]
    both = next((name for entry in listed for name in entry if name in grid), None)
    if both is not None:
        raise BadInput(f"{both} stands in the grid and in the list{where}: leave it out of one.")
    if (count := len(listed) * math.prod(map(len, grid.values()))) > MOST:
        raise BadInput(f"{count:,} pieces{where} are more than {MOST:,}: make several sweeps of them.")
    combinations = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    return [{**entry, **combination} for entry in listed for combination in combinations]


def _mapping(content: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    value = content.get(key)
    return _options(key, {} if value is None else value, where)


def _options(what: str, value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise BadInput(f"What stands under {what}{where} must be options as 'name: value', one per line.")
    return value


def spelled(value: Any) -> str:
    """Write a value as in a file.

    >>> spelled([1, 3]), spelled(None), spelled(True), spelled("cnn")
    ('[1, 3]', 'none', 'true', 'cnn')
    """
    if isinstance(value, list):
        return f"[{', '.join(map(spelled, value))}]"
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
