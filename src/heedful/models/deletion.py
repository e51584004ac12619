"""States of a recurrent encoder when one token is deleted, without reading the whole text again.

Deleting token t leaves the states before it as they were in the forward direction, and those after it in the
backward one. The other half is run on from the state next to the gap, all deletions of a batch in step, and
what a token itself contributes to the gates is computed once. That is a sixth of the arithmetic of reading
every shortened text from its start.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from heedful.models.encoders import Recurrent, reverse


class _Run(NamedTuple):
    """One direction over whole texts: what every token gives to the gates, and the states after it."""

    cell: nn.RNNBase
    gates: Float[Tensor, "batch tokens gates"]
    h: Float[Tensor, "batch tokens hidden"]
    c: Float[Tensor, "batch tokens hidden"] | None
    """The memory of an LSTM."""


class Deletions:
    """Everything that can be reused between the deletions of a batch's tokens."""

    def __init__(
        self,
        encoder: Recurrent,
        embedded: Float[Tensor, "batch tokens dim"],
        present: Bool[Tensor, "batch tokens"],
    ) -> None:
        self.present = present
        self.lengths = present.sum(1)
        self.forwards = _run(encoder.forwards, embedded)
        self.backwards = None
        if encoder.backwards is not None:
            self.backwards = _run(encoder.backwards, reverse(embedded, present))

    def states(
        self, rows: Int[Tensor, " variants"], gone: Int[Tensor, " variants"]
    ) -> Float[Tensor, "variants tokens size"]:
        """States of text rows[v] without token gone[v]; the place of the token itself holds nothing of use."""
        lengths, present = self.lengths[rows], self.present[rows]
        h = _run_on(self.forwards, rows, gone, lengths)
        if self.backwards is None:
            return h
        reversed_h = _run_on(self.backwards, rows, lengths - 1 - gone, lengths)
        return torch.cat([h, reverse(reversed_h, present)], dim=-1)


def _run(cell: nn.RNNBase, x: Float[Tensor, "batch tokens dim"]) -> _Run:
    gates = x @ cell.weight_ih_l0.T + cell.bias_ih_l0  # type: ignore[operator]
    state = _zero_state(cell, gates[:, 0])
    states = []
    for step in range(x.shape[1]):
        state = _step(cell, gates[:, step], state)
        states.append(state)
    h = torch.stack([h for h, _ in states], dim=1)
    c = torch.stack([c for _, c in states], dim=1) if isinstance(cell, nn.LSTM) else None
    return _Run(cell, gates, h, c)


def _run_on(
    run: _Run,
    rows: Int[Tensor, " variants"],
    gone: Int[Tensor, " variants"],
    lengths: Int[Tensor, " variants"],
) -> Float[Tensor, "variants tokens hidden"]:
    """Go on after each gap. Deletions with most steps to go come first, so that the running ones are a slice."""
    h = run.h[rows]
    steps, order = (lengths - 1 - gone).sort(descending=True, stable=True)
    rows, gone = rows[order], gone[order]
    state = _zero_state(run.cell, run.gates[rows, 0])
    started = gone > 0
    before = (gone - 1).clamp(min=0)
    state = (
        torch.where(started[:, None], run.h[rows, before], state[0]),
        state[1] if run.c is None else torch.where(started[:, None], run.c[rows, before], state[1]),
    )
    for step in range(1, int(steps[0]) + 1 if len(steps) else 1):
        running = int((steps >= step).sum())
        place = gone[:running] + step
        state = _step(run.cell, run.gates[rows[:running], place], (state[0][:running], state[1][:running]))
        h[order[:running], place] = state[0]
    return h


def _zero_state(cell: nn.RNNBase, like: Float[Tensor, "batch gates"]) -> tuple[Tensor, Tensor]:
    zero = like.new_zeros(len(like), cell.hidden_size)
    return zero, zero


def _step(cell: nn.RNNBase, gates: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Take one step of a cell, given what the token contributes to its gates. The second state is an LSTM's."""
    h, c = state
    own = h @ cell.weight_hh_l0.T + cell.bias_hh_l0  # type: ignore[operator]
    if isinstance(cell, nn.LSTM):
        i, f, g, o = (gates + own).chunk(4, dim=-1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c
    if isinstance(cell, nn.GRU):
        (r, z, n), (own_r, own_z, own_n) = gates.chunk(3, dim=-1), own.chunk(3, dim=-1)
        z = torch.sigmoid(z + own_z)
        n = torch.tanh(n + torch.sigmoid(r + own_r) * own_n)
        return (1 - z) * n + z * h, c
    return torch.tanh(gates + own), c
