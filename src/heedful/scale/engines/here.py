"""Pieces one after the other, in this process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from heedful.errors import BadInput
from heedful.progress import Watcher
from heedful.scale.engine import ENGINES
from heedful.scale.piece import Outcome, Piece
from heedful.scale.worker import do_here


@ENGINES.register("here", "this process, one piece after the other")
class Here:
    """The measure for all others: they must give its numbers."""

    spreads = False

    def __init__(self, after: str = "") -> None:
        if after:
            raise BadInput(f"There is only one process here: write here, not here:{after}.")

    def run(self, pieces: Sequence[Piece], *, watcher: Watcher) -> Iterator[tuple[int, Outcome]]:
        """Do them in their order."""
        for place, piece in enumerate(pieces):
            yield place, do_here(piece)
