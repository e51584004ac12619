"""How far heatmap and prediction move under a change that should not matter: what the stability audits share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.audits.subject.reading import Reading
from heedful.audits.subject.ties import settled
from heedful.measures.divergence import NOWHERE, jsd, sharpness, tvd
from heedful.measures.heads import matched_jsd
from heedful.measures.overlap import top_k_overlap


class Snapshot(NamedTuple):
    """What a reader sees of a batch: a distribution over items for every head, and the prediction."""

    weights: Float[Tensor, "batch heads items"]
    mask: Bool[Tensor, "batch items"]
    probabilities: Float[Tensor, "batch classes"]


class Change(NamedTuple):
    """How far each text's heatmap and prediction moved; NaN where there is nothing to compare."""

    jsd: Float[Tensor, " batch"]
    relative_jsd: Float[Tensor, " batch"]
    top_k_overlap: Float[Tensor, " batch"]
    top_moved: Float[Tensor, " batch"]
    tvd: Float[Tensor, " batch"]
    flipped: Float[Tensor, " batch"]


def snapshot(reading: Reading, source: str) -> Snapshot:
    """Return the heatmap of a source as a distribution: the weights, or the absolute values of an explainer's scores.

    Scores that are all zero are no distribution, and become NaN.
    """
    if source == "attention":
        weights = reading.weights.double()
    else:
        sizes = reading.scores(source).double().abs()
        total = sizes.sum(1, keepdim=True)
        weights = (sizes / total.masked_fill(total == 0, torch.nan)).masked_fill(~reading.mask, 0)[:, None]
    return Snapshot(weights, reading.mask, reading.probabilities)


def by_word(heatmap: Snapshot, words: Int[Tensor, "batch items"], size: int) -> Snapshot:
    """Add up the weights of the pieces of each word, laid out for `size` words."""
    heads = heatmap.weights.shape[1]
    places = words.clamp(min=0)[:, None].expand(-1, heads, -1)
    summed = heatmap.weights.new_zeros(len(words), heads, size)
    summed = summed.scatter_add(2, places, heatmap.weights * (words >= 0)[:, None])
    count = words.amax(1, keepdim=True) + 1
    return Snapshot(summed, torch.arange(size)[None] < count, heatmap.probabilities)


def compare_snapshots(before: Snapshot, after: Snapshot, *, k: int, matched: bool = False) -> Change:
    """Compare two heatmaps of the same items, head by head, and two predictions.

    The relative JSD is JSD(w, w′) / (JSD(w, u) + JSD(w′, u)): how far the heatmap moved compared with its distance from
    uniform. It is near 1 for two nearly flat heatmaps that are unrelated, and at most 2, since √JSD is a metric. With
    `matched`, the heads belong to different models and may be in any order.
    """
    mask = before.mask | after.mask
    moved = _jsd(before.weights, after.weights, matched=matched)
    apart = mean_sharpness(before._replace(mask=mask)) + mean_sharpness(after._replace(mask=mask))
    relative = (moved / apart).clamp(max=2).masked_fill(apart < NOWHERE, torch.nan)
    nothing = apart.isnan()
    first, second = (
        settled(heatmap.weights.mean(1).nan_to_num(), mask) for heatmap in (before, after)
    )  # rounding must not decide which item is on top
    top, one = (
        top_k_overlap(first, second, k=size, mask=mask).masked_fill(nothing, torch.nan) for size in (k, 1)
    )
    flipped = before.probabilities.argmax(-1) != after.probabilities.argmax(-1)
    return Change(
        moved, relative, top, 1 - one, tvd(before.probabilities, after.probabilities), flipped.double()
    )


def mean_sharpness(heatmap: Snapshot) -> Float[Tensor, " batch"]:
    """JSD to uniform, averaged over heads."""
    return sharpness(heatmap.weights, heatmap.mask[:, None].expand_as(heatmap.weights)).mean(1)


def largest_weight(heatmap: Snapshot) -> Float[Tensor, " batch"]:
    """The largest weight, of the mean over heads."""
    return heatmap.weights.mean(1).amax(-1)


def mean_change(changes: Sequence[Change]) -> Change:
    """Average over draws, text by text; a draw that is undefined for a text is left out."""
    return Change(*(torch.stack(values).nanmean(0) for values in zip(*changes, strict=True)))


def leave_out(change: Change, rows: Bool[Tensor, " batch"]) -> Change:
    """Leave out texts that were not changed, and so prove nothing."""
    return Change(*(values.double().masked_fill(rows, torch.nan) for values in change))


def _jsd(
    p: Float[Tensor, "batch heads items"], q: Float[Tensor, "batch heads items"], *, matched: bool
) -> Float[Tensor, " batch"]:
    if not matched or p.shape[1] == 1:
        return jsd(p, q).mean(1)
    return matched_jsd(p, q)
