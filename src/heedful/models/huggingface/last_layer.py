"""The stages of a network as it is: h are the values of its last attention, weights its rows where the head reads."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any, Literal, Self

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from heedful.data.instances import Batch
from heedful.data.tokens import Tokens
from heedful.errors import BadInput
from heedful.models import shorter
from heedful.models.huggingface.attention_rows import own_weights, with_weights
from heedful.models.huggingface.every_layer import see_layers, silence, zero_values
from heedful.models.huggingface.network import Network
from heedful.models.huggingface.part import (
    Part,
    by_token,
    in_order,
    joined,
    light,
    narrowed,
    swapped,
    take_part,
    with_hidden,
)
from heedful.models.huggingface.passes import Passes, Record
from heedful.models.huggingface.place import Layer, Place, Unfit, first_tensor
from heedful.models.stages import Effects, Layers, Output, States, Unit, output_of

Route = Literal["rows", "layer", "whole"]
"""What runs for other weights: the last layer with a row for every variant, and the head; the last layer and the head;
or the whole network. Each gives the same numbers, the first much sooner."""
_AT_ONCE = 1 << 14
"""Rows that go through the head at a time."""
_PAIRS = 1 << 25
"""Weights of one layer, of all pairs of tokens and all heads, that are held at a time: 128 MB."""


class LastLayerModel(nn.Module):
    """A network's last attention as four stages. The weights of special tokens stay as they are, whatever the words get.

    Where the head reads one place, such as [CLS], its row is replaced. Where it reads several, as in mean pooling, the
    audited weights are the mean of their rows; see `attention_rows.with_weights` for what other weights then mean.
    """

    unit: Unit = "word"
    contextual = True
    slow = True
    has_attention = True

    def __init__(self, network: Network, place: Place, route: Route = "whole") -> None:
        super().__init__()
        self.module = network.module
        self.network, self.place, self.route = network, place, route
        self.narrow = False
        """Whether the last layer can be run on fewer rows than a text has tokens."""
        self.passes = Passes(network, place)

    def train(self, mode: bool = True) -> Self:
        """Leave the network in its owner's mode: whenever it is read, dropout is off."""
        self.training = mode
        return self

    def forward(self, batch: Batch) -> Output:
        """Run all four stages."""
        return output_of(self, batch)

    def embed(self, batch: Batch) -> Float[Tensor, "batch tokens dim"]:
        """Look up the vectors of word pieces, before positions are added."""
        tokens = batch.tokens
        vectors = self.network.embed(torch.where(tokens.present, tokens.ids, self.network.pad))
        if not isinstance(vectors, Tensor):
            raise Unfit("its table of word vectors gives more than vectors")
        vectors = vectors.cpu()
        return vectors if tokens.shift is None else vectors + tokens.shift.to(vectors.dtype)

    def encode(self, embedded: Float[Tensor, "batch tokens dim"], batch: Batch) -> States:
        """Run the network once, and keep what its last layer is given and mixes."""
        tokens = batch.tokens
        if embedded.shape[:2] != tokens.ids.shape:
            raise ValueError(f"{tuple(embedded.shape[:2])} embeddings for {tuple(tokens.ids.shape)} tokens")
        with torch.inference_mode(False):
            if embedded.is_inference():
                embedded = embedded.clone()
            parts = [
                self._read(embedded[rows, :length], take_part(tokens, rows, length), rows)
                for rows, length in self.groups(tokens)
            ]
        h = [self._states(part) for part in parts]
        fixed = torch.cat([part.fixed.sum(-1).mean(1).cpu() for part in parts])
        return States(
            joined(h, parts, tokens.ids.shape[1]),
            tokens.mask,
            fixed=fixed[torch.cat([part.rows for part in parts]).argsort()],
            rest=parts,
        )

    def attend(self, states: States) -> Float[Tensor, "batch heads items"]:
        """Give the words' share of the rows that the head reads, made to sum to one."""
        found = [by_token(part.own, part).transpose(1, 2) for part in states.rest]
        return joined(found, states.rest, states.mask.shape[1]).transpose(1, 2) * states.mask[:, None]

    def decode(
        self, states: States, weights: Float[Tensor, "batch heads items"] | None
    ) -> Float[Tensor, "batch outputs"]:
        """Put other weights in the place of the words' share, and run what follows."""
        if weights is None:
            raise BadInput("This model has attention: give the weights to decode with.")
        return self.decode_many(states, weights[:, None])[:, 0]

    def decode_many(
        self, states: States, weights: Float[Tensor, "batch variants heads items"]
    ) -> Float[Tensor, "batch variants outputs"]:
        """Decode the same states under many weights, at once where one place is read."""
        batch, items = states.mask.shape
        heads = self.place.weights.heads
        if weights.shape[0] != batch or weights.shape[2:] != (heads, items):
            raise ValueError(
                f"weights of shape {tuple(weights.shape)} for {batch} texts, {heads} heads and {items} items"
            )
        decoded = []
        for part in states.rest:
            order = part.inputs.order[:, None, None].expand(-1, *weights.shape[1:3], -1)
            mine = weights[part.rows].to(order.device).gather(-1, order) * part.words[:, None, None]
            way = self._by_runs if part.pooled is None else self._by_rows
            decoded.append(way(part, mine).cpu())
        places = torch.cat([part.rows for part in states.rest]).argsort()
        return torch.cat(decoded)[places]

    def effects(self, states: States) -> Effects | None:
        """Logits are not linear in the weights: norms and layers follow."""
        return None

    def layers(self, batch: Batch, classes: Int[Tensor, " batch"] | None = None) -> Layers:
        """See the attention of every layer."""
        return see_layers(self, batch, classes)

    def knocked_out(
        self, batch: Batch, rows: Int[Tensor, " variants"], gone: Bool[Tensor, "variants tokens"]
    ) -> Float[Tensor, "variants outputs"]:
        """Read texts in which no layer may attend to some tokens."""
        return silence(self, batch, rows, gone)

    def without_values(self, batch: Batch) -> list[Float[Tensor, "batch tokens tokens"]]:
        """Say how far vectors turn where a token's value is zero."""
        return zero_values(self, batch)

    def in_every_layer(self) -> LastLayerModel:
        """Give the stages in which weights act on the words' columns of every layer."""
        from heedful.models.huggingface.all_columns import EveryLayerModel

        return EveryLayerModel(self.network, self.place)

    def exact(self) -> LastLayerModel:
        """Give a copy in double precision; what a network computes in single precision by itself stays so.

        It reads texts of one length together: what masks padding in double precision is infinite in a softmax that stays
        in single precision, and rows of padding are then not numbers.
        """
        copy = deepcopy(self).double()
        copy.network.side = "none"
        return copy

    def logits(self, batch: Batch) -> Float[Tensor, "batch outputs"]:
        """Run the network alone, with nothing seen or replaced but the embeddings."""
        tokens, found = batch.tokens, []
        for rows, length in self.groups(tokens):
            part = take_part(tokens, rows, length)
            inputs = self.network.arrange(part)
            with self.network.ready():
                if tokens.shift is None:
                    found.append((rows, self.network.read(inputs).cpu()))
                else:
                    given = in_order(self.embed(replace(batch, tokens=part)), inputs)
                    with self.passes.embedding(given, inputs):
                        found.append((rows, self.network.read(inputs).cpu()))
        return torch.cat([logits for _, logits in found])[torch.cat([rows for rows, _ in found]).argsort()]

    def groups(self, tokens: Tokens) -> Iterator[tuple[Tensor, int]]:
        """Which texts are read together, and how long they are: attention over all pairs of tokens must fit in memory."""
        lengths = tokens.present.sum(1).clamp(min=1)
        together = [(torch.arange(len(lengths)), tokens.ids.shape[1])]
        if self.network.side == "none":
            sizes = sorted(set(lengths.tolist()))
            together = [((lengths == length).nonzero()[:, 0], length) for length in sizes]
        for rows, length in together:
            at_once = max(1, _PAIRS // (self.place.weights.heads * length**2))
            for some in torch.split(rows, at_once):
                yield some, length

    def _read(self, embedded: Tensor, tokens: Tokens, rows: Tensor) -> Part:
        """Run the network as it is, and see its last attention and where its head reads."""
        inputs = self.network.arrange(tokens)
        given, record = in_order(embedded, inputs), Record()
        with (
            torch.set_grad_enabled(torch.is_grad_enabled()),
            self.network.ready(),
            self.passes.embedding(given, inputs),
            self.passes.watching(record),
        ):
            logits = self.network.read(inputs)
        if record.weights is None or record.traced is None:
            raise Unfit("its last attention was not seen when it read these texts")
        read = self.passes.where_read(logits, record.traced, inputs)
        words = tokens.mask.to(inputs.ids.device).gather(1, inputs.order)
        natural = self.place.weights.rows(record.weights)
        own, fixed = own_weights(natural, read, words)
        part = Part(rows, inputs, words, read, own, fixed, values=record.values)
        if self.route == "whole" or record.hidden is None:
            return replace(part, embedded=given)
        if self.route == "layer" or not part.single:
            return replace(part, hidden=record.hidden)
        hidden = record.hidden.transpose(0, 1) if self.place.layers[-1].tokens_first else record.hidden
        pooled = hidden[torch.arange(len(rows)), read.long().argmax(1)]
        return replace(part, pooled=pooled, call=light(record.call, record.hidden, inputs.ids.shape[1]))

    def _states(self, part: Part) -> Float[Tensor, "part tokens size"]:
        """Give the values that are mixed, or what is nearest to them that is known."""
        axes = self.place.values
        if part.values is not None and axes is not None:
            found = axes.states(part.values)
        else:
            near = (n for n in (part.hidden, part.embedded) if n is not None)
            found = next(near, part.own.transpose(1, 2))
        return by_token(found.transpose(1, 2), part).transpose(1, 2)

    def _by_rows(
        self, part: Part, weights: Float[Tensor, "part variants heads columns"]
    ) -> Float[Tensor, "part variants outputs"]:
        """Run the last layer on the state that the head reads, one row for each variant, and the head on every row."""
        batch, variants, _, columns = weights.shape
        places = part.read.long().argmax(1)
        share = 1 - part.fixed.sum(-1, keepdim=True)
        outputs = []
        for block in torch.split(weights, columns, dim=1):
            rows = part.fixed[:, None] + share[:, None] * block.to(part.fixed.dtype)
            try:
                output = self._layer(part, rows, few=self.narrow and block.shape[1] < columns)
            except RuntimeError:
                if not self.narrow:
                    raise
                output = self._layer(
                    part, rows, few=False
                )  # another axis has the size of the tokens', and was cut too
            outputs.append(output[:, : block.shape[1]])
        states = torch.cat(outputs, 1).flatten(0, 1)
        ids = part.inputs.ids[torch.arange(batch), places].repeat_interleave(variants)
        blocks = zip(torch.split(states, _AT_ONCE), torch.split(ids, _AT_ONCE), strict=True)
        return torch.cat([self.passes.head(some, of) for some, of in blocks]).view(batch, variants, -1)

    def _layer(
        self, part: Part, rows: Float[Tensor, "part variants heads columns"], *, few: bool
    ) -> Float[Tensor, "part some size"]:
        """Run the last layer with a row for every variant: so many, or as many as there are tokens, the rest empty."""
        layer, axes = self.place.layers[-1], self.place.weights
        assert part.pooled is not None
        columns = rows.shape[-1]
        count = rows.shape[1] if few else columns
        pooled = part.pooled[:, None].expand(-1, count, -1)
        call = narrowed(part.call, columns, count) if few else part.call
        args, kwargs = with_hidden(call, pooled.transpose(0, 1) if layer.tokens_first else pooled)
        put = axes.back(nn.functional.pad(rows, (0, 0, 0, 0, 0, count - rows.shape[1])).transpose(1, 2))
        with self.network.ready(), self.passes.mixing(put, part.values):
            output = first_tensor(layer.module(*args, **kwargs))
        assert output is not None
        return output.transpose(0, 1) if layer.tokens_first else output

    def _by_runs(
        self, part: Part, weights: Float[Tensor, "part variants heads columns"]
    ) -> Float[Tensor, "part variants outputs"]:
        """Run the last layer, or the whole network, once for every variant."""
        found = [self._by_run(part, variant) for variant in weights.unbind(1)]
        return torch.stack(found, 1)

    def _by_run(
        self, part: Part, weights: Float[Tensor, "part heads columns"]
    ) -> Float[Tensor, "part outputs"]:
        def change(given: Tensor) -> Tensor:
            natural = self.place.weights.rows(given)
            other = with_weights(natural, weights.to(natural.dtype), part.own, part.read, part.words)
            return self.place.weights.back(other)

        inputs = part.inputs
        with self.network.ready():
            if part.hidden is None:
                assert part.embedded is not None
                with self.passes.embedding(part.embedded, inputs), self.passes.last_softmax(change):
                    return self.network.read(inputs)

            def last(layer: Layer, original: Any, hidden: Tensor, args: Any, kwargs: Any) -> Any:
                again, named = swapped(args, kwargs, hidden, part.hidden)
                with self.passes.last_softmax(change, of=1):
                    return original(*again, **named)

            with self.passes.layers(last, skip=True):
                return self.network.read(inputs)


@shorter.decode_many.register(LastLayerModel)
def _decode_many(
    model: LastLayerModel, states: States, weights: Float[Tensor, "batch variants heads items"]
) -> Float[Tensor, "batch variants outputs"]:
    return model.decode_many(states, weights)


@shorter.read.register(LastLayerModel)
def _read(model: LastLayerModel, batch: Batch) -> Output:
    return Output(model.logits(batch), None)
