"""How well scores agree with what people marked as the reason: ERASER's AUPRC, token-F1 and IOU-F1."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Float64, Int
from torch import Tensor

MATCH = 0.5
"""A span found matches a marked one when they share at least this part of their union."""


class RationaleAgreement(NamedTuple):
    """Precision, recall and their harmonic mean of every text; NaN where nothing is marked."""

    precision: Float64[Tensor, " batch"]
    recall: Float64[Tensor, " batch"]
    f1: Float64[Tensor, " batch"]


def auprc(
    scores: Float[Tensor, "batch items"],
    marked: Bool[Tensor, "batch items"],
    mask: Bool[Tensor, "batch items"],
) -> Float64[Tensor, " batch"]:
    """Area under the precision–recall curve of every text, by trapezoids from recall 0 and precision 1.

    Equal scores are one threshold, so that their order in the text does not matter. NaN where nothing is marked.

    >>> marked = torch.tensor([[True, False, True]])
    >>> auprc(torch.tensor([[0.9, 0.1, 0.8]]), marked, torch.ones_like(marked))
    tensor([1.], dtype=torch.float64)
    >>> auprc(torch.tensor([[0.5, 0.5, 0.5]]), marked, torch.ones_like(marked))
    tensor([0.8333], dtype=torch.float64)
    """
    ordered, order = scores.double().masked_fill(~mask, -torch.inf).sort(dim=1, descending=True, stable=True)
    real = mask.gather(1, order)
    hits = (marked & mask).gather(1, order).double().cumsum(1)
    taken = torch.arange(1, mask.shape[1] + 1, dtype=torch.float64)
    last = real.clone()  # of its equals
    last[:, :-1] &= (ordered[:, :-1] != ordered[:, 1:]) | ~real[:, 1:]
    # The threshold before each: 0 is the start, and threshold j stands after the j-th item.
    places = torch.where(last, torch.arange(1, mask.shape[1] + 1), 0).cummax(1).values
    before = torch.nn.functional.pad(places[:, :-1], (1, 0))
    total = hits[:, -1:]
    recall = torch.nn.functional.pad(hits / total, (1, 0))
    precision = torch.nn.functional.pad(hits / taken, (1, 0), value=1.0)
    width = recall[:, 1:] - recall.gather(1, before)
    height = (precision[:, 1:] + precision.gather(1, before)) / 2
    return (width * height).masked_fill(~last, 0).sum(1).masked_fill(total[:, 0] == 0, torch.nan)


def token_agreement(
    found: Bool[Tensor, "batch items"], marked: Bool[Tensor, "batch items"]
) -> RationaleAgreement:
    """Compare the items found with those marked, text by text.

    >>> found, marked = torch.tensor([[True, True, False, False]]), torch.tensor([[False, True, True, True]])
    >>> [round(value.item(), 3) for value in token_agreement(found, marked)]
    [0.5, 0.333, 0.4]
    """
    return _agreement((found & marked).sum(1), found.sum(1), marked.sum(1))


def span_agreement(
    found: Bool[Tensor, "batch items"], marked: Bool[Tensor, "batch items"]
) -> RationaleAgreement:
    """Compare maximal runs of items found with those marked: a run matches where intersection over union ≥ 0.5.

    Matched runs over all that are found is precision, over all that are marked recall.

    >>> found = torch.tensor([[True, True, True, False, True, False]])
    >>> marked = torch.tensor([[False, True, True, False, False, True]])
    >>> [value.item() for value in span_agreement(found, marked)]
    [0.5, 0.5, 0.5]
    """
    found_run, found_size = _runs(found)
    _, marked_size = _runs(marked)
    # Two runs are intervals, and so is what they share: each run of what both hold is one pair of runs.
    _, shared = _runs(found & marked)
    union = found_size + marked_size - shared
    match = found & marked & (shared >= MATCH * union)
    matched = torch.zeros(found.shape[0], found.shape[1] + 1, dtype=torch.long)
    matched.scatter_reduce_(1, torch.where(match, found_run, found.shape[1]), match.long(), "amax")
    return _agreement(matched[:, :-1].sum(1), _count(found), _count(marked))


def _agreement(hits: Tensor, found: Tensor, marked: Tensor) -> RationaleAgreement:
    precision, recall = hits.double() / found.clamp(min=1), hits.double() / marked.clamp(min=1)
    f1 = 2 * hits.double() / (found + marked).clamp(min=1)  # the harmonic mean, and 0 where nothing is hit
    nothing = marked == 0
    return RationaleAgreement(*(value.masked_fill(nothing, torch.nan) for value in (precision, recall, f1)))


def _begins(items: Bool[Tensor, "batch items"]) -> Bool[Tensor, "batch items"]:
    return items & ~torch.nn.functional.pad(items[:, :-1], (1, 0))


def _count(items: Bool[Tensor, "batch items"]) -> Int[Tensor, " batch"]:
    return _begins(items).sum(1)


def _runs(
    items: Bool[Tensor, "batch items"],
) -> tuple[Int[Tensor, "batch items"], Int[Tensor, "batch items"]]:
    """Number of the run that each item belongs to, and its size; meaningless outside runs."""
    number = (_begins(items).long().cumsum(1) - 1).clamp(min=0)
    sizes = torch.zeros(items.shape, dtype=torch.long).scatter_add_(1, number, items.long())
    return number, sizes.gather(1, number)
