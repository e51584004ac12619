"""Give out pieces to the place that was chosen, and take in what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from heedful.progress import QUIET, Watcher
from heedful.scale.chosen import chosen_engine
from heedful.scale.engine import engine_named
from heedful.scale.piece import Outcome, Piece
from heedful.scale.worker import machine

Done = Callable[[int, Outcome], None]


def share_out(
    pieces: Sequence[Piece],
    *,
    title: str = "",
    unit: str = "pieces",
    usual: str = "here",
    done: Done = lambda place, outcome: None,
    watcher: Watcher = QUIET,
) -> list[Outcome]:
    """Do all pieces where the user chose, or else in the `usual` place; the outcomes are in the order of the pieces.

    `done` is told of each as it is finished. Nothing is raised for a piece that could not be done: its outcome says why.
    """
    engine = chosen_engine() or engine_named(usual)
    outcomes: dict[int, Outcome] = {}
    shown = watcher if title else QUIET
    with shown.bar(title, len(pieces), unit=unit) as advance:
        for place, outcome in engine.run(pieces, watcher=watcher):
            outcomes[place] = outcome
            done(place, outcome)
            advance(1, note="" if not outcome.problem else f"{pieces[place].name} failed")
    if odd := _other_machines(list(outcomes.values())):
        watcher.say(odd)
    return [outcomes[place] for place in range(len(pieces))]


def _other_machines(outcomes: Sequence[Outcome]) -> str:
    """Say where numbers may differ in their last bits, because machines do."""
    kinds = sorted({outcome.machine for outcome in outcomes if outcome.machine} | {machine()})
    if len(kinds) == 1:
        return ""
    return (
        "These machines differ, so that numbers may differ in their last bits from those of one machine: "
        + "; ".join(kinds)
        + "."
    )
