"""What a decoder linear in the weights says after erasing items: every prefix of a ranking at once.

Erasing items sets their weights to zero and renormalises the rest (Serrano & Smith). The rules on ties, and on
what is left when no weight is left, are written here once, and `smallest_flip_set` follows them too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

TIE = 1e-12
"""Logits closer than this, relative to the evidence they sum up, are equal: rounding decides nothing."""

MEMORY = 128 * 2**20
"""Bytes of intermediate results at a time, about."""


class ErasureCurve(NamedTuple):
    """What is left after erasing the k first items of a ranking, for k = 0, 1, … (axis 1)."""

    logits: Float[Tensor, "batch items+1 outputs"]
    """One output for binary input. NaN beyond a text's length, and where no weight is left and no rule given."""
    decisions: Int[Tensor, "batch items+1"]
    """The class decided on; -1 where the logits are NaN."""
    removed_mass: Float[Tensor, "batch items+1"]
    """Share of the attention erased; NaN beyond a text's length."""
    order: Int[Tensor, "batch items"]
    """Positions in the order they are erased, masked ones last."""


class FirstFlip(NamedTuple):
    """Where a curve's decision first changes."""

    count: Int[Tensor, " batch"]  # type: ignore[assignment]  # hides tuple.count, which is not needed here
    """Items erased at the first change; 0 where the decision never changes."""
    fraction: Float[Tensor, " batch"]
    """The same as a fraction of the text's items; NaN where the decision never changes."""
    mass: Float[Tensor, " batch"]
    """Share of the attention erased by then; NaN where the decision never changes."""
    flips: Bool[Tensor, " batch"]


class CheckedItems(NamedTuple):
    """Checked input in float64: masked items have no weight and zero logits."""

    weights: Float[Tensor, "batch items"]
    logits: Float[Tensor, "batch items outputs"]
    mask: Bool[Tensor, "batch items"]
    empty: Float[Tensor, "batch outputs"] | None


def erasure_curve(
    weights: Float[Tensor, "batch items"],
    item_logits: Float[Tensor, "batch items"] | Float[Tensor, "batch items classes"],
    ranking: Shaped[Tensor, "batch items"],
    mask: Bool[Tensor, "batch items"],
    empty_logits: Float[Tensor, "*batch outputs"] | None = None,
) -> ErasureCurve:
    """Decide again after erasing the first k items of a ranking, for every k at once.

    The ranking is a score per item: the highest is erased first, of equal ones the lowest position first.
    `item_logits` are the logits of each item alone, bias included: one per item for binary classifiers (class 1
    if it is above 0) or one per class (the largest; of equal ones the lowest class). When no weight is left the
    context is the zero vector, so the logits are `empty_logits` ([outputs] or [batch, outputs]); without them
    there is no decision. Float64 whatever the input.

    >>> weights, says = torch.tensor([[0.5, 0.25, 0.25]]), torch.tensor([[2.0, 1.0, -2.0]])
    >>> curve = erasure_curve(weights, says, ranking=weights, mask=weights > 0)
    >>> curve.logits[0, :, 0].tolist()
    [0.75, -0.5, -2.0, nan]
    >>> curve.removed_mass.tolist()
    [[0.0, 0.5, 0.75, 1.0]]
    >>> first_flip(curve).count
    tensor([1])
    """
    if ranking.shape != weights.shape:
        raise ValueError(f"a ranking of shape {_shape(ranking)} does not fit weights of {_shape(weights)}")
    parts = [
        _curve(evidence, ranking.detach()[rows])
        for rows, evidence in blocks(weights, item_logits, mask, empty_logits)
    ]
    return ErasureCurve(*(torch.cat(field) for field in zip(*parts, strict=True)))


def first_flip(curve: ErasureCurve) -> FirstFlip:
    """Find how much a curve's ranking erases before the decision first changes.

    >>> weights, says = torch.tensor([[0.5, 0.25, 0.25]]), torch.tensor([[2.0, 1.0, -2.0]])
    >>> first_flip(erasure_curve(weights, says, ranking=says, mask=weights > 0)).mass
    tensor([0.5000], dtype=torch.float64)
    >>> first_flip(erasure_curve(weights, says, ranking=-says, mask=weights > 0)).flips
    tensor([False])
    """
    changed = (curve.decisions >= 0) & (curve.decisions != curve.decisions[:, :1])
    flips = changed.any(1)
    count = changed.to(torch.uint8).argmax(1)  # the first of equals; 0 where nothing changes
    items = (~curve.removed_mass.isnan()).sum(1) - 1
    mass = curve.removed_mass.gather(1, count[:, None])[:, 0]
    fraction = count.double() / items
    return FirstFlip(
        count, fraction.masked_fill(~flips, torch.nan), mass.masked_fill(~flips, torch.nan), flips
    )


def _curve(evidence: CheckedItems, ranking: Tensor) -> ErasureCurve:
    if bool((ranking.isnan() & evidence.mask).any()):
        raise ValueError("a ranking must not hold NaN")
    order = ranking.argsort(dim=1, descending=True, stable=True)
    order = order.gather(1, (~evidence.mask.gather(1, order)).to(torch.uint8).argsort(dim=1, stable=True))
    weights = evidence.weights.gather(1, order)
    item_logits = evidence.logits.gather(1, order[..., None].expand_as(evidence.logits))
    left = kept_sums(weights)
    logits = kept_sums(weights[..., None] * item_logits) / left[..., None]
    decisions = decide(logits, kept_sums(weights * spread(item_logits)) / left)

    nothing = left == 0
    if evidence.empty is None:
        logits = logits.masked_fill(nothing[..., None], torch.nan)
        decisions = decisions.masked_fill(nothing, -1)
    else:
        empty = evidence.empty
        logits = torch.where(nothing[..., None], empty[:, None], logits)
        decisions = torch.where(nothing, decide(empty, spread(empty))[:, None], decisions)

    steps = torch.arange(left.shape[1], device=left.device)
    beyond = steps > evidence.mask.sum(1, keepdim=True)
    removed = (1 - left / left[:, :1]).masked_fill(beyond, torch.nan)
    logits = logits.masked_fill(beyond[..., None], torch.nan)
    return ErasureCurve(logits, decisions.masked_fill(beyond, -1), removed, order)


def kept_sums(terms: Float[Tensor, "batch items *rest"]) -> Float[Tensor, "batch items+1 *rest"]:
    """Sum what is kept after erasing the first 0, 1, … items; from the end, so that small rests are exact.

    >>> kept_sums(torch.tensor([[1.0, 1e-20, 1e-20]], dtype=torch.float64)).tolist()
    [[1.0, 2e-20, 1e-20, 0.0]]
    """
    return torch.cat([terms.flip(1).cumsum(1).flip(1), torch.zeros_like(terms[:, :1])], dim=1)


def classes(logits: Float[Tensor, "*any outputs"]) -> Float[Tensor, "*any classes"]:
    """One logit per class: a binary classifier's one logit stands against 0.

    >>> classes(torch.tensor([[3.0]]))
    tensor([[0., 3.]])
    """
    return torch.cat([torch.zeros_like(logits), logits], dim=-1) if logits.shape[-1] == 1 else logits


def spread(logits: Float[Tensor, "*any outputs"]) -> Float[Tensor, "*any"]:
    """Distance between the largest and the smallest class: the size against which a difference is a tie.

    >>> spread(torch.tensor([[1.0, 4.0, 2.0]])), spread(torch.tensor([[-2.0]]))
    (tensor([3.]), tensor([2.]))
    """
    per_class = classes(logits)
    return per_class.amax(-1) - per_class.amin(-1)


def decide(logits: Float[Tensor, "*any outputs"], size: Float[Tensor, "*any"]) -> Int[Tensor, "*any"]:
    """Choose the class of the largest logit; of equal ones, to within `TIE` times the size, the lowest class.

    >>> decide(torch.tensor([[1.0, 2.0, 2.0], [3.0, 3.0, 0.0]]), torch.tensor([1.0, 1.0]))
    tensor([1, 0])
    >>> decide(torch.tensor([[0.5], [0.0]]), torch.tensor([1.0, 1.0]))
    tensor([1, 0])
    """
    per_class = classes(logits)
    largest = per_class >= (per_class.amax(-1) - TIE * size)[..., None]
    return largest.to(torch.uint8).argmax(-1)


def blocks(
    weights: Tensor, item_logits: Tensor, mask: Tensor, empty_logits: Tensor | None
) -> Iterator[tuple[slice, CheckedItems]]:
    """Check the input and cut it into blocks of instances that fit in memory, in float64.

    >>> half = torch.tensor([[0.5, 0.5]])
    >>> [(rows, evidence.logits.shape) for rows, evidence in blocks(half, half, half > 0, None)]
    [(slice(0, 1, None), torch.Size([1, 2, 1]))]
    """
    if weights.ndim != 2 or mask.shape != weights.shape or mask.dtype != torch.bool:
        raise ValueError(
            f"weights {_shape(weights)} and a boolean mask {_shape(mask)} must be [batch, items]"
        )
    logits = item_logits.detach()[..., None] if item_logits.ndim == 2 else item_logits.detach()
    if logits.ndim != 3 or logits.shape[:2] != weights.shape:
        raise ValueError(f"item logits of {_shape(item_logits)} do not fit weights of {_shape(weights)}")
    batch, items, outputs = logits.shape
    empty = None
    if empty_logits is not None:
        if empty_logits.shape[-1:] != (outputs,) or empty_logits.shape not in ((outputs,), (batch, outputs)):
            raise ValueError(
                f"empty logits of {_shape(empty_logits)} do not fit {outputs} output(s) per item"
            )
        empty = empty_logits.detach().double().expand(batch, outputs)

    step = max(
        1, MEMORY // (8 * (items + 1) * (6 * outputs + 12))
    )  # how many numbers per item are in memory at once
    for start in range(0, max(batch, 1), step):
        rows = slice(start, min(start + step, batch))
        real = mask[rows]
        evidence = CheckedItems(
            weights.detach()[rows].double().masked_fill(~real, 0),
            logits[rows].double().masked_fill(~real[..., None], 0),
            real,
            None if empty is None else empty[rows],
        )
        if not bool(((evidence.weights >= 0).all(1) & (evidence.weights.sum(1) > 0)).all()):
            raise ValueError("weights must not be negative or NaN, and each instance needs one above 0")
        if not bool(evidence.logits.isfinite().all()):
            raise ValueError("item logits must be finite")
        yield rows, evidence


def _shape(tensor: Tensor) -> list[int]:
    return list(tensor.shape)
