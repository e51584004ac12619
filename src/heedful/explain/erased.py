"""Texts without some of their items, read again: the deepest kind of erasure."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.data.batches import MAX_TOKENS
from heedful.data.instances import Batch
from heedful.data.tokens import Tokens
from heedful.explain.explainer import item_of
from heedful.models.model import AttentionModel, probabilities


def chances_without(
    model: AttentionModel,
    batch: Batch,
    rows: Int[Tensor, " variants"],
    keep: Bool[Tensor, "variants items"],
) -> Float[Tensor, "variants classes"]:
    """Class probabilities of texts that keep only some items: variant v is text rows[v] with the items keep[v].

    Variants are run in groups of like length within a budget of tokens. A text that keeps nothing is the zero
    vector to the decoder, so that its bias decides.
    """
    items = item_of(model, batch)[rows]  # [variants, tokens]
    stays = batch.tokens.present[rows] & ((items < 0) | keep.gather(1, items.clamp(min=0)))
    lengths = stays.sum(1).clamp(min=1)
    order = lengths.argsort(stable=True)
    results = None
    first = 0
    while first < len(order):
        # Sorted by length: the last of a group is its longest.
        sizes = lengths[order[first:]] * torch.arange(1, len(order) - first + 1)
        last = first + max(1, int((sizes <= MAX_TOKENS).sum()))
        chosen = order[first:last]
        with torch.no_grad():
            chances = probabilities(model(_kept(batch, rows[chosen], stays[chosen])).logits)
        if results is None:
            results = chances.new_zeros(len(rows), chances.shape[-1])
        results[chosen] = chances
        first = last
    assert results is not None
    return results


def _kept(batch: Batch, rows: Int[Tensor, " variants"], stays: Bool[Tensor, "variants tokens"]) -> Batch:
    """Move the tokens that stay to the left, in order, and drop the columns that nobody needs."""
    length = max(int(stays.sum(1).max()), 1)
    order = (~stays).to(torch.int8).argsort(dim=1, stable=True)[:, :length]
    real = stays.gather(1, order)

    def moved(field: Tensor, fill: int) -> Tensor:
        return field[rows].gather(1, order).masked_fill(~real, fill)

    tokens = batch.tokens
    return Batch(
        labels=batch.labels[rows],
        rows=batch.rows[rows],
        query=None if batch.query is None else batch.query.take(rows),
        candidates=None if batch.candidates is None else batch.candidates[rows],
        tokens=Tokens(
            texts=[tokens.texts[row] for row in rows.tolist()],
            ids=moved(tokens.ids, 0),
            mask=moved(tokens.mask, 0),
            present=real,
            offsets=tokens.offsets[rows].gather(1, order[..., None].expand(-1, -1, 2)) * real[..., None],
            word_of=moved(tokens.word_of, -1),
            sentence_of=None if tokens.sentence_of is None else _renumbered(moved(tokens.sentence_of, -1)),
        ),
    )


def _renumbered(numbers: Int[Tensor, "variants tokens"]) -> Int[Tensor, "variants tokens"]:
    """Number sentences from 0 without gaps; they stand in order, so each change of number begins a new one."""
    begins = numbers.diff(dim=1, prepend=torch.full_like(numbers[:, :1], -1)) != 0
    return torch.where(numbers >= 0, begins.long().cumsum(1) - 1, -1)
