"""Encoders: embedded tokens → one state per token. Padding never changes a state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from heedful.config import ModelOptions
from heedful.registry import Registry


class Encoder(nn.Module):
    """One state per token; `contextual` is False where a state depends on its own token alone."""

    contextual = True
    query_encoder: ClassVar[str | None] = None
    """What reads a query, where that is another encoder."""
    size: int

    def __init__(self, options: ModelOptions, input_size: int) -> None:
        super().__init__()

    def forward(
        self, embedded: Float[Tensor, "batch tokens dim"], present: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens size"]:
        """Encode every present token."""
        raise TypeError(f"{type(self).__name__} does not encode")

    def summarise(
        self, h: Float[Tensor, "batch tokens size"], present: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch size"]:
        """One vector for the whole text: what a query is to attention. Here the mean state."""
        return mean_pool(h, present)

    @property
    def key_size(self) -> int:
        """The size of what attention scores."""
        return self.size

    def keys(
        self, embedded: Float[Tensor, "batch tokens dim"], present: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens key_size"] | None:
        """What attention scores, where that is not the states themselves."""
        return None


_UNEVEN = 1.3  # texts run together may differ by this much in length: less padding, or fewer runs

ENCODERS: Registry[type[Encoder]] = Registry("encoder", __name__)


def mean_pool(
    h: Float[Tensor, "batch items size"], mask: Bool[Tensor, "batch items"]
) -> Float[Tensor, "batch size"]:
    """Mean over the items that are there."""
    weights = mask / mask.sum(-1, keepdim=True).clamp(min=1)
    return torch.einsum("bn,bnm->bm", weights.to(h.dtype), h)


def max_pool(
    h: Float[Tensor, "batch items size"], mask: Bool[Tensor, "batch items"]
) -> Float[Tensor, "batch size"]:
    """Largest value of every feature over the items that are there; zero where there are none."""
    return h.masked_fill(~mask[..., None], -torch.inf).amax(1).masked_fill(~mask.any(1, keepdim=True), 0.0)


class Recurrent(Encoder):
    """RNN, LSTM or GRU in one direction or both; `hidden` is per direction."""

    cell: Callable[..., nn.RNNBase] = nn.RNN
    bidirectional = False

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


@ENCODERS.register("rnn", "simple recurrent network, one direction")
class _RNN(Recurrent):
    pass


@ENCODERS.register("lstm", "LSTM, one direction")
class _LSTM(Recurrent):
    cell = nn.LSTM


@ENCODERS.register("bilstm", "LSTM in both directions: the papers' contextual encoder")
class _BiLSTM(Recurrent):
    cell, bidirectional = nn.LSTM, True


@ENCODERS.register("gru", "GRU, one direction")
class _GRU(Recurrent):
    cell = nn.GRU


@ENCODERS.register("bigru", "GRU in both directions, as in hierarchical attention networks")
class _BiGRU(Recurrent):
    cell, bidirectional = nn.GRU, True


def _activation(name: str) -> nn.Module:
    return nn.ReLU() if name == "relu" else nn.Tanh()


@ENCODERS.register("cnn", "parallel convolutions of several widths: a state sees its neighbours")
class _CNN(Encoder):
    def __init__(self, options: ModelOptions, input_size: int) -> None:
        super().__init__(options, input_size)
        self.convolutions = nn.ModuleList(
            nn.Sequential(
                # Even widths reach one word further to the right.
                nn.ConstantPad1d(((width - 1) // 2, width // 2), 0.0),
                nn.Conv1d(input_size, options.hidden, width),
            )
            for width in options.widths
        )
        self.activation = _activation(options.activation)
        self.size = options.hidden * len(options.widths)

    def forward(
        self, embedded: Float[Tensor, "batch tokens dim"], present: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens size"]:
        """Convolve with zeros beyond a text's end, as if it stood alone."""
        x = (embedded * present[..., None]).transpose(1, 2)  # [batch, dim, tokens]
        return torch.cat([self.activation(c(x)) for c in self.convolutions], dim=1).transpose(1, 2)

    def summarise(
        self, h: Float[Tensor, "batch tokens size"], present: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch size"]:
        """Max over time, as usual for convolutions."""
        return max_pool(h, present)


@ENCODERS.register("average", "projection and activation of each word alone (AtteFa's MLP with tanh)")
class _Average(Encoder):
    contextual = False

    def __init__(self, options: ModelOptions, input_size: int) -> None:
        super().__init__(options, input_size)
        self.projection = nn.Linear(input_size, options.hidden)
        self.activation = _activation(options.activation)
        self.size = options.hidden

    def forward(
        self, embedded: Float[Tensor, "batch tokens dim"], present: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens size"]:
        """Project every token on its own."""
        h: Tensor = self.activation(self.projection(embedded))
        return h


@ENCODERS.register("none", "no encoder: attention weighs the embeddings themselves")
class _None(Encoder):
    contextual = False

    def __init__(self, options: ModelOptions, input_size: int) -> None:
        super().__init__(options, input_size)
        self.size = input_size

    def forward(
        self, embedded: Float[Tensor, "batch tokens dim"], present: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens size"]:
        """Pass the embeddings on."""
        return embedded


@ENCODERS.register(
    "pointer", "a BiLSTM points, the words themselves speak: no word carries another's evidence"
)
class Pointer(_Average):
    """Attention scores the states of a BiLSTM; what is mixed and decoded is each word's own projection.

    A state that has read the whole text can say what another word said, and then its weight tells nothing of its own
    word. Here context decides how much a word counts, and never what it says.
    """

    contextual = True
    query_encoder = "bilstm"

    def __init__(self, options: ModelOptions, input_size: int) -> None:
        super().__init__(options, input_size)
        self.context = _BiLSTM(options, input_size)

    @property
    def key_size(self) -> int:
        """The size of a BiLSTM's state."""
        return self.context.size

    def keys(
        self, embedded: Float[Tensor, "batch tokens dim"], present: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens key_size"] | None:
        """Read the text in both directions."""
        h: Tensor = self.context(embedded, present)
        return h


def recurrent_part(encoder: nn.Module) -> Recurrent | None:
    """What of an encoder reads word after word, and is scored by attention: all of it, its context, or nothing."""
    if isinstance(encoder, Pointer):
        return encoder.context
    return encoder if isinstance(encoder, Recurrent) else None
