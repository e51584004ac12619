"""A network proves that the numbers are its own: before every audit, and when it is made ready for one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np
import torch
from torch import Tensor

from heedful.data.corpus import Split
from heedful.data.instances import Batch, Instances
from heedful.data.words.vocabulary import Vocabulary
from heedful.errors import BadInput
from heedful.models.huggingface.last_layer import LastLayerModel, Route
from heedful.models.huggingface.network import Network, Side
from heedful.models.huggingface.place import Place, Unfit, find_place
from heedful.models.stages import output_of

CLOSE = 1e-5
"""How far logits may be off, relative to the largest of them, or to 1 if none is larger."""
PROBES = (
    "The film is warm, funny and far better than anyone expected.",
    "Nobody should have to sit through two long hours of this dull and joyless story about a dog, and yet I did.",
    "Good.",
)
"""Texts that every network is tried on."""


def make_ready(network: Network, vocabulary: Vocabulary) -> LastLayerModel:
    """Find a network's last attention, how texts are filled up for it, and the shortest way to its answers; or refuse it."""
    try:
        batch = _batch(PROBES, vocabulary)
        place = _place(network, vocabulary)
        model = LastLayerModel(network, place)
        with torch.no_grad():
            other = any(_computes_another(model, _alone(batch, row)) for row in range(len(batch)))
        if other:
            network.implementation = None
            place = _place(network, vocabulary)
            model = LastLayerModel(network, place)
        network.side = _side(model, batch, preferred=network.side)
        _checked(model, batch)
        place = replace(place, anywhere=_reads_elsewhere(model, batch))
        model = LastLayerModel(network, place)
        for route in get_args(Route):
            if route == "whole" or _agrees(model, batch, route):
                first = route == "rows" and not place.layers[-1].tokens_first
                model.narrow = first and _agrees(model, batch, route, narrow=True)
                model.route = route
                break
        check(model, batch)
        _has_slopes(model, _alone(batch, 0))
    except BadInput:
        raise
    except (
        RuntimeError,
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        NotImplementedError,
    ) as error:
        told = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise Unfit(f"it cannot be run as audits need it ({told.rstrip('.')})") from error
    return model


def check_on(model: LastLayerModel, instances: Instances) -> None:
    """Let a network prove itself on a few of the texts that it is audited on: short, long and in between."""
    order = np.argsort(instances.lengths, kind="stable")
    order = order[instances.tokens.items[order] > 0]
    if not len(order):
        return
    inner = order[: max(1, int(len(order) * 0.9))]  # the very longest take long
    places = np.unique(np.linspace(0, len(inner) - 1, 4).astype(int))
    _checked(model, instances.batch(inner[places]))


def _checked(model: LastLayerModel, batch: Batch) -> None:
    """Hold a network to it, and where companions make a difference let it read texts of one length together."""
    try:
        check(model, batch)
    except Unfit:
        if model.network.side == "none":
            raise
        model.network.side = "none"
        check(model, batch)


def check(model: LastLayerModel, batch: Batch) -> None:
    """Hold a network to it: own weights give its own logits, companions change nothing, and nothing is left behind."""
    before = _traces(model)
    with torch.no_grad():
        plain = model.logits(batch)
        read = output_of(model, batch)
        if not bool(plain.isfinite().all()):
            raise Unfit("its logits are not all numbers")
        assert read.weights is not None
        if _computes_another(model, batch):
            raise Unfit("it gives other logits where its attention is computed in its parts")
        _same(plain, read.logits, "its own weights do not give its own logits")
        there = batch.tokens.mask.any(1)
        sums = read.weights.sum(-1)[there]
        if not bool(torch.isclose(sums, torch.ones_like(sums), atol=1e-4).all()):
            raise Unfit("the weights of its words do not sum to one")
        fixed = model.encode(model.embed(batch), batch).fixed
        assert fixed is not None
        for row in range(len(batch)):
            one = _alone(batch, row)
            _same(plain[row : row + 1], model.logits(one), "a text alone gets other logits than among others")
            again = output_of(model, one)
            assert again.weights is not None
            _same(
                read.weights[row : row + 1, :, : again.weights.shape[-1]],
                again.weights,
                "a text alone gets other weights than among others",
            )
            alone = model.encode(model.embed(one), one).fixed
            assert alone is not None
            _same(
                fixed[row : row + 1],
                alone,
                "special tokens of a text alone hold another share than among others",
            )
    if _traces(model) != before:
        raise Unfit("it is not as it was before it was read")


def _has_slopes(model: LastLayerModel, batch: Batch) -> None:
    """Refuse a network whose answer cannot be differentiated by what it reads."""
    with torch.inference_mode(False), torch.enable_grad():
        embedded = model.embed(batch).detach().clone().requires_grad_()
        states = model.encode(embedded, batch)
        logits = model.decode(states, model.attend(states))
        slope = (
            torch.autograd.grad(logits.sum(), embedded, allow_unused=True)[0]
            if logits.requires_grad
            else None
        )
    if slope is None:
        raise Unfit("no gradient of its answer reaches its word vectors: a part of it runs under torch.no_grad, or is quantised")  # fmt: skip


def _computes_another(model: LastLayerModel, batch: Batch) -> bool:
    """Whether a network's attention in its parts is not what its owner runs: what stays in double precision is no rounding.

    Of some networks the plain implementation computes something else than the fast one that their users run.
    """
    if _difference(model, batch) <= CLOSE:
        return False
    return _difference(model.exact(), batch) > CLOSE


def _difference(model: LastLayerModel, batch: Batch) -> float:
    given = _as_given(model.network, lambda: model.logits(batch))
    return 0.0 if given is None else _far(given, model.logits(batch))


def _as_given(network: Network, read: Callable[[], Tensor]) -> Tensor | None:
    """Read with attention computed as the owner has it; None where that is the same, or needs another machine."""
    if {getattr(config, "_attn_implementation", None) for config in network.configs} <= {
        network.implementation
    }:
        return None
    try:
        with network.as_given():
            return read()
    except (RuntimeError, ValueError, ImportError):
        return None


def _reads_elsewhere(model: LastLayerModel, batch: Batch) -> bool:
    with torch.no_grad():
        parts = model.encode(model.embed(batch), batch).rest
    found = (
        part.embedded is not None and model.passes.reads_elsewhere(part.embedded, part.inputs, part.read)
        for part in parts
    )
    return any(found)


def _place(network: Network, vocabulary: Vocabulary) -> Place:
    """Watch a run on texts of one length; of another length where sizes are not told apart, and else of the first."""
    places = []
    for probe in PROBES:
        tokens = _batch([probe] * 3, vocabulary).tokens
        places.append(find_place(network, network.arrange(tokens)))
        if places[-1].values is not None and tokens.ids.shape[1] > 3:
            return places[-1]
    return places[0]


def _side(model: LastLayerModel, batch: Batch, *, preferred: Side) -> Side:
    """On which side texts are filled up so that a text alone gets what it gets among others."""
    one = _alone(batch, 0)
    with torch.no_grad():
        _settled(model.logits(one), model.logits(one))
    sides: list[Side] = [preferred, "left" if preferred == "right" else "right", "none"]
    for side in sides:
        model.network.side = side
        try:
            with torch.no_grad():
                together = model.logits(batch)
                alone = torch.cat([model.logits(_alone(batch, row)) for row in range(len(batch))])
        except (RuntimeError, ValueError):
            continue
        if _far(together, alone) <= CLOSE:
            return side
    raise Unfit("a text alone gets other logits than among others")


def _settled(once: Tensor, again: Tensor) -> None:
    """Refuse a network that gives no numbers, or others when it reads the same texts again."""
    if not bool(once.isfinite().all()):
        raise Unfit("its logits are not all numbers")
    _same(once, again, "it gives other logits when it reads the same texts again")


def _agrees(model: LastLayerModel, batch: Batch, route: Route, *, narrow: bool = False) -> bool:
    """Whether a shorter way gives what a run of the whole network gives, under any weights."""
    if not model.place.layers:
        return False
    other = LastLayerModel(model.network, model.place, route)
    other.narrow = narrow
    try:
        with torch.no_grad():
            whole, short = (m.encode(m.embed(batch), batch) for m in (model, other))
            own = model.attend(whole)
            drawn = torch.rand(3, *own.shape, generator=torch.Generator().manual_seed(0)).to(own.dtype).pow(4)
            drawn = drawn * whole.mask[:, None]
            drawn = drawn / drawn.sum(-1, keepdim=True).clamp(min=1e-9)
            expected = torch.stack([model.decode(whole, weights) for weights in (own, *drawn)], 1)
            several = other.decode_many(short, torch.stack([own, *drawn], 1))
            return max(_far(expected, several), _far(expected[:, 0], other.decode(short, own))) <= CLOSE
    except (
        BadInput,
        RuntimeError,
        ValueError,
        TypeError,
        IndexError,
        KeyError,
        AttributeError,
        AssertionError,
    ):
        return False


def _far(one: Tensor, other: Tensor) -> float:
    if one.shape != other.shape or not bool(other.isfinite().all()):
        return float("inf")
    return float((one - other).abs().max() / one.abs().max().clamp(min=1.0))


def _same(one: Tensor, other: Tensor, otherwise: str) -> None:
    if (far := _far(one, other)) > CLOSE:
        raise Unfit(f"{otherwise} (they differ by {far:.1g})")


def _alone(batch: Batch, row: int) -> Batch:
    """One text without padding."""
    one = batch.take(torch.tensor([row]))
    length = max(int(one.tokens.present.sum()), 1)
    names = ("ids", "mask", "present", "offsets", "word_of")
    return replace(one, tokens=replace(one.tokens, **{n: getattr(one.tokens, n)[:, :length] for n in names}))


def _batch(texts: Sequence[str], vocabulary: Vocabulary) -> Batch:
    split = Split(list(texts), np.zeros(len(texts), dtype=np.int64))
    return Instances.encode(split, vocabulary, classes=2).batch(np.arange(len(texts)))


def _traces(model: LastLayerModel) -> tuple[int, list[str], list[bool]]:
    """Count hooks, replaced functions and what is set for a run."""
    parts = list(model.network.module.modules())
    names = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    hooks = sum(len(getattr(part, name)) for part in parts for name in names)
    hooks += sum("forward" in part.__dict__ for part in parts)
    set_to = [str(getattr(config, "_attn_implementation", None)) for config in model.network.configs]
    return hooks, set_to, [part.training for part in parts]
