"""Search for heatmaps far from a model's own that give the same prediction, where no exact answer is known.

Any feasible heatmap is a lower bound on ε-max JSD. `search` looks at small supports first, since the maximum of a
convex function has few items: one item in each head, all items alone, all mixtures of two, and of three where the decoder is
linear. Then it climbs from the best and from random starts, for texts where something farther is still possible.
`published_search` is Jain & Wallace's, which stops far from its optimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.audits.questions.bridges import Bridges
from heedful.audits.questions.corners import distance_of_one, farthest_corner, farthest_of_all
from heedful.audits.questions.few_items import farthest_few
from heedful.audits.subject.reading import Reading, read_batch
from heedful.measures.divergence import jsd, tvd
from heedful.measures.streams import uniform_by_instance
from heedful.models.stages import probabilities

_PENALTY = 500.0  # λ of the paper: the price of leaving the prediction, per unit of TVD
SOLVED = 1e-6  # nothing that could be seen is left to find
NEAR = 0.02
"""So near to what no heatmap exceeds, nothing is searched for where a search takes long."""
_CLIMB = {
    "linear": (60, 1),
    "other": (150, 3),
}  # steps and random starts: few if small supports were searched exhaustively


class FarthestHeatmap(NamedTuple):
    """The farthest feasible heatmap of each instance; the model's own, at distance 0, is always feasible."""

    value: Float[Tensor, " batch"]
    weights: Float[Tensor, "batch heads items"]


class _Search:
    """Evaluates heatmaps of a batch, and keeps the farthest feasible one of each instance."""

    def __init__(self, reading: Reading, epsilon: float) -> None:
        self.reading, self.epsilon = reading, epsilon
        self.weights = reading.weights.double()
        self.before = reading.probabilities
        self.found = FarthestHeatmap(self.weights.new_zeros(len(self.weights)), self.weights.clone())

    def judge(self, weights: Float[Tensor, "batch variants heads items"]) -> tuple[Tensor, Tensor]:
        """How far heatmaps are (mean JSD of heads) and how far they move the prediction (TVD)."""
        far = jsd(weights, self.weights[:, None]).mean(-1)
        return far, tvd(probabilities(self.reading.decode(weights)), self.before[:, None])

    def offer(self, weights: Float[Tensor, "batch variants heads items"], far: Tensor, moved: Tensor) -> None:
        """Keep what is feasible and farther."""
        value, which = far.detach().masked_fill(moved.detach() > self.epsilon, -1.0).max(1)
        better = value > self.found.value
        chosen = weights.detach()[torch.arange(len(weights)), which]
        self.found = FarthestHeatmap(
            torch.where(better, value, self.found.value),
            torch.where(better[:, None, None], chosen, self.found.weights),
        )

    def climb(self, start: Float[Tensor, "batch starts heads items"], rates: Tensor, *, spread: bool) -> None:
        """Adam on the heatmaps' scores; with `spread`, as published: starts repel each other, and only the last step counts."""
        mask = self.reading.mask[:, None, None]
        scores = start.masked_fill(~mask, -torch.inf).requires_grad_()
        optimiser = torch.optim.Adam([scores], lr=1.0)
        for rate in rates.tolist():
            optimiser.param_groups[0]["lr"] = rate
            weights = torch.softmax(scores, dim=-1)
            far, moved = self.judge(weights)
            if not spread:
                self.offer(weights, far, moved)
            gain = far.sum() - _PENALTY * (moved - self.epsilon).clamp(min=0).sum() / (
                start.shape[1] if spread else 1
            )
            if spread:
                gain = gain + _mean_distance(weights).sum()
            (slope,) = torch.autograd.grad(-gain, scores)
            scores.grad = slope.masked_fill(~mask, 0.0)  # padding stays at −∞
            optimiser.step()
        with torch.no_grad():
            weights = torch.softmax(scores, dim=-1)
            self.offer(weights, *self.judge(weights))


def search(reading: Reading, epsilon: float, *, seed: int) -> FarthestHeatmap:
    """Try corners, what lies between two of them, single items and mixtures, then climb; every feasible heatmap on the way counts."""
    searching = _Search(reading, epsilon)
    value, corner = farthest_corner(reading, epsilon)
    searching.offer(corner[:, None], value[:, None], torch.where(value >= 0, 0.0, torch.inf)[:, None])
    most = farthest_of_all(reading.weights, reading.mask)
    found = _improved(
        reading, searching.found, most - searching.found.value > SOLVED, partial(_bridged, epsilon, None)
    )
    if not reading.linear:
        found = _improved(reading, found, most - found.value > NEAR, partial(_bridged, epsilon, seed))
    enough = SOLVED if reading.linear else NEAR
    return _improved(reading, found, most - found.value > enough, partial(_climbed_from, epsilon, seed))


def _improved(
    reading: Reading,
    found: FarthestHeatmap,
    left: Bool[Tensor, " batch"],
    further: Callable[[Reading, FarthestHeatmap], FarthestHeatmap],
) -> FarthestHeatmap:
    """Search further for some of the texts, and keep the better of both."""
    rows = left.nonzero()[:, 0]
    if not len(rows):
        return found
    values, weights = (part.clone() for part in found)
    rest = reading if len(rows) == len(values) else _some(reading, rows)
    other = further(rest, FarthestHeatmap(values[rows], weights[rows]))
    better = other.value > values[rows]
    values[rows[better]] = other.value[better]
    weights[rows[better]] = other.weights[better]
    return FarthestHeatmap(values, weights)


def _bridged(epsilon: float, seed: int | None, reading: Reading, found: FarthestHeatmap) -> FarthestHeatmap:
    """Look between corners: from the farthest on, or with a seed from others."""
    searching, between = _Search(reading, epsilon), Bridges(reading, epsilon)
    for heatmaps in between.from_the_farthest() if seed is None else between.from_elsewhere(seed=seed):
        with torch.no_grad():
            searching.offer(heatmaps, *searching.judge(heatmaps))
    return searching.found


def _climbed_from(epsilon: float, seed: int, reading: Reading, found: FarthestHeatmap) -> FarthestHeatmap:
    climbed = _climbed(reading, epsilon, found, seed=seed)
    if reading.linear:
        return climbed
    # Several heads, or a decoder whose small supports are not searched to the end.
    other = published_search(reading, epsilon, seed=seed)
    better = other.value > climbed.value
    return FarthestHeatmap(
        torch.where(better, other.value, climbed.value),
        torch.where(better[:, None, None], other.weights, climbed.weights),
    )


def _some(reading: Reading, rows: Int[Tensor, " some"]) -> Reading:
    """Read some of the texts alone, as wide as all of them."""
    return read_batch(reading.model, reading.batch.take(rows), seed=reading.seed, exact=reading.exact)


def _climbed(reading: Reading, epsilon: float, known: FarthestHeatmap, *, seed: int) -> FarthestHeatmap:
    searching = _Search(reading, epsilon)
    searching.found = known
    with torch.no_grad():
        _try_small_supports(searching)
    steps, random_starts = _CLIMB["linear" if reading.linear else "other"]
    best = (searching.found.weights + 1e-4).log()[:, None]
    starts = torch.cat([best, _random_scores(reading, random_starts, seed=seed)], dim=1)
    # Large steps first to explore, then small ones to settle on the boundary.
    searching.climb(starts, torch.logspace(math.log10(0.5), -2, steps), spread=False)
    return searching.found


def published_search(reading: Reading, epsilon: float, *, seed: int) -> FarthestHeatmap:
    """Algorithm 3 of Jain & Wallace with the settings of their code: 5 starts, 500 steps of 0.01, λ = 500."""
    searching = _Search(reading, epsilon)
    searching.climb(_random_scores(reading, 5, seed=seed), torch.full((500,), 0.01), spread=True)
    return searching.found


def _try_small_supports(searching: _Search) -> None:
    reading, mask = searching.reading, searching.reading.mask
    items = mask.shape[1]
    heads = reading.weights.shape[1]
    moved = tvd(probabilities(reading.item_logits), searching.before[:, None]).masked_fill(~mask, torch.inf)
    far = distance_of_one(searching.weights).mean(1).masked_fill(~mask, -1.0)
    value, item = far.masked_fill(moved > searching.epsilon, -1.0).max(1)
    one = torch.nn.functional.one_hot(item, items).double()[:, None, None].expand(-1, 1, heads, -1)
    searching.offer(one, value[:, None], torch.where(value >= 0, 0.0, torch.inf)[:, None])

    few = farthest_few(reading, searching.epsilon, beyond=searching.found.value)
    known = searching.weights.mean(1)
    mixed = torch.where((few.value >= 0)[:, None], few.weights(items), known)[:, None, None]
    searching.offer(mixed.expand(-1, 1, heads, -1), *searching.judge(mixed.expand(-1, 1, heads, -1)))


def _mean_distance(weights: Float[Tensor, "batch starts heads items"]) -> Float[Tensor, " batch"]:
    """Sum of the distances of all pairs of starts over k(k − 1), the second term of Equation 1."""
    first, second = torch.combinations(torch.arange(weights.shape[1])).unbind(-1)
    starts = weights.shape[1]
    return jsd(weights[:, first], weights[:, second]).mean(-1).sum(1) / (starts * (starts - 1))


def _random_scores(reading: Reading, starts: int, *, seed: int) -> Float[Tensor, "batch starts heads items"]:
    """3·N(0, 1) about uniform weights, drawn for each instance by itself (Box–Muller)."""
    items, heads = reading.mask.shape[1], reading.weights.shape[1]

    def uniform(draw: int) -> Tensor:
        return uniform_by_instance(reading.rows, items, seed=seed, draw=draw)

    normal = [
        (-2 * (1 - uniform(2 * k)).log()).sqrt() * (2 * math.pi * uniform(2 * k + 1)).cos()
        for k in range(starts * heads)
    ]
    return 3 * torch.stack(normal, dim=1).view(len(reading.mask), starts, heads, items)
