"""How little must the embeddings of the top words move to change the decision? Yin et al. 2022; SEAT, Equation 9."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.audits.subject.reading import Reading
from heedful.audits.subject.words import Words
from heedful.data.instances import Batch
from heedful.explainers.explainer import item_of
from heedful.measures.erasure import classes
from heedful.measures.smallest_shift import SmallestShift, smallest_shift
from heedful.measures.streams import Stream, uniform_by_instance
from heedful.models.stages import Stages

SIZES = (1, 2, 3, 5, 7)
"""How many top words may move; the area under the curve is the mean over these."""

LARGEST = 50.0
"""Radius at which the search gives up, several times the norm of a word's embedding; the result is then this."""

_TOKENS, _PIECES = 8192, 1024  # read together; fewer by transformers, whose attention takes memory too


class Sensitivity(NamedTuple):
    """For every text and every one of `SIZES`: the smallest Frobenius norm found, `LARGEST` where there is none."""

    radius: Float[Tensor, "texts sizes"]
    found: Bool[Tensor, "texts sizes"]

    @property
    def area(self) -> Float[Tensor, " texts"]:
        """Area under the curve over the number of words, as a mean over the sizes."""
        return self.radius.mean(1)


class Attempts(NamedTuple):
    """Texts with some tokens free to move, and a model in double precision that reads embeddings."""

    model: Stages
    batch: Batch
    embedded: Float[Tensor, "attempts tokens dim"]
    query: Float[Tensor, "attempts query_size"] | None
    moves: Bool[Tensor, "attempts tokens"]

    def logits(
        self, shift: Float[Tensor, "some size"], some: Int[Tensor, " some"]
    ) -> Float[Tensor, "some classes"]:
        """The model's logits when embeddings are shifted."""
        embedded = self.embedded[some]
        states = self.model.encode(embedded + shift.view_as(embedded), self.batch.take(some))
        states = replace(states, query=None if self.query is None else self.query[some])
        return classes(self.model.decode(states, self.model.attend(states)))

    def search(self) -> SmallestShift:
        """Find the smallest shift of the tokens that move."""
        count, tokens, dim = self.embedded.shape
        nothing = self.embedded.new_zeros(count, tokens * dim)
        with torch.no_grad():
            decided = self.logits(nothing, torch.arange(count)).argmax(1, keepdim=True)

        def falling(shift: Tensor, some: Tensor) -> tuple[Tensor, Tensor]:
            shift = shift.detach().requires_grad_()
            logits = self.logits(shift, some)
            others = logits.scatter(1, decided[some], -torch.inf).amax(1)
            margin = logits.gather(1, decided[some])[:, 0] - others
            (slope,) = torch.autograd.grad(margin.sum(), shift)
            return margin.detach(), -(slope.view(-1, tokens, dim) * self.moves[some, :, None]).flatten(1)

        drawn = uniform_by_instance(self.batch.rows, tokens * dim, seed=0, draw=Stream.SENSITIVITY) - 0.5
        directions = (drawn.view_as(self.embedded) * self.moves[..., None]).flatten(1)
        return smallest_shift(falling, directions, largest=LARGEST)


def sensitivity(
    reading: Reading, words: Words, ranks: Int[Tensor, "batch words"], *, model: Stages | None = None
) -> Sensitivity:
    """Find, for every text of a batch and every size, how far its top words must move together.

    Texts with fewer words than a size move all they have. What was found for fewer words is an upper bound for more.
    """
    model = model or reading.model.exact()
    sizes = torch.tensor(SIZES).expand(len(ranks), -1).clamp(max=words.counts[:, None])
    rows = torch.arange(len(ranks))[:, None].expand_as(sizes)
    pairs, where = torch.unique(torch.stack([rows, sizes], -1).flatten(0, 1), dim=0, return_inverse=True)
    tokens = _PIECES if model.slow else _TOKENS
    together = max(1, tokens // reading.batch.tokens.ids.shape[1])
    parts = [pairs[first : first + together] for first in range(0, len(pairs), together)]
    radius = torch.cat([attempts(reading, words, ranks, part, model).search().radius for part in parts])
    radius = radius[where].view(sizes.shape).cummin(1).values
    return Sensitivity(radius.clamp(max=LARGEST), radius.isfinite())


def attempts(
    reading: Reading,
    words: Words,
    ranks: Int[Tensor, "batch words"],
    pairs: Int[Tensor, "attempts 2"],
    model: Stages,
) -> Attempts:
    """Lay out pairs of a text and a size: that many of its top words may move."""
    rows, sizes = pairs.unbind(1)
    batch = reading.batch.take(rows)
    top = words.items(rows, ranks[rows] < sizes[:, None])
    items = item_of(reading.model, batch)
    moves = top.gather(1, items.clamp(min=0)) & (items >= 0)
    with torch.no_grad():
        embedded = reading.model.embed(batch).double()
    query = None if reading.states.query is None else reading.states.query[rows].double()
    return Attempts(model, replace(batch, query=None), embedded, query, moves)


def sample(rows: np.ndarray, lengths: np.ndarray, *, texts: int, tokens: int, seed: int) -> np.ndarray:
    """Draw texts in the order of random numbers, until there are enough texts or enough tokens.

    >>> sample(np.arange(9), np.full(9, 10), texts=4, tokens=30, seed=0).size
    3
    """
    drawn = uniform_by_instance(torch.from_numpy(rows), 1, seed=seed, draw=Stream.SENSITIVITY)[:, 0].numpy()
    order = np.argsort(drawn, kind="stable")[:texts]
    fits = max(1, int(np.searchsorted(lengths[order].cumsum(), tokens, side="right")))
    return np.sort(rows[order[:fits]])
