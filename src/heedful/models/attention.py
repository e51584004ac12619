"""Attention: states → scores → weights. The two halves are callable alone, because much happens between them."""

from __future__ import annotations

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from heedful.config import ModelOptions
from heedful.measures.boxes import Box, through


class Attention(nn.Module):
    """Scores every item by additive or scaled dot-product similarity to a query, once per head.

    Without a query from the data, the learnt vectors of the similarity function take its place.
    """

    def __init__(self, options: ModelOptions, size: int, query_size: int | None) -> None:
        super().__init__()
        self.temperature = options.temperature
        self.normaliser = options.normaliser
        heads = options.heads
        self.similarity: _Additive | _Dot
        if options.attention == "additive":
            self.similarity = _Additive(size, query_size, options.attention_size or max(size // 2, 1), heads)
        else:
            self.similarity = _Dot(size, query_size, heads)

    def score(
        self, h: Float[Tensor, "batch items size"], query: Float[Tensor, "batch query_size"] | None
    ) -> Float[Tensor, "batch heads items"]:
        """How well each item fits; masked items too, for they are masked in `normalise`."""
        scores: Tensor = self.similarity(h, query)
        return scores

    def bound(self, h: Box, query: Float[Tensor, "batch query_size"] | None) -> Box:
        """Bound what softmax takes the exponent of [batch, heads, items], for states [batch, items, size] within bounds."""
        scores = self.similarity.bound(h, query)
        return Box(scores.low.mT / self.temperature, scores.high.mT / self.temperature)

    def normalise(
        self, scores: Float[Tensor, "batch heads items"], mask: Bool[Tensor, "batch items"]
    ) -> Float[Tensor, "batch heads items"]:
        """Scores to weights that sum to one over the real items and are exactly zero elsewhere."""
        return normalise(scores / self.temperature, mask[:, None, :], self.normaliser)


def normalise(
    scores: Float[Tensor, "*batch items"], mask: Bool[Tensor, "*batch items"], normaliser: str = "softmax"
) -> Float[Tensor, "*batch items"]:
    """Masked softmax, sparsemax or entmax-1.5 over the last axis.

    >>> normalise(torch.tensor([1.0, 1.0, 9.0]), torch.tensor([True, True, False]))
    tensor([0.5000, 0.5000, 0.0000])
    """
    mask = mask.expand(scores.shape)
    if normaliser == "softmax":
        # A row without items gives zeros, not NaN.
        return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), dim=-1) * mask
    from entmax import entmax15, sparsemax

    # Both give zero to any score two below the largest: put masked items well below, at a finite value.
    lowest = (
        scores.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True).nan_to_num(neginf=0.0).detach() - 10.0
    )
    filled = torch.where(mask, scores, lowest)
    weights: Tensor = (sparsemax if normaliser == "sparsemax" else entmax15)(filled, dim=-1)
    return weights * mask


class _Additive(nn.Module):
    """φ(h, Q) = v · tanh(W₁h + W₂Q)."""

    def __init__(self, size: int, query_size: int | None, inner: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.project_state = nn.Linear(size, heads * inner)
        self.project_query = nn.Linear(query_size, heads * inner, bias=False) if query_size else None
        self.vector = nn.Parameter(torch.empty(heads, inner).uniform_(-1, 1) / math.sqrt(inner))

    def forward(self, h: Tensor, query: Tensor | None) -> Tensor:
        inner = self.project_state(h)
        if self.project_query is not None and query is not None:
            inner = inner + self.project_query(query)[:, None, :]
        inner = torch.tanh(inner).view(*inner.shape[:-1], self.heads, -1)  # [batch, items, heads, inner]
        return torch.einsum("bnha,ha->bhn", inner, self.vector)

    def bound(self, h: Box, query: Tensor | None) -> Box:
        bias = self.project_state.bias
        if self.project_query is not None and query is not None:
            bias = bias + self.project_query(query)[:, None, :]
        inner = through(h, self.project_state.weight, bias)
        shape = (*h.low.shape[:-1], self.heads, 1, -1)
        scores = through(Box(*(side.tanh().view(shape) for side in inner)), self.vector[:, None])
        return Box(scores.low.flatten(2), scores.high.flatten(2))  # [batch, items, heads]


class _Dot(nn.Module):
    """φ(h, Q) = h · Q / √m. One head uses the query as it is; several need one projection each."""

    def __init__(self, size: int, query_size: int | None, heads: int) -> None:
        super().__init__()
        self.heads, self.size = heads, size
        plain = heads == 1 and query_size == size
        self.project_query = (
            nn.Linear(query_size, heads * size, bias=False) if query_size and not plain else None
        )
        self.vector = None if query_size else nn.Parameter(torch.randn(heads, size))

    def forward(self, h: Tensor, query: Tensor | None) -> Tensor:
        if self.vector is not None:
            scores = torch.einsum("bnm,hm->bhn", h, self.vector)
        else:
            scores = torch.einsum("bnm,bhm->bhn", h, self._looks_for(query))
        return scores / math.sqrt(self.size)

    def bound(self, h: Box, query: Tensor | None) -> Box:
        vectors = self._looks_for(query) if self.vector is None else self.vector
        return through(h, vectors / math.sqrt(self.size))

    def _looks_for(self, query: Tensor | None) -> Tensor:
        assert query is not None
        projected: Tensor = query if self.project_query is None else self.project_query(query)
        return projected.view(-1, self.heads, self.size)
