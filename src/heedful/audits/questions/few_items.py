"""The heatmap of two or three items that is farthest from a model's own and gives the same prediction.

All of these heatmaps lie on segments: from one item to another, or from a mixture of two to a third. If the decoder is
linear in the weights, every segment has a bound that none of its feasible mixtures can exceed, and segments are searched in
the order of their bounds until no other can be farther. For other decoders the bound is a guess, and the most promising
segments are tried.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.audits.subject.reading import Reading
from heedful.measures.erasure import classes
from heedful.measures.mixtures import Shares, feasible_shares, few_jsd, prediction_window
from heedful.models.stages import probabilities

_SEGMENTS = 1024  # searched at most
_DECODED = 96  # the same for decoders that must compute every mixture,
_GRID, _HALVINGS = 9, 10  # and how closely
_TOGETHER = 32  # segments searched at a time
_NUMBERS = 1 << 18  # laid out at a time, when all segments are bounded
_INNER = 9  # mixtures of two items to which a third is added
_FINE, _CLOSER = 9, 5  # mixtures tried around the best, and how often, each time more finely
_SINGLE = 1e-6  # what single precision may add to a change of the prediction
_THREES = 16  # items from which three are taken, at most: those whose pairs reach farthest


class FewItems(NamedTuple):
    """A heatmap on a few items, which may repeat; value −1 where none was found."""

    value: Float[Tensor, "*batch"]
    items: Int[Tensor, "*batch few"]
    shares: Float[Tensor, "*batch few"]

    def weights(self, items: int) -> Float[Tensor, "*batch items"]:
        """Lay out the heatmap."""
        nothing = self.shares.new_zeros(*self.items.shape[:-1], items)
        return nothing.scatter_add(-1, self.items, self.shares)


class _Items(NamedTuple):
    """What is known of the items of a batch: the logits of each alone, its weight in every head, and which are real."""

    item_logits: Float[Tensor, "batch items classes"]
    weights: Float[Tensor, "batch items heads"]
    mask: Bool[Tensor, "batch items"]
    probabilities: Float[Tensor, "batch classes"]
    """The model's prediction for the whole text."""

    def take(self, chosen: Int[Tensor, "batch some"]) -> _Items:
        """Give some items of each text."""
        item_logits, weights = (
            field.gather(1, chosen[..., None].expand(-1, -1, field.shape[-1]))
            for field in (self.item_logits, self.weights)
        )
        return _Items(item_logits, weights, self.mask.gather(1, chosen), self.probabilities)


class _Starts(NamedTuple):
    """Where segments begin: `share` on the second item, the rest on the first. The same for every text."""

    first: Int[Tensor, " starts"]
    second: Int[Tensor, " starts"]
    share: Float[Tensor, " starts"]


class _Segments(NamedTuple):
    """Segments of each text by their start's number and the item they end at, the most promising first."""

    bound: Float[Tensor, "batch segments"]
    """None of the segment's mixtures is farther; −1 if none gives the prediction."""
    start: Int[Tensor, "batch segments"]
    end: Int[Tensor, "batch segments"]


def farthest_few(reading: Reading, epsilon: float, *, beyond: Float[Tensor, " batch"]) -> FewItems:
    """Find heatmaps of two or three items, the same in every head, that are farther than what is known (`beyond`)."""
    item_logits, count = classes(reading.item_logits), reading.mask.shape[1]
    weights = reading.weights.double().transpose(1, 2)
    items = _Items(item_logits, weights / weights.sum(1, keepdim=True), reading.mask, reading.probabilities)
    if not reading.linear:  # its decoder works in single precision, and results are decoded again
        epsilon = max(epsilon - _SINGLE, 0.0)
    nothing = torch.zeros(len(item_logits), 3, dtype=torch.long)
    best = FewItems(beyond.double().clone(), nothing, nothing.double())
    # For mixtures that are the same in every head, the logits of a linear decoder are means of the items' logits.
    linear = reading.effects is not None
    every = torch.arange(count)
    ones = _Starts(every, every, torch.zeros(count, dtype=torch.float64))
    segments, reach = _promising(items, ones, epsilon, kept=_SEGMENTS if linear else _DECODED)
    best = _look_into(segments, ones, items, best, epsilon, None if linear else reading)
    if linear and item_logits.shape[-1] > 2 and count > 2:
        order = reach.masked_fill(~items.mask, -2).argsort(dim=1, descending=True, stable=True)
        chosen = order[:, :_THREES].sort(dim=1).values
        some, twos = items.take(chosen), _mixtures_of_two(chosen.shape[1])
        segments, _ = _promising(some, twos, epsilon, kept=_SEGMENTS)
        known = best._replace(items=nothing, shares=torch.zeros_like(best.shares))
        three = _closer(_look_into(segments, twos, some, known, epsilon, None), some, epsilon)
        farther = (three.value > best.value)[:, None]
        best = FewItems(
            three.value,
            torch.where(farther, chosen.gather(1, three.items), best.items),
            torch.where(farther, three.shares, best.shares),
        )
    return best._replace(value=best.value.masked_fill(best.value <= beyond, -1))


def _mixtures_of_two(items: int) -> _Starts:
    first, second = torch.combinations(torch.arange(items)).T.repeat_interleave(_INNER, dim=1)
    inner = torch.arange(1, _INNER + 1, dtype=torch.float64) / (_INNER + 1)
    return _Starts(first, second, inner.repeat(len(first) // _INNER))


def _promising(
    items: _Items, starts: _Starts, epsilon: float, *, kept: int
) -> tuple[_Segments, Float[Tensor, "batch items"]]:
    """Order all segments by how far they reach if logits are means of the items'; also return how far each item reaches."""
    batch, count, outputs = items.item_logits.shape
    ends = torch.arange(count)
    nobody = torch.zeros(batch, 0, dtype=torch.long)
    best, reach = (
        _Segments(items.weights.new_zeros(batch, 0), nobody, nobody),
        items.weights.new_full((batch, count), -1),
    )
    step = max(1, _NUMBERS // (batch * count * outputs))
    for begin in range(0, len(starts.first), step):
        first, second, share = (field[begin : begin + step] for field in starts)
        item_logits = (1 - share)[:, None] * items.item_logits[:, first] + share[:, None] * items.item_logits[
            :, second
        ]
        window = prediction_window(
            item_logits[:, :, None], items.item_logits[:, None], items.probabilities[:, None, None], epsilon
        )
        weights = items.weights[:, first, None], items.weights[:, second, None], items.weights[:, None]
        far = [few_jsd(weights, _spread(most.nan_to_num(0), share[:, None])) for most in window]
        real = items.mask[:, first, None] & items.mask[:, second, None] & items.mask[:, None]
        # A segment from one item to another is the same in the other direction.
        back = (first == second)[:, None] & (first[:, None] > ends)
        real &= (first[:, None] != ends) & (second[:, None] != ends) & ~back
        bound = torch.maximum(*far).masked_fill(~real | window.least.isnan(), -1)
        reach = torch.maximum(reach, bound.amax(1)).scatter_reduce(
            1, first.expand(batch, -1), bound.amax(2), "amax"
        )
        numbers = torch.meshgrid(torch.arange(begin, begin + len(first)), ends, indexing="ij")
        new = (bound.flatten(1), *(number.flatten().expand(batch, -1) for number in numbers))
        joined = [torch.cat(fields, 1) for fields in zip(best, new, strict=True)]
        order = joined[0].argsort(dim=1, descending=True, stable=True)[:, :kept]
        best = _Segments(*(field.gather(1, order) for field in joined))
    return best, reach


def _look_into(
    segments: _Segments, starts: _Starts, items: _Items, best: FewItems, epsilon: float, asked: Reading | None
) -> FewItems:
    """Find the first and the last feasible mixture of segments; `asked` decodes where logits are not means."""
    for begin in range(0, segments.bound.shape[1], _TOGETHER):
        bound = segments.bound[:, begin]
        rows = torch.nonzero((bound > best.value + 1e-9) if asked is None else bound >= 0)[:, 0]
        if not len(rows):
            break
        start, end = (field[rows, begin : begin + _TOGETHER] for field in segments[1:])
        places = torch.stack([starts.first[start], starts.second[start], end], -1)  # [rows, segments, 3]
        inner = starts.share[start].masked_fill(
            segments.bound[rows, begin : begin + _TOGETHER] < 0, torch.nan
        )
        best = _try(best, rows, places, inner, items, epsilon, asked)
    return best


def _closer(best: FewItems, items: _Items, epsilon: float) -> FewItems:
    """Mix two of three items more finely around the best known mixture, and add the third again: each of them in turn."""
    rows = torch.nonzero((best.shares > 0).sum(1) == 3)[:, 0]
    steps = torch.linspace(-1, 1, _FINE, dtype=torch.float64)
    step = 1 / (_INNER + 1)
    for _ in range(_CLOSER):
        if not len(rows):
            break
        turns = [best.items[rows].roll(turn, dims=1) for turn in range(3)]
        shares = [best.shares[rows].roll(turn, dims=1) for turn in range(3)]
        inner = [(share[:, 1] / (share[:, 0] + share[:, 1]))[:, None] + step * steps for share in shares]
        places = torch.stack(turns, 1).repeat_interleave(_FINE, dim=1)
        best = _try(best, rows, places, torch.cat(inner, 1).clamp(0, 1), items, epsilon, None)
        step /= _FINE // 2
    return best


def _try(
    best: FewItems,
    rows: Int[Tensor, " rows"],
    places: Int[Tensor, "rows segments 3"],
    inner: Float[Tensor, "rows segments"],
    items: _Items,
    epsilon: float,
    asked: Reading | None,
) -> FewItems:
    """Take the first or the last feasible mixture of segments of some rows where it is farther than what is known.

    Segments whose inner mixture is NaN are ignored.
    """
    none, inner = inner.isnan(), inner.nan_to_num(0)
    some = _Items(*(field[rows] for field in items))
    weights = some.weights[torch.arange(len(rows))[:, None, None], places].unbind(2)
    ends = _mixed(some, places, inner, epsilon) if asked is None else _decoded(asked, rows, places, epsilon)
    for share in ends:
        shares = _spread(share.nan_to_num(0), inner)
        far = few_jsd(weights, shares).masked_fill(share.isnan() | none, -1)
        best = _better(best, rows, FewItems(far, places, torch.stack(shares, -1)))
    return best


def _spread(share: Tensor, inner: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Weights of a start's first item, its second, and the end's."""
    return (1 - share) * (1 - inner), (1 - share) * inner, share


def _better(best: FewItems, rows: Int[Tensor, " rows"], new: FewItems) -> FewItems:
    """Take the farthest of new heatmaps of some rows where it is farther than what is known."""
    value, which = new.value.max(1)
    wins = value > best.value[rows]
    here, which = torch.nonzero(wins)[:, 0], which[wins]
    fields = zip(best, (new.value, new.items, new.shares), strict=True)
    return FewItems(*(kept.index_put((rows[wins],), field[here, which]) for kept, field in fields))


def _mixed(
    items: _Items,
    places: Int[Tensor, "rows segments 3"],
    inner: Float[Tensor, "rows segments"],
    epsilon: float,
) -> Shares:
    """First and last mixtures of segments that give the prediction, where logits are means of the items'."""
    first, second, end = items.item_logits[torch.arange(len(places))[:, None, None], places].unbind(2)
    start = (1 - inner)[..., None] * first + inner[..., None] * second
    before = items.probabilities[:, None]

    def predict(
        shares: Float[Tensor, "rows segments shares"],
    ) -> Float[Tensor, "rows segments shares classes"]:
        return torch.softmax(start[:, :, None] + shares[..., None] * (end - start)[:, :, None], dim=-1)

    return feasible_shares(predict, prediction_window(start, end, before, epsilon), before, epsilon)


def _decoded(
    reading: Reading, rows: Int[Tensor, " rows"], places: Int[Tensor, "rows segments 3"], epsilon: float
) -> Shares:
    """The same for segments from one item to another, if the decoder must compute every mixture."""
    batch, heads, count = reading.weights.shape
    # The decoder runs on all texts at once; its output for the others is ignored.
    at = torch.zeros(batch, dtype=torch.long).scatter(0, rows, torch.arange(len(rows)))

    def predict(
        shares: Float[Tensor, "rows segments shares"],
    ) -> Float[Tensor, "rows segments shares classes"]:
        ends = places[:, :, None, [0, 2]].expand(-1, -1, shares.shape[2], -1)
        mixed = FewItems(shares, ends, torch.stack([1 - shares, shares], -1)).weights(count)
        heatmaps = mixed[at].flatten(1, 2)[:, :, None].expand(-1, -1, heads, -1)
        return probabilities(reading.decode(heatmaps))[rows].view(*shares.shape, -1)

    whole = torch.zeros(places.shape[:2], dtype=torch.float64)
    before = reading.probabilities[rows, None]
    return feasible_shares(predict, Shares(whole, whole + 1), before, epsilon, grid=_GRID, halvings=_HALVINGS)
