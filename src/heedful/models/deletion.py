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
        self.lengths = present.sum(1)
        self.forwards = _run(encoder.forwards, embedded)
        self.backwards = None
        self.h = self.forwards.h
        if encoder.backwards is not None:
            self.backwards = _run(encoder.backwards, reverse(embedded, present))
            self.h = torch.cat([self.h, reverse(self.backwards.h, present)], dim=-1)

    def states(
        self, rows: Int[Tensor, " variants"], gone: Int[Tensor, " variants"]
    ) -> Float[Tensor, "variants tokens size"]:
        """States of text rows[v] without token gone[v]; the place of the token itself holds nothing of use."""
        h, lengths = self.h[rows], self.lengths[rows]
        hidden = self.forwards.h.shape[-1]
        _run_on(self.forwards, h[..., :hidden], rows, gone, lengths, backwards=False)
        if self.backwards is not None:
            _run_on(self.backwards, h[..., hidden:], rows, gone, lengths, backwards=True)
        return h


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
    h: Float[Tensor, "variants tokens hidden"],
    rows: Int[Tensor, " variants"],
    gone: Int[Tensor, " variants"],
    lengths: Int[Tensor, " variants"],
    *,
    backwards: bool,
) -> None:
    """Go on after each gap and write the new states into `h`, where the old ones stand.

    Deletions with most steps to go come first, so that the running ones are always a slice.
    """
    last = lengths - 1
    gone = last - gone if backwards else gone  # in the order of reading
    steps, order = (last - gone).sort(descending=True, stable=True)
    rows, gone, last = rows[order], gone[order], last[order]
    started, before = (gone > 0)[:, None], (gone - 1).clamp(min=0)
    zero, _ = _zero_state(run.cell, run.gates[rows, 0])
    state = (
        torch.where(started, run.h[rows, before], zero),
        zero if run.c is None else torch.where(started, run.c[rows, before], zero),
    )
    for step in range(1, int(steps.max()) + 1):
        running = int((steps >= step).sum())
        place = gone[:running] + step
        state = _step(run.cell, run.gates[rows[:running], place], (state[0][:running], state[1][:running]))
        h[order[:running], last[:running] - place if backwards else place] = state[0]


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
