"""Texts that begin alike, read by a recurrent encoder: every distinct beginning once, and no further.

Candidates of an attack differ from their text in one word. All texts of a batch are sorted, so that those with a common
beginning are neighbours, and read word by word; at each depth there are as many states as distinct beginnings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from heedful.models.encoders.recurrent import Recurrent
from heedful.models.model import AttentionModel
from heedful.models.shorter import Reader
from heedful.models.shortcuts.recurrence import Cell, cells

Ids = NDArray[np.integer[Any]]

_TEXTS = 2048
"""Texts read together: enough to keep the processor busy, few enough for its cache."""


class Level(NamedTuple):
    """The distinct beginnings of one length."""

    words: Int[Tensor, " beginnings"]
    parents: Int[Tensor, " beginnings"] | None
    """Which beginning of the length before each goes on from; None where all do, in order."""
    of_text: NDArray[np.int64]
    """The beginning of each text that is this long."""
    ends: NDArray[np.int64]
    """Places among these texts of those that end here."""
    texts: NDArray[np.int64]


def levels(padded: NDArray[np.int64], lengths: NDArray[np.int64]) -> list[Level]:
    """Find the distinct beginnings of sorted texts [texts, tokens], padded by −1."""
    differs = padded[1:] != padded[:-1]
    # Where a text first differs from the one before it; beyond its end where they are the same.
    first = np.where(differs.any(1), differs.argmax(1), padded.shape[1])
    first = np.concatenate([[-1], first])
    found: list[Level] = []
    before: NDArray[np.int64] = np.zeros(len(padded), dtype=np.int64)
    width = 1  # beginnings of the length before: the empty one
    for depth in range(padded.shape[1]):
        texts = np.flatnonzero(lengths > depth)
        new = first[texts] <= depth
        new[:1] = True
        of_text = np.cumsum(new) - 1
        heads = texts[new]
        parents = before[heads]
        same = len(parents) == width and bool((parents == np.arange(width)).all())
        found.append(
            Level(
                words=torch.from_numpy(padded[heads, depth]),
                parents=None if same else torch.from_numpy(parents),
                of_text=of_text,
                ends=np.flatnonzero(lengths[texts] == depth + 1),
                texts=texts,
            )
        )
        before = np.zeros(len(padded), dtype=np.int64)
        before[texts] = of_text
        width = len(heads)
    return found


def prefix_reader(model: AttentionModel) -> Reader | None:
    """Give a reader for a recurrent encoder whose states are pooled without attention."""
    pooling = model.architecture.pooling
    serves = isinstance(model.encoder, Recurrent) and model.query_encoder is None and model.unit == "word"
    if not serves or pooling not in ("max", "mean", "last"):
        return None
    return _Pooled(model, pooling)


class _Gates:
    """What words give to the gates of a cell, computed once for each word."""

    def __init__(self, model: AttentionModel, cell: Cell) -> None:
        self._model, self._cell = model, cell
        self._place = np.full(model.architecture.vocabulary_size, -1, dtype=np.int64)
        self._rows = cell.bias.new_empty(0, len(cell.bias))

    def places(self, words: NDArray[np.int64]) -> NDArray[np.int64]:
        """Say where the words stand in `rows`, computing those that are new."""
        new = np.unique(words[self._place[words] < 0])
        if len(new):
            self._place[new] = np.arange(len(self._rows), len(self._rows) + len(new))
            gates = self._model.vectors(torch.from_numpy(new)) @ self._cell.from_token + self._cell.bias
            self._rows = torch.cat([self._rows, gates])
        return self._place[words]

    @property
    def rows(self) -> Float[Tensor, "known gates"]:
        """Gates of the words known by now."""
        return self._rows


class _Pooled:
    """Reads texts and pools their states by maximum, mean, or taking the last."""

    def __init__(self, model: AttentionModel, pooling: str) -> None:
        assert isinstance(model.encoder, Recurrent)
        self._model, self._pooling = model, pooling
        self._directions = [(cell, _Gates(model, cell)) for cell in cells(model.encoder)]

    def __call__(self, ids: Sequence[Ids]) -> Float[Tensor, "texts outputs"]:
        """Give logits in the order of the texts."""
        if self._pooling == "last":  # of a text without words, what a step of padding leaves
            ids = [text if len(text) else np.zeros(1, dtype=np.int64) for text in ids]
        pooled = [torch.cat(parts) for parts in zip(*map(self._pool, _parts(ids)), strict=True)]
        context = torch.cat(pooled, dim=-1)[:, None]
        return self._model.decode_context(context, None, None)

    def _pool(self, ids: Sequence[Ids]) -> list[Float[Tensor, "texts hidden"]]:
        return [
            2 * self._direction(cell, gates, [text[::-1] for text in ids] if cell.backwards else ids)
            for cell, gates in self._directions
        ]

    def _direction(self, cell: Cell, gates: _Gates, ids: Sequence[Ids]) -> Float[Tensor, "texts hidden"]:
        """Pool h / 2, which is what a cell's state is."""
        order, padded, lengths = sorted_texts(ids)
        places = np.where(padded >= 0, gates.places(np.maximum(padded, 0)), -1)
        pooled_out = cell.bias.new_zeros(len(ids), cell.hidden)
        state = cell.start((1,))
        pooled: Tensor | None = None
        for level in levels(places, lengths):
            if level.parents is not None:
                state = tuple(part.index_select(0, level.parents) for part in state)
                pooled = None if pooled is None else pooled.index_select(0, level.parents)
            state = cell.step(gates.rows.index_select(0, level.words), state)
            h = state[0]
            if pooled is None or self._pooling == "last":
                pooled = h
            else:
                pooled = torch.maximum(pooled, h) if self._pooling == "max" else pooled + h
            if len(level.ends):
                chosen = torch.from_numpy(level.of_text[level.ends])
                pooled_out[torch.from_numpy(order[level.texts[level.ends]])] = pooled.index_select(0, chosen)
        if self._pooling == "mean":
            counts = torch.tensor([max(len(text), 1) for text in ids], dtype=pooled_out.dtype)
            pooled_out = pooled_out / counts[:, None]
        return pooled_out


def sorted_texts(ids: Sequence[Ids]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Sort texts by their words: the order, the words [texts, tokens] padded by −1, and the lengths, all sorted."""
    order = np.array(
        sorted(range(len(ids)), key=[text.astype(">u4").tobytes() for text in ids].__getitem__), dtype=np.int64
    )
    lengths = np.array([len(ids[place]) for place in order], dtype=np.int64)
    padded = np.full((len(ids), lengths.max(initial=1)), -1, dtype=np.int64)
    padded[np.arange(padded.shape[1]) < lengths[:, None]] = np.concatenate([ids[place] for place in order])
    return order, padded, lengths


def _parts(ids: Sequence[Ids]) -> list[Sequence[Ids]]:
    return [ids[first : first + _TEXTS] for first in range(0, len(ids), _TEXTS)]
