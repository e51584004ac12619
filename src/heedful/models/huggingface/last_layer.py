"""The stages of a network as it is: h are the values of its last attention, weights its rows where the head reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from heedful.data.instances import Batch
from heedful.data.tokens import Tokens
from heedful.errors import BadInput
from heedful.models import shorter
from heedful.models.huggingface.network import Inputs, Network, replaced
from heedful.models.huggingface.place import Layer, Place, Unfit, filled, first_tensor
from heedful.models.huggingface.rows import own_weights, with_weights
from heedful.models.huggingface.softmax import SoftmaxSight
from heedful.models.stages import Effects, Output, States, Unit, output_of

Route = Literal["rows", "layer", "whole"]
"""What runs for other weights: the last layer with a row for every variant, and the head; the last layer and the head;
or the whole network. Each gives the same numbers, the first much sooner."""
_AT_ONCE = 1 << 14
"""Rows that go through the head at a time."""
_PAIRS = 1 << 25
"""Weights of one layer, of all pairs of tokens and all heads, that are held at a time: 128 MB."""


@dataclass(frozen=True)
class Part:
    """Some texts of a batch, read together: what decoding them needs. Columns are the network's."""

    rows: Int[Tensor, " part"]
    inputs: Inputs
    words: Bool[Tensor, "part columns"]
    read: Bool[Tensor, "part queries"]
    """Which queries the head reads."""
    own: Float[Tensor, "part heads columns"]
    """The words' weights, which sum to one."""
    fixed: Float[Tensor, "part heads columns"]
    """What other tokens hold where the head reads, on average."""
    embedded: Float[Tensor, "part columns dim"] | None = None
    hidden: Float[Tensor, "part columns size"] | None = None
    """What the last layer is given."""
    pooled: Float[Tensor, "part size"] | None = None
    """The one of these that the head reads, where nothing else is needed of them."""
    values: Tensor | None = None
    """What its weights mix."""
    call: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})
    """What else it is given."""

    @property
    def single(self) -> bool:
        """Whether the head reads one place of every text."""
        return bool((self.read.sum(1) == 1).all())


@dataclass
class _Record:
    """What is seen while a network runs as it is."""

    weights: Tensor | None = None
    values: Tensor | None = None
    hidden: Tensor | None = None
    call: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})
    traced: Tensor | None = None
    """What logits are differentiated by, to see where the head reads."""


class LastLayerModel(nn.Module):
    """A network's last attention as four stages. The weights of special tokens stay as they are, whatever the words get.

    Where the head reads one place, such as [CLS], its row is replaced. Where it reads several, as in mean pooling, the
    audited weights are the mean of their rows; see `rows.with_weights` for what other weights then mean.
    """

    unit: Unit = "word"
    contextual = True
    slow = True
    has_attention = True
    routes: ClassVar[tuple[Route, ...]] = ("rows", "layer", "whole")

    def __init__(self, network: Network, place: Place, route: Route = "whole") -> None:
        super().__init__()
        self.module = network.module
        self.network, self.place, self.route = network, place, route

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
        vectors = self.network.embed(torch.where(tokens.present, tokens.ids, self.network.pad)).cpu()
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
                self._read(embedded[rows, :length], _part(tokens, rows, length), rows)
                for rows, length in self._groups(tokens)
            ]
        h = [self._states(part) for part in parts]
        fixed = torch.cat([part.fixed.sum(-1).mean(1).cpu() for part in parts])
        return States(
            _joined(h, parts, tokens.ids.shape[1]),
            tokens.mask,
            fixed=fixed[torch.cat([part.rows for part in parts]).argsort()],
            rest=parts,
        )

    def attend(self, states: States) -> Float[Tensor, "batch heads items"]:
        """Give the words' share of the rows that the head reads, made to sum to one."""
        found = [_by_token(part.own, part).transpose(1, 2) for part in states.rest]
        return _joined(found, states.rest, states.mask.shape[1]).transpose(1, 2) * states.mask[:, None]

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
        for rows, length in self._groups(tokens):
            part = _part(tokens, rows, length)
            inputs = self.network.arrange(part)
            with self.network.ready():
                if tokens.shift is None:
                    found.append((rows, self.network(inputs.ids, inputs.present).cpu()))
                else:
                    given = _in_order(self.embed(replace(batch, tokens=part)), inputs)
                    with self._embedding(given, inputs):
                        found.append((rows, self.network(inputs.ids, inputs.present).cpu()))
        return torch.cat([logits for _, logits in found])[torch.cat([rows for rows, _ in found]).argsort()]

    def _groups(self, tokens: Tokens) -> Iterator[tuple[Tensor, int]]:
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
        given, record = _in_order(embedded, inputs), _Record()
        with (
            torch.set_grad_enabled(torch.is_grad_enabled()),
            self.network.ready(),
            self._embedding(given, inputs),
            self._watching(record),
        ):
            logits = self.network(inputs.ids, inputs.present)
        if record.weights is None or record.traced is None:
            raise Unfit("its last attention was not seen when it read these texts")
        read = self._where_read(logits, record.traced, inputs)
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
        return replace(part, pooled=pooled, call=_light(record.call, record.hidden, inputs.ids.shape[1]))

    @contextmanager
    def _embedding(self, given: Tensor, inputs: Inputs) -> Iterator[None]:
        """Have the network's table give these vectors, once."""
        calls = []

        def table(original: Any, ids: Tensor, *args: Any, **kwargs: Any) -> Tensor:
            calls.append(1)
            if torch.equal(ids, inputs.ids):
                return given.clone()  # some networks scale it in place
            if torch.equal(ids, inputs.ids.T):
                return given.transpose(0, 1).clone()
            raise Unfit("it looks up vectors of other tokens than those of the text")

        with replaced({self.network.table: table}):
            yield
        if len(calls) != 1:
            raise Unfit(f"it looks word vectors up {len(calls)} times, and not once")

    @contextmanager
    def _watching(self, record: _Record) -> Iterator[None]:
        """See the last attention, and begin to trace what follows."""
        if not self.place.layers:
            with self._last_softmax(lambda weights: _traced(record, weights), record):
                yield
            return

        def last(layer: Layer, original: Any, hidden: Tensor, args: Any, kwargs: Any) -> Any:
            record.hidden, record.call = hidden, (args, kwargs)
            with self._last_softmax(lambda weights: weights, record, of=1):
                output = original(*args, **kwargs)
            found = first_tensor(output)
            assert found is not None
            start = found if found.requires_grad else found.detach().requires_grad_()
            torch.set_grad_enabled(True)
            record.traced = start
            return _refilled(output, start)

        with self._layers(last):
            yield

    @contextmanager
    def _last_softmax(
        self, change: Callable[[Tensor], Tensor], record: _Record | None = None, *, of: int | None = None
    ) -> Iterator[None]:
        """Change what the last softmax of a run gives; `of` softmaxes there must be."""
        wanted, calls = of or self.place.softmaxes, 0

        def seen(weights: Tensor, dim: int) -> Tensor:
            nonlocal calls
            axes = self.place.weights
            if weights.dim() != len(axes.shape) or dim % weights.dim() != axes.key:
                return weights
            calls += 1
            if calls != wanted:
                return weights
            if record is not None:
                record.weights = weights
            return change(weights)

        def mixed(values: Tensor) -> Tensor:
            if record is not None and calls == wanted:
                record.values = values
            return values

        with SoftmaxSight(seen, mixed if record is not None else None):
            yield
        if calls != wanted:
            raise Unfit(f"it has {calls} softmaxes over tokens where {wanted} were expected")

    @contextmanager
    def _layers(self, last: Callable[..., Any], *, skip: bool = False) -> Iterator[None]:
        """Do something else in the last call of the last layer; with `skip`, all before it give what they are given."""
        final = self.place.layers[-1]
        calls = dict.fromkeys((layer.module for layer in self.place.layers), 0)

        def change(layer: Layer) -> Callable[..., Any]:
            def forward(original: Any, *args: Any, **kwargs: Any) -> Any:
                calls[layer.module] += 1
                is_last = layer is final and calls[layer.module] == layer.calls
                if not (is_last or skip):
                    return original(*args, **kwargs)
                hidden = _hidden(args, kwargs)
                if is_last:
                    return last(layer, original, hidden, args, kwargs)
                return filled(layer.outline, hidden)

            return forward

        with replaced({layer.module: change(layer) for layer in self.place.layers}):
            yield
        if calls[final.module] != final.calls:
            raise Unfit("its last layer was not called as often as expected")

    def _where_read(self, logits: Tensor, traced: Tensor, inputs: Inputs) -> Bool[Tensor, "part queries"]:
        """Which queries have any influence on the logits."""
        direction = torch.linspace(1.0, 2.0, logits.shape[-1], dtype=logits.dtype, device=logits.device)
        (slope,) = torch.autograd.grad(
            (logits * direction.sqrt()).sum(), traced, retain_graph=True, allow_unused=True
        )
        if slope is None:
            raise Unfit("its head does not read what its last attention gives")
        read = self._with_slope(slope)
        if bool(read.any(1).all()):
            return read
        if self.place.layers:  # where a head is saturated, it is asked again about states near zero
            return self._where_read_near_zero(traced, inputs)
        raise Unfit("its head does not read what its last attention gives")

    def _with_slope(self, slope: Tensor) -> Bool[Tensor, "part queries"]:
        if not self.place.layers:
            return self.place.weights.rows(slope).abs().amax((1, 3)) > 0
        first = self.place.layers[-1].tokens_first
        return (slope.transpose(0, 1) if first else slope).abs().amax(-1) > 0

    def _where_read_near_zero(self, like: Tensor, inputs: Inputs) -> Bool[Tensor, "part queries"]:
        """Ask the head alone, which reads the same places whatever stands there."""
        drawn = torch.rand(like.shape, generator=torch.Generator().manual_seed(0)).to(like) * 1e-2
        drawn.requires_grad_()

        def last(layer: Layer, original: Any, hidden: Tensor, args: Any, kwargs: Any) -> Any:
            return filled(layer.outline, drawn)

        with torch.enable_grad(), self.network.ready(), self._layers(last, skip=True):
            logits = self.network(inputs.ids, inputs.present)
            (slope,) = torch.autograd.grad(logits.sum(), drawn, allow_unused=True)
        if slope is None or not bool((read := self._with_slope(slope)).any(1).all()):
            raise Unfit("its head does not read what its last attention gives")
        return read

    def _states(self, part: Part) -> Float[Tensor, "part tokens size"]:
        """Give the values that are mixed, or what is nearest to them that is known."""
        axes = self.place.values
        if part.values is not None and axes is not None:
            found = axes.states(part.values)
        else:
            near = (n for n in (part.hidden, part.embedded) if n is not None)
            found = next(near, part.own.transpose(1, 2))
        return _by_token(found.transpose(1, 2), part).transpose(1, 2)

    def _by_rows(
        self, part: Part, weights: Float[Tensor, "part variants heads columns"]
    ) -> Float[Tensor, "part variants outputs"]:
        """Run the last layer on the state that the head reads, one row for each variant, and the head on every row."""
        layer, axes = self.place.layers[-1], self.place.weights
        assert part.pooled is not None
        batch, variants, _, columns = weights.shape
        places = part.read.long().argmax(1)
        pooled = part.pooled[:, None].expand(-1, columns, -1)
        pooled = pooled.transpose(0, 1) if layer.tokens_first else pooled
        args, kwargs = _with_hidden(part.call, pooled)
        share = 1 - part.fixed.sum(-1, keepdim=True)
        outputs = []
        for block in torch.split(weights, columns, dim=1):
            rows = part.fixed[:, None] + share[:, None] * block.to(part.fixed.dtype)
            whole = nn.functional.pad(rows, (0, 0, 0, 0, 0, columns - block.shape[1]))
            put = axes.back(whole.transpose(1, 2))
            with self.network.ready(), self._mixing(put, part.values):
                output = first_tensor(layer.module(*args, **kwargs))
            assert output is not None
            output = output.transpose(0, 1) if layer.tokens_first else output
            outputs.append(output[:, : block.shape[1]])
        states = torch.cat(outputs, 1).flatten(0, 1)
        ids = part.inputs.ids[torch.arange(batch), places].repeat_interleave(variants)
        blocks = zip(torch.split(states, _AT_ONCE), torch.split(ids, _AT_ONCE), strict=True)
        return torch.cat([self._head(some, of) for some, of in blocks]).view(batch, variants, -1)

    @contextmanager
    def _mixing(self, put: Tensor, values: Tensor | None) -> Iterator[None]:
        """Have a layer's softmax give these rows, and mix these values with them."""
        calls = 0

        def seen(weights: Tensor, dim: int) -> Tensor:
            nonlocal calls
            axes = self.place.weights
            if weights.dim() != len(axes.shape) or dim % weights.dim() != axes.key:
                return weights
            calls += 1
            return put.to(weights.dtype)

        mixes = 0

        def mixed(own: Tensor) -> Tensor:
            nonlocal mixes
            mixes += 1
            return own if values is None else values.to(own.dtype)

        with SoftmaxSight(seen, mixed):
            yield
        if (calls, mixes) != (1, 1):
            raise Unfit("its last layer does not mix values by one softmax")

    def _head(
        self, states: Float[Tensor, "rows size"], ids: Int[Tensor, " rows"]
    ) -> Float[Tensor, "rows outputs"]:
        """Run what follows the layers on texts of one token each, whose states are given."""

        def last(layer: Layer, original: Any, hidden: Tensor, args: Any, kwargs: Any) -> Any:
            given = states[None] if layer.tokens_first else states[:, None]
            return filled(layer.outline, given)

        with self.network.ready(), self._layers(last, skip=True):
            return self.network(ids[:, None], torch.ones_like(ids[:, None], dtype=torch.bool))

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
                with self._embedding(part.embedded, inputs), self._last_softmax(change):
                    return self.network(inputs.ids, inputs.present)

            def last(layer: Layer, original: Any, hidden: Tensor, args: Any, kwargs: Any) -> Any:
                again, named = _swapped(args, kwargs, hidden, part.hidden)
                with self._last_softmax(change, of=1):
                    return original(*again, **named)

            with self._layers(last, skip=True):
                return self.network(inputs.ids, inputs.present)


@shorter.decode_many.register(LastLayerModel)
def _decode_many(
    model: LastLayerModel, states: States, weights: Float[Tensor, "batch variants heads items"]
) -> Float[Tensor, "batch variants outputs"]:
    return model.decode_many(states, weights)


@shorter.read.register(LastLayerModel)
def _read(model: LastLayerModel, batch: Batch) -> Output:
    return Output(model.logits(batch), None)


_HIDDEN = object()
"""Where the vectors of tokens stand among what a layer is given."""


def _traced(record: _Record, weights: Tensor) -> Tensor:
    """Begin to differentiate at the weights."""
    torch.set_grad_enabled(True)
    record.traced = weights if weights.requires_grad else weights.detach().requires_grad_()
    return record.traced


def _hidden(args: Any, kwargs: Any) -> Tensor:
    for given in (*args, *kwargs.values()):
        if isinstance(given, Tensor) and given.is_floating_point() and given.dim() == 3:
            return given
    raise Unfit("its last layer is given no vectors of tokens")


def _swapped(args: Any, kwargs: Any, old: Tensor, new: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return tuple(new if a is old else a for a in args), {
        name: new if a is old else a for name, a in kwargs.items()
    }


def _with_hidden(call: tuple[tuple[Any, ...], dict[str, Any]], hidden: Tensor) -> tuple[Any, dict[str, Any]]:
    return tuple(hidden if a is _HIDDEN else a for a in call[0]), {
        name: hidden if a is _HIDDEN else a for name, a in call[1].items()
    }


def _light(
    call: tuple[tuple[Any, ...], dict[str, Any]], hidden: Tensor, columns: int
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Forget the masks and biases of scores, which do not matter where rows are given: they are large."""

    def light(given: Any) -> Any:
        if given is hidden:
            return _HIDDEN
        if isinstance(given, Tensor) and given.dim() == 4 and given.shape[-2:] == (columns, columns):
            empty = given.new_zeros(()) if given.is_floating_point() else given.new_ones(())
            return empty.expand(given.shape)
        return given

    args, kwargs = call
    return tuple(map(light, args)), {name: light(given) for name, given in kwargs.items()}


def _refilled(output: Any, tensor: Tensor) -> Any:
    """Give what a layer returned with another tensor in the first place."""
    if isinstance(output, Tensor):
        return tensor
    if isinstance(output, dict):
        name = next(iter(output))
        output[name] = tensor
        return output
    return type(output)([_refilled(output[0], tensor), *output[1:]])


def _part(tokens: Tokens, rows: Tensor, length: int) -> Tokens:
    some = tokens.take(rows)
    names = ("ids", "mask", "present", "offsets", "word_of")
    shift = None if some.shift is None else some.shift[:, :length]
    return replace(some, **{name: getattr(some, name)[:, :length] for name in names}, shift=shift)


def _in_order(embedded: Tensor, inputs: Inputs) -> Tensor:
    """Put the vectors of tokens into the network's columns."""
    moved = embedded.to(inputs.order.device)
    return moved.gather(1, inputs.order[..., None].expand_as(moved))


def _by_token(found: Float[Tensor, "part any columns"], part: Part) -> Float[Tensor, "part any tokens"]:
    """Put what stands in the network's columns back to where the tokens stand."""
    places = part.inputs.column_of
    if bool((places == torch.arange(places.shape[1], device=places.device)).all()):
        return found.cpu()
    return found.gather(-1, places[:, None].expand_as(found)).cpu()


def _joined(
    found: list[Float[Tensor, "part tokens size"]], parts: list[Part], tokens: int
) -> Float[Tensor, "batch tokens size"]:
    """Put parts together in the order of the batch."""
    if len(found) == 1:
        return found[0]
    padded = [nn.functional.pad(each, (0, 0, 0, tokens - each.shape[1])) for each in found]
    return torch.cat(padded)[torch.cat([part.rows for part in parts]).argsort()]
