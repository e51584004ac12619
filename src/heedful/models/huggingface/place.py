"""Where the last attention of a network is: found by watching one run, never by a name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from heedful.errors import BadInput
from heedful.models.huggingface.axes import ValueAxes, WeightAxes
from heedful.models.huggingface.network import Inputs, Network
from heedful.models.huggingface.side_by_side import stands_beside
from heedful.models.huggingface.softmax import SoftmaxSight


class Unfit(BadInput):
    """A network whose attention cannot be audited as it is, and why."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"This model cannot be audited as it is: {reason}.")


@dataclass(frozen=True)
class Layer:
    """The module that holds one attention and gives what it is given: a vector for every token."""

    module: nn.Module
    calls: int
    """How often it is called in a run; some networks share one layer."""
    tokens_first: bool
    """Whether vectors are laid out as tokens, texts, size."""
    outline: Any
    """What it returns, without the tensors."""


@dataclass(frozen=True)
class Place:
    """The last attention: its softmax, what it mixes, and the layers, the last of which holds it."""

    softmaxes: int
    """Which of the softmaxes of its form it is in a run, counted from 1."""
    after: int
    """How many of the same form follow that weigh no tokens, such as one that makes probabilities."""
    alike: bool
    """Whether every attention has this form, and nothing else has it."""
    weights: WeightAxes
    values: ValueAxes | None
    """None where it is not known what is mixed."""
    layers: tuple[Layer, ...]
    """All of them, the last at the end; empty where no module is a layer, and the whole network runs for every question."""
    anywhere: bool = False
    """Whether the head reads other places under other weights, as where it takes the largest of all states: all are then read."""


@dataclass(eq=False)
class _Call:
    module: nn.Module
    hidden: tuple[int, ...] | None
    softmaxes: int = 0
    kept: bool = False
    output: Any = None


@dataclass(eq=False)
class _Softmax:
    number: int
    shape: tuple[int, ...]
    dim: int
    stack: list[_Call]
    axes: WeightAxes | None
    values: tuple[int, ...] | None = None

    @property
    def form(self) -> tuple[int, int]:
        return len(self.shape), self.dim % len(self.shape)


@dataclass
class _Watch:
    """What happens in a run."""

    shape: tuple[int, int]
    stack: list[_Call] = field(default_factory=list)
    calls: list[_Call] = field(default_factory=list)
    softmaxes: list[_Softmax] = field(default_factory=list)
    forms: list[tuple[int, int]] = field(default_factory=list)
    """Of all softmaxes, those that weigh no tokens among them: how many axes, and over which."""

    def enter(self, module: nn.Module, args: Any, kwargs: Any) -> None:
        found = hidden_of(args, kwargs, self.shape)
        self.stack.append(_Call(module, None if found is None else tuple(found.shape)))
        self.calls.append(self.stack[-1])

    def leave(self, module: nn.Module, args: Any, output: Any) -> None:
        call = self.stack.pop()
        given = first_tensor(output)
        call.kept = call.hidden is not None and given is not None and tuple(given.shape) == call.hidden
        call.output = outline(output)

    def seen(self, weights: Tensor, dim: int) -> Tensor:
        texts, tokens = self.shape
        axes = WeightAxes.of(weights.shape, dim, texts=texts, tokens=tokens)
        if axes is not None or weights.dim() > 2:
            self.softmaxes.append(
                _Softmax(len(self.forms), tuple(weights.shape), dim, list(self.stack), axes)
            )
            for call in self.stack:
                call.softmaxes += 1
        self.forms.append((weights.dim(), dim % weights.dim()))
        return weights

    def mixed(self, values: Tensor) -> Tensor:
        if self.softmaxes:
            self.softmaxes[-1].values = tuple(values.shape)
        return values


def find_place(network: Network, inputs: Inputs) -> Place:
    """Run a network on texts of one length, none of whose sizes is another's, and find its last attention."""
    with torch.no_grad(), network.ready():
        network.read(inputs)  # some networks settle what they are when first called
        watch = _Watch(tuple(inputs.ids.shape))  # type: ignore[arg-type]
        with _watched(network.module, watch), SoftmaxSight(watch.seen, watch.mixed):
            network.read(inputs)
    if not watch.softmaxes:
        raise Unfit("it has no softmax over the tokens of a text, and so no attention weights")
    last = watch.softmaxes[-1]
    inside = [found for found in watch.softmaxes if found.stack[-1:] == last.stack[-1:]]
    if len(last.stack) > 1 and len(inside) > 1:
        raise Unfit("a layer has several softmaxes, so that no single one holds its attention weights")
    if last.axes is None:
        raise Unfit(
            "its later layers read the text at another length"
            if any(found.axes is not None for found in watch.softmaxes)
            else "its softmax is over something else than the tokens of a text"
        )
    several = [found for found in watch.softmaxes if found.axes is None]
    if several:
        raise Unfit("some of its layers read the text at another length")
    if stands_beside(network, inputs):
        raise Unfit(
            "another softmax stands beside its last one, not before it, so that no single one holds its attention weights"
        )
    texts, tokens = watch.shape
    values = (
        None
        if last.values is None
        else ValueAxes.of(last.values, texts=texts, tokens=tokens, heads=last.axes.heads)
    )
    before, after = (
        forms.count(last.form) for forms in (watch.forms[: last.number], watch.forms[last.number + 1 :])
    )
    alike = (
        after == 0 and before + 1 == len(watch.softmaxes) and {s.form for s in watch.softmaxes} == {last.form}
    )
    return Place(before + 1, after, alike, last.axes, values, _layers(watch))


def _layers(watch: _Watch) -> tuple[Layer, ...]:
    """Give the outermost module around each softmax whose every call holds one; nothing where some softmax has none."""
    found: list[_Call] = []
    for softmax in watch.softmaxes:
        for call in softmax.stack:
            same = [other for other in watch.calls if other.module is call.module]
            if all(other.softmaxes == 1 and other.kept for other in same):
                found.append(call)
                break
        else:
            return ()
    last = {call.module: call for call in found}  # of several calls, the last
    ordered = sorted(last.values(), key=found.index)
    modules = [call.module for call in found]
    return tuple(
        Layer(
            call.module,
            modules.count(call.module),
            tokens_first=call.hidden is not None and call.hidden[0] != watch.shape[0],
            outline=call.output,
        )
        for call in ordered
    )


@contextmanager
def _watched(module: nn.Module, watch: _Watch) -> Iterator[None]:
    hooks = []
    try:
        for part in module.modules():
            hooks.append(part.register_forward_pre_hook(watch.enter, with_kwargs=True))
            hooks.append(part.register_forward_hook(watch.leave))
        yield
    finally:
        for hook in hooks:
            hook.remove()


def hidden_of(args: Sequence[Any], kwargs: Mapping[str, Any], shape: tuple[int, int]) -> Tensor | None:
    """Find the vectors of tokens among what a module is given: the first tensor that has one for each."""
    texts, tokens = shape
    for given in (*args, *kwargs.values()):
        vectors = isinstance(given, Tensor) and given.is_floating_point() and given.dim() == 3
        if vectors and tuple(given.shape[:2]) in ((texts, tokens), (tokens, texts)):
            return given  # type: ignore[no-any-return]
    return None


def first_tensor(output: Any) -> Tensor | None:
    """Give what a module returns, or the first of several things."""
    if isinstance(output, Tensor):
        return output
    if isinstance(output, dict):
        output = tuple(output.values())
    if isinstance(output, tuple | list) and output:
        return first_tensor(output[0])
    return None


class _Named(NamedTuple):
    """Of something with names: what makes it, and the first name."""

    kind: type
    name: str
    first: Any


def outline(output: Any) -> Any:
    """Forget the tensors of what a module returns, and keep its form."""
    if isinstance(output, dict) and output:
        name, first = next(iter(output.items()))
        return _Named(type(output), name, outline(first))
    if isinstance(output, tuple | list) and output:
        return [outline(output[0]), *(None for _ in output[1:])]
    return None


def filled(form: Any, tensor: Tensor) -> Any:
    """Give something of a form that has only its first tensor."""
    if isinstance(form, _Named):
        return form.kind(**{form.name: filled(form.first, tensor)})
    if isinstance(form, list):
        return (filled(form[0], tensor), *form[1:])
    return tensor
