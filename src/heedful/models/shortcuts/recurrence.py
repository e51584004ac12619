"""A recurrent encoder taken apart: what tokens give to the gates, and the steps from state to state.

The library's fused kernels do both at once and give the gradients of all weights or none. Where many readings
share their tokens (a text without each of its words, or on its way from nothing to itself), what the tokens
give is computed once for all of them, and only the steps are taken again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from heedful.models.encoders.recurrent import Recurrent
from heedful.models.shortcuts.products import Product

State = tuple[Tensor, ...]
"""h / 2, and for an LSTM also 2c: see `RecurrentCell`."""


class RecurrentCell:
    """One direction of a recurrent encoder, with its weights as constants.

    tanh x is written 2σ(2x) − 1, because the library's sigmoid is five times as fast as its tanh. The factors two
    are in the weights, which double what a tanh reads, and in the states, which are h / 2 and 2c.
    """

    def __init__(self, module: nn.RNNBase, *, backwards: bool) -> None:
        self.kind, self.hidden, self.backwards = type(module), module.hidden_size, backwards
        weight_ih, weight_hh, bias_ih, bias_hh = (p.detach() for p in module.all_weights[0])
        # A tanh reads the third part of an LSTM's gates (i, f, g, o) and a GRU's (r, z, n), and all of an RNN's.
        factors = torch.ones_like(bias_ih).view(-1, self.hidden)
        factors[2 if len(factors) > 1 else 0] = 2
        double = factors.flatten()
        self.from_token = Product((weight_ih * double[:, None]).T.contiguous())
        self.from_state = Product((weight_hh * double[:, None] * 2).T.contiguous())
        self.bias, self.state_bias = bias_ih * double, bias_hh * double
        if self.kind is not nn.GRU:  # whose reset gate comes between the two
            self.bias = self.bias + self.state_bias

    def start(self, rows: tuple[int, ...]) -> State:
        """Nothing read yet."""
        zero = self.bias.new_zeros(*rows, self.hidden)
        return (zero, zero) if self.kind is nn.LSTM else (zero,)

    def step(self, gates: Float[Tensor, "*rows gates"], state: State) -> State:
        """Read one token, given what it adds to the gates, bias included; rows of states may share it."""
        own = self.from_state(state[0])
        if self.kind is nn.LSTM:
            i, f, g, o = own.add_(gates).sigmoid_().chunk(4, dim=-1)
            c = torch.addcmul(f * state[1], i, g - 0.5, value=4)
            return o * (torch.sigmoid(c) - 0.5), c
        if self.kind is nn.GRU:
            (r, z, n), (own_r, own_z, own_n) = (
                part.chunk(3, dim=-1) for part in (gates, own.add_(self.state_bias))
            )
            z = torch.sigmoid(z + own_z)
            n = torch.sigmoid(torch.addcmul(n, torch.sigmoid(r + own_r), own_n)) - 0.5
            return (torch.lerp(n, state[0], z),)
        return (own.add_(gates).sigmoid_() - 0.5,)

    def places(self, tokens: int) -> Iterable[int]:
        """Places of a text in the order of reading."""
        return range(tokens - 1, -1, -1) if self.backwards else range(tokens)

    def begin(self, state: State, present: Bool[Tensor, " batch"]) -> State:
        """Stay at the start where a text, read from its end, has not begun; states are [..., batch, hidden]."""
        return state if self.begun(present) else tuple(part * present[:, None] for part in state)

    def begun(self, present: Bool[Tensor, " batch"]) -> bool:
        """Whether all texts have begun at a place where these are."""
        return not self.backwards or bool(present.all())


def cells(encoder: Recurrent) -> list[RecurrentCell]:
    """Forwards, and backwards if there is such a direction."""
    directions = [encoder.forwards] if encoder.backwards is None else [encoder.forwards, encoder.backwards]
    return [RecurrentCell(module, backwards=module is encoder.backwards) for module in directions]


class ScaledReading:
    """Reads a batch's texts with every embedding multiplied by a number, for many choices of the numbers.

    With `noise` it is the noise on the embeddings that is multiplied.
    """

    def __init__(
        self,
        encoder: Recurrent,
        embedded: Float[Tensor, "batch tokens dim"],
        present: Bool[Tensor, "batch tokens"],
        noise: Float[Tensor, "batch tokens dim"] | None = None,
    ) -> None:
        self.present, self.cells = present, cells(encoder)
        own = [cell.from_token(embedded) for cell in self.cells]
        if noise is None:
            self.gates = [gates.unbind(1) for gates in own]
            self.constant = [[cell.bias] * present.shape[1] for cell in self.cells]
        else:
            self.gates = [cell.from_token(noise).unbind(1) for cell in self.cells]
            self.constant = [
                list((gates + cell.bias).unbind(1)) for gates, cell in zip(own, self.cells, strict=True)
            ]

    def __call__(
        self, scales: Float[Tensor, "times batch tokens"]
    ) -> Float[Tensor, "times batch tokens size"]:
        """Give the states; differentiable with respect to the scales, and to nothing else."""
        directions = [
            _read(scales, cell, gates, constant, self.present)
            for cell, gates, constant in zip(self.cells, self.gates, self.constant, strict=True)
        ]
        return 2 * torch.cat(directions, dim=-1).permute(1, 2, 0, 3)


def _read(
    scales: Float[Tensor, "times batch tokens"],
    cell: RecurrentCell,
    gates: tuple[Tensor, ...],
    constant: Sequence[Tensor],
    present: Bool[Tensor, "batch tokens"],
) -> Float[Tensor, "tokens times batch hidden"]:
    """Take one step after the other: half of h."""
    times, batch, tokens = scales.shape
    state, scale = cell.start((times, batch)), scales[..., None].unbind(2)
    h: list[Tensor] = [scales] * tokens
    for t in cell.places(tokens):
        state = cell.step(torch.addcmul(constant[t], scale[t], gates[t]), state)
        state = cell.begin(state, present[:, t])
        h[t] = state[0]
    return torch.stack(h)
