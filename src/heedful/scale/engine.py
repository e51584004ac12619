"""What a place to work must offer, and the registry of those there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from heedful.errors import BadInput
from heedful.progress import Watcher
from heedful.registry import Registry
from heedful.scale.piece import Outcome, Piece

MOST_DEATHS = 3
"""How often a piece may take the process or machine that does it along; afterwards it is given up."""


class Engine(Protocol):
    """Does pieces. A process or machine that is lost costs no more than the piece that it was at."""

    spreads: bool
    """Whether pieces may be done at the same time, so that it pays to cut work into them."""

    def run(self, pieces: Sequence[Piece], *, watcher: Watcher) -> Iterator[tuple[int, Outcome]]:
        """Give the place of each piece in the list with its outcome, as they are finished."""


ENGINES: Registry[Callable[[str], Engine]] = Registry("place to work", "heedful.scale.engines")
"""Made from what stands after the colon of its name; nothing if there is no colon."""


def engine_named(name: str) -> Engine:
    """Make the engine of a name such as here, processes:4 or ray:HOST:PORT."""
    kind = ENGINES.get(name)
    _, colon, after = name.partition(":")
    if colon and not after:
        raise BadInput(f"Nothing follows the colon in {name!r}: leave it out, or say what follows.")
    return kind(after)


def given_up() -> str:
    """Say that a piece died too often."""
    return f"What did it was killed {MOST_DEATHS} times, which is most often for want of memory: give it more, or smaller pieces"
