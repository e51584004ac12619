"""Texts that begin alike, read by a recurrent encoder: every distinct beginning once, and no further.

Candidates of an attack differ from their text in one word. All texts of a batch are sorted, so that those with a common
beginning are neighbours, and read word by word; at each depth there are as many states as distinct beginnings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from heedful.models.encoders.recurrent import Recurrent
from heedful.models.model import AttentionModel
from heedful.models.shortcuts.recurrence import RecurrentCell, cells

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


class Gates:
    """What words give to the gates of a cell, computed once for each word."""

    def __init__(self, model: AttentionModel, cell: RecurrentCell) -> None:
        self._model, self._cell = model, cell
        self._place = np.full(model.architecture.vocabulary_size, -1, dtype=np.int64)
        self.rows: Float[Tensor, "known gates"] = cell.bias.new_empty(0, len(cell.bias))

    def places(self, words: NDArray[np.int64]) -> NDArray[np.int64]:
        """Say where the words stand in `rows`, computing those that are new."""
        new = np.unique(words[self._place[words] < 0])
        if len(new):
            self._place[new] = np.arange(len(self.rows), len(self.rows) + len(new))
            gates = self._cell.from_token(self._model.vectors(torch.from_numpy(new))) + self._cell.bias
            self.rows = torch.cat([self.rows, gates])
        return self._place[words]


class Direction:
    """One direction of an encoder, which reads every distinct beginning once (backwards: every distinct end)."""

    def __init__(self, model: AttentionModel, cell: RecurrentCell) -> None:
        self.cell, self._gates = cell, Gates(model, cell)

    def read(self, ids: Sequence[Ids]) -> tuple[NDArray[np.int64], Iterator[tuple[Level, Tensor]]]:
        """Give the order that texts are sorted in, and for each length the beginnings with their states h / 2."""
        turned = [text[::-1] for text in ids] if self.cell.backwards else ids
        order, padded, lengths = sorted_texts(turned)
        places = np.where(padded >= 0, self._gates.places(np.maximum(padded, 0)), -1)
        return order, self._steps(levels(places, lengths))

    def _steps(self, found: list[Level]) -> Iterator[tuple[Level, Tensor]]:
        state = self.cell.start((1,))
        for level in found:
            if level.parents is not None:
                state = tuple(part.index_select(0, level.parents) for part in state)
            state = self.cell.step(self._gates.rows.index_select(0, level.words), state)
            yield level, state[0]


def directions(model: AttentionModel) -> list[Direction]:
    """Forwards, and backwards if the encoder has such a direction."""
    assert isinstance(model.encoder, Recurrent)
    return [Direction(model, cell) for cell in cells(model.encoder)]


class PooledReader:
    """Reads texts and pools their states by maximum, mean, or taking the last."""

    def __init__(self, model: AttentionModel) -> None:
        self._model, self._pooling = model, model.architecture.pooling
        self._directions = directions(model)

    @staticmethod
    def serves(model: AttentionModel) -> bool:
        """Whether this is a recurrent encoder that pools without attention."""
        pools = model.architecture.pooling in ("max", "mean", "last")
        return pools and isinstance(model.encoder, Recurrent) and model.unit == "word"

    def __call__(self, ids: Sequence[Ids]) -> Float[Tensor, "texts outputs"]:
        """Give logits in the order of the texts."""
        if self._pooling == "last":  # of a text without words, what a step of padding leaves
            ids = [text if len(text) else np.zeros(1, dtype=np.int64) for text in ids]
        parts = [ids[first : first + _TEXTS] for first in range(0, len(ids), _TEXTS)]
        context = torch.cat(
            [torch.cat([self._pool(part, d) for d in self._directions], dim=-1) for part in parts]
        )
        return self._model.decode_context(context[:, None], None, None)

    def _pool(self, ids: Sequence[Ids], direction: Direction) -> Float[Tensor, "texts hidden"]:
        order, steps = direction.read(ids)
        result = direction.cell.bias.new_zeros(len(ids), direction.cell.hidden)
        pooled: Tensor | None = None
        for level, h in steps:
            if pooled is None or self._pooling == "last":
                pooled = h
            else:
                before = pooled if level.parents is None else pooled.index_select(0, level.parents)
                pooled = torch.maximum(before, h) if self._pooling == "max" else before + h
            if len(level.ends):
                chosen = torch.from_numpy(level.of_text[level.ends])
                result[torch.from_numpy(order[level.texts[level.ends]])] = pooled.index_select(0, chosen)
        if self._pooling == "mean":
            result /= torch.tensor([max(len(text), 1) for text in ids], dtype=result.dtype)[:, None]
        return 2 * result


def sorted_texts(ids: Sequence[Ids]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Sort texts by their words: the order, the words [texts, tokens] padded by −1, and the lengths, all sorted."""
    keys = [text.astype(">u4").tobytes() for text in ids]
    order = np.array(sorted(range(len(ids)), key=keys.__getitem__), dtype=np.int64)
    padded, lengths = padded_texts([ids[place] for place in order])
    return order, padded, lengths


def padded_texts(ids: Sequence[Ids]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lay out words [texts, tokens], padded by −1, and the lengths."""
    lengths = np.array([len(text) for text in ids], dtype=np.int64)
    padded = np.full((len(ids), lengths.max(initial=1)), -1, dtype=np.int64)
    padded[np.arange(padded.shape[1]) < lengths[:, None]] = np.concatenate(list(ids))
    return padded, lengths
