"""States of a recurrent encoder when one token is deleted, without reading the whole text again.

Deleting token t leaves the states before it as they were in the forward direction, and those after it in the
backward one. The other half is run on from the state next to the gap. All texts of a batch and all their gaps
go place by place together: at each place, those whose gap has been passed are one block of rows, which share
what their text's token gives to the gates. That is a sixth of the arithmetic of reading every shortened text
from its start, and little is moved about in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from heedful.models.encoders.recurrent import Recurrent
from heedful.models.shortcuts.recurrence import RecurrentCell, State, cells


class Changed(NamedTuple):
    """What deletions change at one place of the texts: there, the states of one direction."""

    gaps: slice
    """Those of the gaps asked for that have been passed."""
    place: int
    direction: int
    half: Float[Tensor, "gaps batch hidden"]
    """Half of h, as a `RecurrentCell` counts."""


class Deletions:
    """Everything that can be reused between the deletions of a batch's tokens."""

    def __init__(
        self,
        encoder: Recurrent,
        embedded: Float[Tensor, "batch tokens dim"],
        present: Bool[Tensor, "batch tokens"],
    ) -> None:
        self.directions = [OneWay(cell, embedded, present) for cell in cells(encoder)]
        self.halves: list[Float[Tensor, "batch tokens hidden"]] = [
            torch.stack([state[0] for state in direction.after], dim=1) for direction in self.directions
        ]
        """Of the whole texts, for each direction: half of h."""
        self.whole: Float[Tensor, "batch tokens size"] = 2 * torch.cat(self.halves, dim=-1)

    def changed(self, gaps: range) -> Iterator[Changed]:
        """Give all that changes when each place of `gaps` is deleted.

        Of two directions, exactly one changes at every other place; a single one changes after the gap.
        """
        for number, direction in enumerate(self.directions):
            for passed, place, half in direction.run_on(gaps):
                yield Changed(passed, place, number, half)

    def states(self, gaps: range) -> Float[Tensor, "gaps batch tokens size"]:
        """States of every text without the token at each place of `gaps`; nothing of use at that place itself."""
        h = self.whole.repeat(len(gaps), 1, 1, 1)
        parts = h.chunk(len(self.directions), dim=-1)
        for passed, place, direction, half in self.changed(gaps):
            torch.mul(half, 2, out=parts[direction][passed, :, place])
        return h


class OneWay:
    """One direction over whole texts: what every token gives to the gates, and the states around it."""

    def __init__(
        self,
        cell: RecurrentCell,
        embedded: Float[Tensor, "batch tokens dim"],
        present: Bool[Tensor, "batch tokens"],
    ) -> None:
        self.cell, self.present = cell, present.unbind(1)
        self.gates = (cell.from_token(embedded) + cell.bias).unbind(1)
        self.before: list[State] = [()] * len(self.gates)  # the state in which each place is read
        self.after = list(self.before)
        state = cell.start((len(present),))
        for t in cell.places(len(self.gates)):
            self.before[t] = state
            self.after[t] = state = self._step(t, state)

    def run_on(self, gaps: range) -> Iterator[tuple[slice, int, Float[Tensor, "gaps batch hidden"]]]:
        """Go on from each gap: at every place, the states of the gaps passed by then, which are a slice."""
        backwards = self.cell.backwards
        state = self.cell.start((0, len(self.gates[0])))
        for t in self.cell.places(len(self.gates)):
            new = t + 1 if backwards else t - 1
            if new in gaps:
                pairs = [[part, fresh[None]] for part, fresh in zip(state, self.before[new], strict=True)]
                state = tuple(torch.cat(pair[::-1] if backwards else pair) for pair in pairs)
            if len(state[0]):
                state = self._step(t, state)
                passed = len(state[0])
                yield slice(len(gaps) - passed, None) if backwards else slice(passed), t, state[0]

    def _step(self, t: int, state: State) -> State:
        return self.cell.begin(self.cell.step(self.gates[t], state), self.present[t])
