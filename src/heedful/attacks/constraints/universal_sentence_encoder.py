"""The Universal Sentence Encoder (multilingual, version 3): convolutions over the pieces of a sentence, then a few dense layers.

It is read from a folder with its weights in numpy (`weights.npz`) and its pieces (`sp.model`, SentencePiece).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from heedful.attacks.constraints.sentence_pieces import BEGIN, END, UNKNOWN, read_pieces
from heedful.errors import BadInput
from heedful.intake.arrays import read_npz
from heedful.intake.unreadable import Unreadable

WEIGHTS, PIECES = "weights.npz", "sp.model"
_TABLES = 17
"""The table of pieces is kept in so many parts, in bytes: piece p is row p // 17 of part p % 17, which has its own scale."""
_WIDTHS = ((2, 0), (3, 1), (5, 2))
"""Pieces that each kind of window holds, and how many of them stand before its place."""
_SENTENCES = 32
_HINT = "run heedful data get use-multilingual again"
_NAMES = ("lo", "scale", "eps", "ln_g", "ln_b", "cnn_W", "cnn_b", "d0", "d1", "d2", "d3", "p1", "p3")
_OF_WIDTH = ("proj", "proj_b", "ln_g", "ln_b", "w1_", "b1_", "w2_", "b2_")


class UniversalSentenceEncoder:
    """Gives sentences vectors of length one."""

    def __init__(self, folder: Path) -> None:
        names = [*_NAMES, *(f"{name}{width}" for width, _ in _WIDTHS for name in _OF_WIDTH)]
        tables = [f"q{number}" for number in range(1, _TABLES + 1)]
        try:
            arrays = read_npz(folder / WEIGHTS, (*tables, *names))
            self._tokenizer = read_pieces(folder / PIECES)
        except (OSError, ValueError, KeyError, Unreadable) as error:
            raise BadInput(f"Cannot read the sentence encoder in {folder} ({error}): {_HINT}.") from None
        try:
            self._table = torch.from_numpy(np.stack(arrays[:_TABLES], axis=1)).flatten(0, 1)
            self._w = {
                name: torch.from_numpy(np.asarray(array, dtype=np.float32))
                for name, array in zip(names, arrays[_TABLES:], strict=True)
            }
            self(["a sentence", "another"])
        except (ValueError, TypeError, RuntimeError, IndexError) as error:
            reason = str(error).partition("\n")[0]
            raise BadInput(
                f"The weights in {folder / WEIGHTS} do not fit together ({reason}): {_HINT}."
            ) from None

    @staticmethod
    def lies_in(folder: Path) -> bool:
        """Whether a folder holds it."""
        return (folder / WEIGHTS).is_file() and (folder / PIECES).is_file()

    def __call__(self, sentences: Sequence[str]) -> Float[Tensor, "sentences size"]:
        """Encode sentences, those of like length together."""
        # A sentence of nothing is an unknown piece.
        ids = [
            encoding.ids if len(encoding.ids) > 2 else [BEGIN, UNKNOWN, END]
            for encoding in self._tokenizer.encode_batch(list(sentences))
        ]
        order = sorted(range(len(ids)), key=lambda place: len(ids[place]))
        found: list[Tensor] = [torch.empty(0)] * len(ids)
        with torch.inference_mode():
            for first in range(0, len(order), _SENTENCES):
                places = order[first : first + _SENTENCES]
                for place, vector in zip(places, self._read([ids[p] for p in places]), strict=True):
                    found[place] = vector
        return torch.stack(found)

    def _read(self, ids: Sequence[list[int]]) -> Float[Tensor, "sentences size"]:
        lengths = torch.tensor([len(each) for each in ids])
        longest = int(lengths.max())
        padded = torch.tensor([each + [0] * (longest - len(each)) for each in ids])
        there = (torch.arange(longest) < lengths[:, None])[..., None]
        embedded = self._embed(padded)
        features = [embedded, *self._windows(embedded, there)]
        normal = self._normalised(torch.cat(features, -1), self._w["ln_g"], self._w["ln_b"])
        many = lengths[:, None].float()
        summed = (normal * there).sum(1) @ self._w["cnn_W"] + many * self._w["cnn_b"]
        return self._dense(summed / many.sqrt())

    def _embed(self, ids: Int[Tensor, "sentences pieces"]) -> Float[Tensor, "sentences pieces size"]:
        part = ids % _TABLES
        return self._table[ids] * self._w["scale"][part, None] + self._w["lo"][part, None]

    def _windows(
        self, embedded: Float[Tensor, "sentences pieces size"], there: Bool[Tensor, "sentences pieces one"]
    ) -> Iterator[Float[Tensor, "sentences pieces features"]]:
        """Two convolutions of each width, each added to what it read; nothing stands beyond a sentence's ends."""
        w = self._w
        weight, bias, gain, shift = (
            torch.cat([w[f"{name}{width}"] for width, _ in _WIDTHS], -1)
            for name in ("proj", "proj_b", "ln_g", "ln_b")
        )
        # All widths are normalised together, as in the package that the weights come from.
        projected = self._normalised(embedded @ weight + bias, gain, shift)
        for (width, before), own in zip(_WIDTHS, projected.chunk(len(_WIDTHS), -1), strict=True):
            x = own
            for layer in ("1", "2"):
                filters = w[f"w{layer}_{width}"].view(width, x.shape[-1], -1).permute(2, 1, 0)
                beside = nn.functional.pad((x * there).mT, (before, width - 1 - before))
                x = x + nn.functional.conv1d(beside, filters, w[f"b{layer}_{width}"]).relu().mT
            yield x

    def _dense(self, x: Float[Tensor, "sentences size"]) -> Float[Tensor, "sentences size"]:
        w = self._w
        first = (x @ w["p1"] + (x @ w["d0"]).relu() @ w["d1"]).relu()
        last = torch.tanh(first @ w["p3"] + (first @ w["d2"]).relu() @ w["d3"])
        return nn.functional.normalize(last, dim=-1)

    def _normalised(self, x: Tensor, gain: Tensor, shift: Tensor) -> Tensor:
        return nn.functional.layer_norm(x, x.shape[-1:], gain, shift, eps=float(self._w["eps"]))
