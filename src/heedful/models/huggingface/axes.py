"""Which axis of an attention tensor is what: libraries lay texts, heads, queries and keys out in many ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class WeightAxes:
    """Where texts, queries and keys lie in what a softmax gives; all other axes are heads."""

    text: int
    key: int
    query: int | None
    """None where one query reads each text."""
    shape: tuple[int, ...]
    """Sizes when it was found; those of heads stay."""
    heads_with_texts: bool = False
    """Whether an axis numbers the heads of all texts, text by text."""
    heads: int = 1

    @classmethod
    def of(cls, shape: Sequence[int], dim: int, *, texts: int, tokens: int) -> WeightAxes | None:
        """Find the axes of a softmax over `dim`; None where it does not weigh the tokens of texts."""
        key = dim % len(shape)
        others = [axis for axis in range(len(shape)) if axis != key]
        if shape[key] != tokens or not others:
            return None
        queries = [axis for axis in others if shape[axis] == tokens]
        query = queries[-1] if queries and len(others) > 1 else None  # of several, heads and texts come first
        left = [axis for axis in others if axis != query]
        whole = [axis for axis in left if shape[axis] == texts]
        if whole:
            heads = 1
            for axis in left:
                heads *= shape[axis] if axis != whole[0] else 1
            if query is None and sum(shape[axis] > 1 for axis in left) > 2:
                return None  # rows of another length: no token of the text asks, nor one query
            return cls(whole[0], key, query, tuple(shape), heads=heads)
        if len(left) == 1 and shape[left[0]] % texts == 0:
            return cls(
                left[0], key, query, tuple(shape), heads_with_texts=True, heads=shape[left[0]] // texts
            )
        return None

    def rows(self, weights: Tensor) -> Float[Tensor, "batch heads queries keys"]:
        """Lay weights out as texts, heads, queries, keys; a single query is an axis of its own."""
        last = [self.key] if self.query is None else [self.query, self.key]
        order = [self.text, *(axis for axis in range(weights.dim()) if axis not in (self.text, *last)), *last]
        moved = weights.permute(order)
        if self.query is None:
            moved = moved.unsqueeze(-2)
        texts = moved.shape[0] // self.heads if self.heads_with_texts else moved.shape[0]
        return moved.reshape(texts, self.heads, *moved.shape[-2:])

    def back(self, rows: Float[Tensor, "batch heads queries keys"]) -> Tensor:
        """Lay rows out as the softmax gave them."""
        last = [self.key] if self.query is None else [self.query, self.key]
        heads = [axis for axis in range(len(self.shape)) if axis not in (self.text, *last)]
        order = [self.text, *heads, *last]
        texts, _, queries, keys = rows.shape
        first = [texts * self.heads] if self.heads_with_texts else [texts, *(self.shape[a] for a in heads)]
        sizes = [*first, *([keys] if self.query is None else [queries, keys])]
        places = sorted(range(len(order)), key=order.__getitem__)
        return rows.reshape(sizes).permute(places).contiguous()  # networks view it


@dataclass(frozen=True)
class ValueAxes:
    """Where texts and tokens lie in the values that weights mix."""

    text: int
    token: int
    heads: int
    """Heads that share the axis of texts; 1 where it holds texts alone."""

    @classmethod
    def of(cls, shape: Sequence[int], *, texts: int, tokens: int, heads: int) -> ValueAxes | None:
        """Find the axes; None where sizes leave that open."""
        token = [axis for axis, size in enumerate(shape) if size == tokens]
        whole = [axis for axis, size in enumerate(shape) if size == texts]
        shared = [axis for axis, size in enumerate(shape) if size == texts * heads]
        if len(token) == 1 and len(whole) == 1:
            return cls(whole[0], token[0], 1)
        if len(token) == 1 and len(shared) == 1:
            return cls(shared[0], token[0], heads)
        return None

    def states(self, values: Tensor) -> Float[Tensor, "batch tokens size"]:
        """Give a vector for every token of every text."""
        moved = values.movedim((self.text, self.token), (0, 1))
        if self.heads > 1:
            moved = moved.reshape(-1, self.heads, *moved.shape[1:]).movedim(1, 2)
        return moved.flatten(2)
