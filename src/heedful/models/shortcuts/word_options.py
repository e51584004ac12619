"""Words and all their substitutes, read by a model whose items are read by themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.data.instances import Batch
from heedful.data.tokens import Tokens
from heedful.models.decoders import LinearDecoder
from heedful.models.model import AttentionModel
from heedful.models.shortcuts.choices import Choices
from heedful.models.stages import States


class Read(NamedTuple):
    """Every piece of every option by itself, and what the decoder says to nothing."""

    scores: Float[Tensor, "batch words options pieces heads"]
    """What softmax takes the exponent of; 0 where states are pooled by their mean."""
    says: Float[Tensor, "batch words options pieces heads outputs"]
    """What a unit of weight adds to the logits; nothing for decoders that are not linear."""
    rest: Float[Tensor, "batch outputs"]
    states: States
    of: Int[Tensor, "batch words options pieces"]
    """Where each piece is among the states, of all texts together."""

    def h(self) -> Float[Tensor, "batch words options pieces size"]:
        """Lay out the states."""
        return self.states.h.flatten(0, 1)[self.of]


def read_options(model: AttentionModel, batch: Batch, choices: Choices) -> Read:
    """Read every distinct word once, or once for each text where a query makes it another."""
    ids = choices.ids
    if batch.query is None and batch.candidates is None:
        words, of = torch.unique(ids, return_inverse=True)
        nothing = torch.zeros(1, dtype=torch.long)
        given = Batch(_as_text(words[None]), labels=nothing, rows=nothing)
    else:
        given = replace(batch, tokens=_as_text(ids.flatten(1)))
        of = torch.arange(ids.numel()).view(ids.shape)
    states = model.encode(model.embed(given), given)
    h = states.h
    heads = model.architecture.heads if model.attention is not None else 1
    scores = h.new_zeros(len(h), heads, h.shape[1])
    if model.attention is not None:
        scores = model.score(states) / model.attention.temperature
    rest = model.decode_context(h.new_zeros(len(h), heads, h.shape[-1]), states.query, states.candidates)
    says = h.new_zeros(len(h), heads, h.shape[1], 0)
    if isinstance(model.decoder, LinearDecoder):
        says = model.decoder.slopes(h, states.query)
    return Read(
        scores.permute(0, 2, 1).flatten(0, 1)[of],
        says.permute(0, 2, 1, 3).flatten(0, 1)[of],
        rest.expand(len(batch), -1),
        states,
        of,
    )


def _as_text(ids: Int[Tensor, "batch tokens"]) -> Tokens:
    """Let words stand one after the other, as if they were a text."""
    real = torch.ones_like(ids, dtype=torch.bool)
    return Tokens(
        texts=[""] * len(ids),
        ids=ids,
        mask=real,
        present=real,
        offsets=torch.zeros(*ids.shape, 2, dtype=torch.long),
        word_of=torch.arange(ids.shape[1]).expand_as(ids),
    )
