"""Seeds that a command is given: `0,1,2` or `0-2`; a number alone is how many, as `reproduce` and `study` once had it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from heedful.checking import build
from heedful.cli.console import error_console
from heedful.config import AuditOptions
from heedful.errors import BadInput


def seeds_asked(given: str | None, first: Callable[[int], Sequence[int]]) -> tuple[int, ...] | None:
    """Read seeds; `first` gives so many of those that are usual here, for a number alone."""
    if given is None:
        return None
    if given.strip().isdecimal() and len(given.strip()) < 5:
        if not int(given):
            raise BadInput(
                "--seeds 0 is no seed at all: write 0-0 for the seed 0 alone, or 0,1,2 for several."
            )
        seeds = tuple(first(int(given)))
        error_console().print(
            f"--seeds {given.strip()} is read as so many seeds: --seeds {spelled(seeds)} says which. For the seed {given.strip()} alone, "
            f"write {given.strip()}-{given.strip()}.",
            soft_wrap=True,
        )
        return seeds
    found: tuple[int, ...] | None = build(AuditOptions, {"seeds": given}).seeds
    return found


def spelled(seeds: Sequence[int]) -> str:
    """Name seeds as a command reads them; one alone is a range, as a number alone is how many."""
    return f"{seeds[0]}-{seeds[0]}" if len(seeds) == 1 else ",".join(map(str, seeds))
