"""Texts that share most of their words, read by convolutions and pooled by maximum: every distinct window once.

A window's value is the sum of what its words give at their places, each computed once for each word. Candidates of an
attack differ from their text in the few windows around one word; the rest of the maximum is looked up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor, nn

from heedful.models.encoders.cnn import CNN
from heedful.models.model import AttentionModel
from heedful.models.shortcuts.prefixes import Ids, padded_texts

_TEXTS = 512
_NUMBERS = 1 << 17
"""Numbers laid out at a time: half a megabyte, which stays in the processor's cache."""
_LARGEST = 1 << 62


class WindowReader:
    """Reads texts by convolutions and max pooling; the activation, which is monotone, comes after the maximum."""

    def __init__(self, model: AttentionModel) -> None:
        assert isinstance(model.encoder, CNN)
        self._model, self._encoder = model, model.encoder
        convolutions = [part[1] for part in model.encoder.convolutions if isinstance(part, nn.Sequential)]
        self._convolutions = [part for part in convolutions if isinstance(part, nn.Conv1d)]
        self._widths = [int(part.kernel_size[0]) for part in self._convolutions]
        self._place = np.full(model.architecture.vocabulary_size, -1, dtype=np.int64)
        self._known = 1  # row 0: what lies beyond a text's ends gives nothing
        self._tables = [
            [part.weight.new_zeros(1, part.out_channels) for _ in range(width)]
            for part, width in zip(self._convolutions, self._widths, strict=True)
        ]

    @staticmethod
    def serves(model: AttentionModel) -> bool:
        """Whether this is a CNN that pools by maximum."""
        return (
            isinstance(model.encoder, CNN)
            and model.architecture.pooling in ("max", "last")
            and model.unit == "word"
        )

    def __call__(self, ids: Sequence[Ids]) -> Float[Tensor, "texts outputs"]:
        """Give logits in the order of the texts."""
        context = torch.cat([self._pool(ids[first : first + _TEXTS]) for first in range(0, len(ids), _TEXTS)])
        return self._model.decode_context(context[:, None], None, None)

    def _pool(self, ids: Sequence[Ids]) -> Float[Tensor, "texts size"]:
        padded, lengths = padded_texts(ids)
        rows = np.where(padded >= 0, self._rows(np.maximum(padded, 0)), 0)
        distinct, words = np.unique(rows, return_inverse=True)
        words = words.reshape(rows.shape)
        if distinct[0] != 0:  # beyond a text's ends is always the first
            distinct, words = np.concatenate([[0], distinct]), words + 1
        pooled = [self._width(number, distinct, words, padded < 0) for number in range(len(self._widths))]
        there = torch.from_numpy(lengths > 0)
        return torch.cat(pooled, dim=-1).masked_fill(~there[:, None], 0.0)

    def _width(
        self, number: int, distinct: NDArray[np.int64], words: NDArray[np.int64], absent: NDArray[np.bool_]
    ) -> Float[Tensor, "texts filters"]:
        """Give the largest value of every filter of one width over the windows around the words of each text."""
        width, bias = self._widths[number], self._convolutions[number].bias
        assert bias is not None
        tokens = words.shape[1]
        around = np.pad(words, ((0, 0), ((width - 1) // 2, width // 2)))
        first, of = _distinct_windows(around, width, len(distinct))
        rows, columns = np.divmod(first, tokens)
        values = bias.expand(len(first) + 1, -1).clone()
        for offset, table in enumerate(self._tables[number]):
            words_there = distinct[around[rows, columns + offset]]
            values[:-1] += table.index_select(0, torch.from_numpy(words_there))
        values[-1] = -torch.inf  # where there is no word
        of[absent] = len(first)
        size = max(1, _NUMBERS // (tokens * values.shape[1]))
        largest = [
            values.index_select(0, torch.from_numpy(of[some : some + size].ravel()))
            .view(-1, tokens, values.shape[1])
            .amax(1)
            for some in range(0, len(of), size)
        ]
        found: Tensor = self._encoder.activation(torch.cat(largest))
        return found

    def _rows(self, words: NDArray[np.int64]) -> NDArray[np.int64]:
        """Say where the words stand in the tables, computing those that are new."""
        new = np.unique(words[self._place[words] < 0])
        if len(new):
            self._place[new] = np.arange(self._known, self._known + len(new))
            self._known += len(new)
            vectors = self._model.vectors(torch.from_numpy(new))
            for part, tables in zip(self._convolutions, self._tables, strict=True):
                for offset, table in enumerate(tables):
                    tables[offset] = torch.cat([table, vectors @ part.weight[:, :, offset].T])
        return self._place[words]


def _distinct_windows(
    around: NDArray[np.int64], width: int, many: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the distinct windows of texts of words below `many`: a place of each, and the number at every place."""
    tokens = around.shape[1] - width + 1
    code, size = around[:, :tokens], many
    for offset in range(1, width):
        if size * many >= _LARGEST:
            code = np.unique(code, return_inverse=True)[1].reshape(code.shape)
            size = code.size
        code, size = code * many + around[:, offset : offset + tokens], size * many
    _, first, of = np.unique(code, return_index=True, return_inverse=True)
    return first, of.reshape(code.shape)
