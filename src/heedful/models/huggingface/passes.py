"""Runs of a network with something seen or replaced on the way; each is undone when it ends, however it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.models.huggingface.network import Inputs, Network, replaced
from heedful.models.huggingface.place import Layer, Place, Unfit, filled, first_tensor
from heedful.models.huggingface.softmax import SoftmaxSight

_DRAWS = 3
UNREAD = "its head does not read what its last attention gives, or not so that it can be differentiated, as where a part is quantised"


@dataclass
class Record:
    """What is seen while a network runs as it is."""

    weights: Tensor | None = None
    values: Tensor | None = None
    hidden: Tensor | None = None
    call: tuple[tuple[Any, ...], dict[str, Any]] = ((), {})
    traced: Tensor | None = None
    """What logits are differentiated by, to see where the head reads."""


@dataclass(frozen=True)
class Passes:
    """A network and the place of its last attention."""

    network: Network
    place: Place

    @contextmanager
    def embedding(self, given: Tensor, inputs: Inputs) -> Iterator[None]:
        """Have the network's table give these vectors, whenever it is asked."""
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
        if not calls:
            raise Unfit("it does not look word vectors up when it reads a text")

    @contextmanager
    def watching(self, record: Record) -> Iterator[None]:
        """See the last attention, and begin to trace what follows."""
        if not self.place.layers:
            with self.last_softmax(lambda weights: _traced(record, weights), record):
                yield
            return

        def last(layer: Layer, original: Any, hidden: Tensor, args: Any, kwargs: Any) -> Any:
            record.hidden, record.call = hidden, (args, kwargs)
            with self.last_softmax(lambda weights: weights, record, of=1):
                output = original(*args, **kwargs)
            found = first_tensor(output)
            assert found is not None
            start = found if found.requires_grad else found.detach().requires_grad_()
            torch.set_grad_enabled(True)
            record.traced = start
            return _refilled(output, start)

        with self.layers(last):
            yield

    @contextmanager
    def last_softmax(
        self, change: Callable[[Tensor], Tensor], record: Record | None = None, *, of: int | None = None
    ) -> Iterator[None]:
        """Change what the last softmax of a run gives; `of` softmaxes there must be."""
        wanted, calls = of or self.place.softmaxes, 0
        all_of_them = of or self.place.softmaxes + self.place.after

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
        if calls != all_of_them:
            raise Unfit(f"it has {calls} softmaxes where {all_of_them} were expected")

    @contextmanager
    def layers(self, last: Callable[..., Any], *, skip: bool = False) -> Iterator[None]:
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

    @contextmanager
    def mixing(self, put: Tensor, values: Tensor | None) -> Iterator[None]:
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

    def head(
        self, states: Float[Tensor, "rows size"], ids: Int[Tensor, " rows"]
    ) -> Float[Tensor, "rows outputs"]:
        """Run what follows the layers on texts of one token each, whose states are given."""

        def last(layer: Layer, original: Any, hidden: Tensor, args: Any, kwargs: Any) -> Any:
            given = states[None] if layer.tokens_first else states[:, None]
            return filled(layer.outline, given)

        with self.network.ready(), self.layers(last, skip=True):
            return self.network(ids[:, None], torch.ones_like(ids[:, None], dtype=torch.bool))

    def where_read(self, logits: Tensor, traced: Tensor, inputs: Inputs) -> Bool[Tensor, "part queries"]:
        """Which queries have any influence on the logits."""
        if not logits.requires_grad:
            raise Unfit(UNREAD)
        if self.place.anywhere:
            return inputs.present
        slope = _slope(logits, traced)
        if slope is None:
            raise Unfit(UNREAD)
        read = self._with_slope(slope)
        if bool(read.any(1).all()):
            return read
        if self.place.layers:  # where a head is saturated, it is asked again about states near zero
            return self._where_read_near_zero(traced, inputs)
        raise Unfit(UNREAD)

    def reads_elsewhere(self, embedded: Tensor, inputs: Inputs, read: Bool[Tensor, "part queries"]) -> bool:
        """Whether the head reads other places where the last weights of all rows are drawn."""
        axes, generator = self.place.weights, torch.Generator().manual_seed(0)
        drawn: list[Tensor] = []

        def change(weights: Tensor) -> Tensor:
            rows = axes.rows(weights)
            other = torch.rand(rows.shape, generator=generator).to(rows).pow(4) * (rows > 0)
            drawn.append((other / other.sum(-1, keepdim=True).clamp(min=1e-9)).requires_grad_())
            return axes.back(drawn[-1]).clone()  # what follows may write into it

        for _ in range(_DRAWS if axes.query is not None else 0):
            with (
                torch.inference_mode(False),
                torch.enable_grad(),
                self.network.ready(),
                self.embedding(embedded, inputs),
                self.last_softmax(change),
            ):
                logits = self.network.read(inputs)
            if not logits.requires_grad:
                raise Unfit(UNREAD)
            slope = _slope(logits, drawn[-1])
            if slope is not None and bool(((slope.abs().amax((1, 3)) > 0) & ~read).any()):
                return True
        return False

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

        with torch.enable_grad(), self.network.ready(), self.layers(last, skip=True):
            logits = self.network.read(inputs)
            reads = logits.requires_grad
            slope = torch.autograd.grad(logits.sum(), drawn, allow_unused=True)[0] if reads else None
        if slope is None or not bool((read := self._with_slope(slope)).any(1).all()):
            raise Unfit(UNREAD)
        return read


def _slope(logits: Tensor, traced: Tensor) -> Tensor | None:
    """Differentiate logits, every one with another factor, so that none undoes another."""
    direction = torch.linspace(1.0, 2.0, logits.shape[-1], dtype=logits.dtype, device=logits.device).sqrt()
    return torch.autograd.grad((logits * direction).sum(), traced, retain_graph=True, allow_unused=True)[0]


def _traced(record: Record, weights: Tensor) -> Tensor:
    """Begin to differentiate at the weights."""
    torch.set_grad_enabled(True)
    record.traced = weights if weights.requires_grad else weights.detach().requires_grad_()
    return record.traced


def _hidden(args: Any, kwargs: Any) -> Tensor:
    for given in (*args, *kwargs.values()):
        if isinstance(given, Tensor) and given.is_floating_point() and given.dim() == 3:
            return given
    raise Unfit("its last layer is given no vectors of tokens")


def _refilled(output: Any, tensor: Tensor) -> Any:
    """Give what a layer returned with another tensor in the first place."""
    if isinstance(output, Tensor):
        return tensor
    if isinstance(output, dict):
        name = next(iter(output))
        output[name] = tensor
        return output
    return type(output)([_refilled(output[0], tensor), *output[1:]])
