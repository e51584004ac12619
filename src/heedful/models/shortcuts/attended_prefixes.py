"""Texts that begin alike, read by a recurrent encoder with attention: states are made, scored and decoded once each.

With a linear decoder a text is a softmax over scores and the logits that each state would give alone; both are looked up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.models.decoders import LinearDecoder
from heedful.models.encoders.recurrent import Recurrent
from heedful.models.model import AttentionModel
from heedful.models.shortcuts.prefixes import Direction, Ids, directions
from heedful.models.shortcuts.products import Product

_TEXTS = 512
"""Texts read together: what is looked up for them should stay in the processor's cache."""


class AttendedReader:
    """Reads texts by a recurrent encoder in one direction or both, and mixes their states by attention."""

    def __init__(self, model: AttentionModel) -> None:
        assert model.attention is not None and isinstance(model.decoder, LinearDecoder)
        self._model, self._directions = model, directions(model)
        self._heads = model.decoder.heads
        similarity = model.attention.similarity
        many, size = len(self._directions), model.encoder.size
        output = model.decoder.output
        self._bias = output.bias
        say = output.weight.view(-1, size)  # [outputs · heads, size]
        self._inner_bias: Tensor | None = None
        if hasattr(similarity, "project_state"):
            project = similarity.project_state
            assert isinstance(project, torch.nn.Linear)
            inner, self._inner_bias = project.weight, project.bias
        else:  # the score itself is linear in the state
            assert similarity.vector is not None
            inner = similarity.vector / math.sqrt(size)
        assert similarity.vector is not None
        self._vector = similarity.vector
        # A cell's state is h / 2, and tanh x is 2σ(2x) − 1, of which the constant is lost when scores are normalised.
        doubled = 2 if self._inner_bias is None else 4
        self._inner = [Product(doubled * part.T) for part in inner.chunk(many, dim=1)]
        self._say = [2 * part.T for part in say.chunk(many, dim=1)]

    @staticmethod
    def serves(model: AttentionModel) -> bool:
        """Whether this is a recurrent encoder with attention and a linear decoder."""
        fits = isinstance(model.encoder, Recurrent) and isinstance(model.decoder, LinearDecoder)
        return fits and model.has_attention and model.unit == "word"

    def __call__(self, ids: Sequence[Ids]) -> Float[Tensor, "texts outputs"]:
        """Give logits in the order of the texts."""
        return torch.cat([self._read(ids[first : first + _TEXTS]) for first in range(0, len(ids), _TEXTS)])

    def _read(self, ids: Sequence[Ids]) -> Float[Tensor, "texts outputs"]:
        lengths = torch.tensor([len(text) for text in ids])
        longest = max(1, int(lengths.max()))
        mask = torch.arange(longest) < lengths[:, None]  # [texts, tokens]
        real = mask.flatten().nonzero()[:, 0]
        inner: Tensor | None = None
        say: Tensor | None = None
        for place, direction in enumerate(self._directions):
            states, at = _states(direction, ids, longest)
            which = at.flatten()[real]
            own_inner = self._inner[place](states).index_select(0, which)  # [real tokens, heads · inner]
            own_say = (states @ self._say[place]).index_select(0, which)
            inner = own_inner if inner is None else inner.add_(own_inner)
            say = own_say if say is None else say.add_(own_say)
        assert inner is not None and say is not None
        if self._inner_bias is not None:
            inner = inner.add_(2 * self._inner_bias).sigmoid_()
            each = inner.view(len(inner), self._heads, self._vector.shape[-1])
            inner = torch.einsum("nha,ha->nh", each, 2 * self._vector)
        scores = inner.new_zeros(mask.numel(), self._heads).index_copy_(0, real, inner)
        says = say.new_zeros(mask.numel(), say.shape[1]).index_copy_(0, real, say)
        weights = self._model.normalise(scores.view(*mask.shape, -1).transpose(1, 2), mask)
        says = says.view(*mask.shape, -1, self._heads)  # [texts, tokens, outputs, heads]
        return torch.einsum("bhn,bnoh->bo", weights, says) + self._bias


def _states(
    direction: Direction, ids: Sequence[Ids], longest: int
) -> tuple[Float[Tensor, "beginnings hidden"], Int[Tensor, "texts tokens"]]:
    """Give the states of all distinct beginnings, and which of them each token of each text has."""
    order, steps = direction.read(ids)
    lengths = np.array([len(text) for text in ids])
    at = np.zeros((len(ids), longest), dtype=np.int64)
    states: list[Tensor] = []
    known = 0
    for depth, (level, h) in enumerate(steps):
        texts = order[level.texts]
        token = lengths[texts] - 1 - depth if direction.cell.backwards else depth
        at[texts, token] = level.of_text + known
        states.append(h)
        known += len(h)
    if not known:
        states.append(direction.cell.bias.new_zeros(1, direction.cell.hidden))
    return torch.cat(states), torch.from_numpy(at)
