"""All attention layers of a network: seen, differentiated by, silenced, and replaced in the columns of words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.data.instances import Batch
from heedful.errors import Unanswerable
from heedful.models.huggingface.axes import ValueAxes
from heedful.models.huggingface.network import Inputs, replaced
from heedful.models.huggingface.part import in_order, take_part
from heedful.models.huggingface.place import Layer, Place, Unfit, first_tensor
from heedful.models.huggingface.softmax import SoftmaxSight
from heedful.models.stages import Layers, probabilities

if TYPE_CHECKING:
    from heedful.models.huggingface.last_layer import LastLayerModel

_TOKENS = 4096
"""Tokens of variants that are read at a time."""


@contextmanager
def every_softmax(place: Place, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Change what every attention of a run gives, laid out as texts, heads, queries, keys."""
    if not place.alike or place.weights.query is None:
        raise Unanswerable(
            "not every layer of it reads all tokens, so that its layers cannot be put together"
        )
    axes, calls = place.weights, 0

    def seen(weights: Tensor, dim: int) -> Tensor:
        nonlocal calls
        if weights.dim() != len(axes.shape) or dim % weights.dim() != axes.key:
            return weights
        calls += 1
        rows = axes.rows(weights)
        if rows.shape[-1] != rows.shape[-2]:
            raise Unanswerable(
                "not every layer of it reads all tokens, so that its layers cannot be put together"
            )
        return axes.back(change(rows))

    with SoftmaxSight(seen):
        yield
    if calls != place.softmaxes:
        raise Unfit(f"it has {calls} softmaxes where {place.softmaxes} were expected")


def see_layers(model: LastLayerModel, batch: Batch, classes: Int[Tensor, " batch"] | None) -> Layers:
    """Run a network as it is and keep all weights, and the slope of a class's probability by each if classes are named."""
    network, place = model.network, model.place
    tokens = batch.tokens
    states = model.encode(model.embed(batch), batch)
    found: list[tuple[Tensor, list[Tensor], list[Tensor], Tensor]] = []
    for part in states.rest:
        inputs, kept = part.inputs, list[Tensor]()

        def keep(rows: Tensor, kept: list[Tensor] = kept) -> Tensor:
            own = rows if rows.requires_grad else rows.detach().requires_grad_()
            kept.append(own)
            return own

        embedded = model.embed(batch)[part.rows, : inputs.ids.shape[1]].detach().clone()
        with (
            torch.inference_mode(False),
            torch.set_grad_enabled(classes is not None),
            network.ready(),
            model.passes.embedding(in_order(embedded, inputs), inputs),
            every_softmax(place, keep if classes is not None else _seen(kept)),
        ):
            logits = network.read(inputs)
            slopes: list[Tensor] = []
            if classes is not None:
                chosen = probabilities(logits).gather(1, classes[part.rows].to(logits.device)[:, None])
                slopes = list(torch.autograd.grad(chosen.sum(), kept))
        found.append(
            (part.rows, [_by_token(w.detach(), inputs) for w in kept], [_by_token(w, inputs) for w in slopes],
             part.read.gather(1, inputs.column_of).cpu())
        )  # fmt: skip
    size = tokens.ids.shape[1]
    order = torch.cat([rows for rows, *_ in found]).argsort()

    def joined(which: int) -> list[Tensor]:
        columns = zip(*(part[which] for part in found), strict=True)
        return [torch.cat([_padded(each, size) for each in layer])[order] for layer in columns]

    read = torch.cat([torch.nn.functional.pad(part[3], (0, size - part[3].shape[1])) for part in found])[
        order
    ]
    return Layers(joined(1), read, joined(2))


def silence(
    model: LastLayerModel, batch: Batch, rows: Int[Tensor, " variants"], gone: Bool[Tensor, "variants tokens"]
) -> Float[Tensor, "variants outputs"]:
    """Read variants of texts in which no layer may attend to some tokens; positions and other tokens stay."""
    outputs, length = [], batch.tokens.ids.shape[1]
    for block in torch.split(torch.arange(len(rows)), max(1, _TOKENS // length)):
        texts = batch.take(rows[block])
        for places, longest in model.groups(texts.tokens):
            some = texts.take(places)
            inputs = model.network.arrange(take_part(texts.tokens, places, longest))
            hidden = gone[block][places][:, :longest].to(inputs.ids.device).gather(1, inputs.order)
            shift = some.tokens.shift is not None
            given = model.embed(some)[:, :longest]
            with (
                torch.no_grad(),
                model.network.ready(),
                model.passes.embedding(in_order(given, inputs), inputs) if shift else nullcontext(),
            ):
                found = model.network(inputs.ids, inputs.present & ~hidden, inputs.types)
            outputs.append((block[places], found.cpu()))
    order = torch.cat([places for places, _ in outputs]).argsort()
    return torch.cat([found for _, found in outputs])[order]


def zero_values(model: LastLayerModel, batch: Batch) -> list[Float[Tensor, "batch tokens tokens"]]:
    """Run every layer once more for each token, with that token's value zero, and compare what it gives (Mohebbi et al. 2023)."""
    place, network = model.place, model.network
    if not place.layers or place.values is None:
        raise Unanswerable(
            "its layers, or the values that they mix, could not be told apart, so that none can be zero"
        )
    values = place.values
    tokens, size = batch.tokens, batch.tokens.ids.shape[1]
    found = []
    with torch.no_grad():
        for rows, longest in model.groups(tokens):
            some = batch.take(rows)
            inputs, turned = network.arrange(take_part(tokens, rows, longest)), list[Tensor]()

            def again(layer: Layer, turned: list[Tensor] = turned) -> Callable[..., Any]:
                def forward(original: Any, *args: Any, **kwargs: Any) -> Any:
                    output = original(*args, **kwargs)
                    whole = _vectors(output, layer)
                    columns = []
                    for column in range(whole.shape[1]):
                        with SoftmaxSight(lambda weights, dim: weights, _without(values, column)):
                            less = _vectors(original(*args, **kwargs), layer)
                        columns.append(1 - torch.cosine_similarity(less, whole, dim=-1))
                    turned.append(torch.stack(columns, -1))  # [batch, tokens, tokens]
                    return output

                return forward

            given = in_order(model.embed(some)[:, :longest], inputs)
            with (
                network.ready(),
                model.passes.embedding(given, inputs),
                replaced({layer.module: again(layer) for layer in place.layers}),
            ):
                network.read(inputs)
            found.append((rows, [_by_token(each[:, None], inputs)[:, 0] for each in turned]))
    order = torch.cat([rows for rows, _ in found]).argsort()
    layers = zip(*(turned for _, turned in found), strict=True)
    return [torch.cat([_padded(each, size) for each in layer])[order] for layer in layers]


def _without(values: ValueAxes, column: int) -> Callable[[Tensor], Tensor]:
    def mixed(own: Tensor) -> Tensor:
        return own.index_fill(values.token, torch.tensor([column], device=own.device), 0.0)

    return mixed


def _vectors(output: Any, layer: Layer) -> Float[Tensor, "batch tokens size"]:
    found = first_tensor(output)
    assert found is not None
    return found.transpose(0, 1) if layer.tokens_first else found


def _seen(kept: list[Tensor]) -> Callable[[Tensor], Tensor]:
    def keep(rows: Tensor) -> Tensor:
        kept.append(rows)
        return rows

    return keep


def _by_token(rows: Float[Tensor, "part heads queries keys"], inputs: Inputs) -> Tensor:
    """Put rows and columns back to where the tokens stand."""
    places = inputs.column_of
    rows = rows.gather(-1, places[:, None, None].expand(-1, *rows.shape[1:3], -1))
    return rows.gather(-2, places[:, None, :, None].expand(-1, rows.shape[1], -1, rows.shape[3])).cpu()


def _padded(found: Tensor, size: int) -> Tensor:
    missing = size - found.shape[-1]
    return torch.nn.functional.pad(found, (0, missing, 0, missing)) if missing else found
