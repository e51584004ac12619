"""What recurrent encoders share: one direction or both, texts of like length together."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from heedful.config import ModelOptions
from heedful.models.encoders.encoder import Encoder

_UNEVEN = 1.3  # texts run together may differ by this much in length: less padding, or fewer runs


class Recurrent(Encoder):
    """RNN, LSTM or GRU in one direction or both; `hidden` is per direction."""

    cell: Callable[..., nn.RNNBase] = nn.RNN
    bidirectional = False
    smooth = True

    def __init__(self, options: ModelOptions, input_size: int) -> None:
        super().__init__(options, input_size)
        self.forwards = self.cell(input_size, options.hidden, batch_first=True)
        self.backwards = (
            self.cell(input_size, options.hidden, batch_first=True) if self.bidirectional else None
        )
        self.size = options.hidden * (2 if self.bidirectional else 1)

    def forward(
        self, embedded: Float[Tensor, "batch tokens dim"], present: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens size"]:
        """Read each text from its start, and for two directions also from its end."""
        h = _run(self.forwards, embedded, present)
        if self.backwards is None:
            return h
        reversed_h = _run(self.backwards, reverse(embedded, present), present)
        return torch.cat([h, reverse(reversed_h, present)], dim=-1)

    def summarise(
        self, h: Float[Tensor, "batch tokens size"], present: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch size"]:
        """Give the final state of each direction: forward at the last token, backward at the first."""
        last = h[torch.arange(len(h)), present.sum(1).clamp(min=1) - 1]
        if self.backwards is None:
            return last
        half = self.size // 2
        return torch.cat([last[:, :half], h[:, 0, half:]], dim=-1)


def _run(
    cell: nn.RNNBase, x: Float[Tensor, "batch tokens dim"], present: Bool[Tensor, "batch tokens"]
) -> Float[Tensor, "batch tokens size"]:
    """Run a cell from left to right. What follows a text's end cannot change the states before it.

    Texts of like length are run padded, together: the library's fused kernel needs that, and its packed
    runs take time that is quadratic in the length of a text.
    """
    lengths = present.sum(1).clamp(min=1)
    tokens = x.shape[1]
    if int(lengths.min()) * _UNEVEN >= tokens:
        h: Tensor = cell(x)[0]
        return h
    order = lengths.argsort(descending=True)
    parts = []
    for group, longest in _groups(order.tolist(), lengths.tolist()):
        part: Tensor = cell(x[group, :longest])[0]
        parts.append(nn.functional.pad(part, (0, 0, 0, tokens - longest)))
    return torch.cat(parts).index_select(0, order.argsort())


def _groups(order: list[int], lengths: list[int]) -> Iterator[tuple[list[int], int]]:
    """Cut rows, sorted from long to short, where a text is much shorter than the longest of its group."""
    group: list[int] = []
    for row in order:
        if group and lengths[row] * _UNEVEN < lengths[group[0]]:
            yield group, lengths[group[0]]
            group = []
        group.append(row)
    yield group, lengths[group[0]]


def reverse(
    x: Float[Tensor, "batch tokens dim"], present: Bool[Tensor, "batch tokens"]
) -> Float[Tensor, "batch tokens dim"]:
    """Turn every text around and leave its padding where it is."""
    batch, tokens = present.shape
    steps = torch.arange(tokens)[None, :]
    place = torch.where(present, present.sum(1, keepdim=True) - 1 - steps, steps)
    flat = place + torch.arange(batch)[:, None] * tokens  # whole rows are moved at once, which is fastest
    return x.flatten(0, 1).index_select(0, flat.flatten()).view_as(x)
