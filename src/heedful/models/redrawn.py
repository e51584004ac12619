"""A model with the weights of some stages drawn anew, as if these had never been trained (Adebayo et al. 2018)."""

from __future__ import annotations

from collections.abc import Collection
from copy import deepcopy
from functools import singledispatch
from typing import Protocol

import torch
from torch import nn

from heedful.errors import BadInput
from heedful.models.encoders.transformer import TransformerEncoder
from heedful.models.model import AttentionModel
from heedful.models.stages import Stages
from heedful.models.word_mask import GroupMask

STAGES = ("decode", "attend", "encode", "embed")
"""From the output to the input."""

_BEYOND = 2**31
"""Seeds of training are less: what one of them draws is where a trained model began, and it may still be close to that."""


class DrawnWeights(Protocol):
    """What a seed draws in the place of each stage's weights."""

    def model(self, stages: Collection[str]) -> Stages:
        """Give the model with these stages drawn anew."""


@singledispatch
def redraw(model: Stages, seed: int) -> DrawnWeights:
    """Draw weights for every stage of a model; a kind of model that knows how registers it."""
    raise BadInput(
        "The weights of this model cannot be drawn anew, because heedful does not know how they were drawn initially: "
        "leave out randomisation."
    )


@singledispatch
def stages_with_weights(model: Stages) -> tuple[str, ...]:
    """Name the stages that have weights to draw, from the output to the input."""
    return STAGES


class Redrawn:
    """What a seed draws in the place of each stage's weights; the model itself is never changed.

    Weights are drawn as a new model of the same shape draws them. The vectors of words are shuffled among the words
    instead, so that they keep their distribution, whether they were pretrained or not.
    """

    def __init__(self, model: AttentionModel, *, seed: int) -> None:
        self.original = model
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(_BEYOND + seed)
            self._fresh = AttentionModel(model.architecture).to(model.dtype).eval()
            self._table = _shuffled(_table(model))
        _put_table(self._fresh, _table(model))  # the fresh one is not needed, and takes much memory
        if isinstance(self._fresh.word_mask, GroupMask) and isinstance(model.word_mask, GroupMask):
            self._fresh.word_mask.groups = model.word_mask.groups  # found in vectors, not learnt

    def model(self, stages: Collection[str]) -> AttentionModel:
        """Give the model with these stages drawn anew; what is not, it shares with the original."""
        mixed = deepcopy(self.original, {id(child): child for child in self.original.children()})
        if "decode" in stages:
            mixed.decoder = self._fresh.decoder
        if "attend" in stages:
            mixed.attention = self._fresh.attention
        if "encode" in stages:
            mixed.encoder, mixed.query_encoder = self._fresh.encoder, self._fresh.query_encoder
        if "embed" in stages:
            if isinstance(mixed.encoder, TransformerEncoder):  # its table is a part of it: another shell
                weights = (*mixed.encoder.parameters(), *mixed.encoder.buffers())
                mixed.encoder = deepcopy(mixed.encoder, {id(weight): weight for weight in weights})
            _put_table(mixed, self._table)
            mixed.word_mask = self._fresh.word_mask
        return mixed.eval()


@redraw.register(AttentionModel)
def _redraw(model: AttentionModel, seed: int) -> DrawnWeights:
    return Redrawn(model, seed=seed)


@stages_with_weights.register(AttentionModel)
def _with_weights(model: AttentionModel) -> tuple[str, ...]:
    table = _table(model)
    inside: dict[str, list[nn.Module | None]] = {
        "decode": [model.decoder],
        "attend": [model.attention],
        "encode": [model.encoder, model.query_encoder],
        "embed": [table, model.word_mask],
    }

    def able(stage: str) -> bool:
        weights = [weight for part in inside[stage] if part is not None for weight in part.parameters()]
        return any(stage == "embed" or weight is not table.weight for weight in weights)

    return tuple(stage for stage in STAGES if able(stage))


def _table(model: AttentionModel) -> nn.Embedding:
    """Find the vectors of words or of their pieces."""
    assert isinstance(model.table, nn.Embedding)
    return model.table


def _put_table(model: AttentionModel, table: nn.Embedding) -> None:
    if isinstance(model.encoder, TransformerEncoder):
        model.encoder.transformer.set_input_embeddings(table)
    else:
        model.embedding = table


def _shuffled(table: nn.Embedding) -> nn.Embedding:
    """Give every word the vector of another; padding keeps its own."""
    order = torch.arange(table.num_embeddings)
    words = order[order != (-1 if table.padding_idx is None else table.padding_idx)]
    order[words] = words[torch.randperm(len(words))]
    shuffled = deepcopy(table, {id(table.weight): nn.Parameter(table.weight.detach()[order])})
    return shuffled.requires_grad_(table.weight.requires_grad)
