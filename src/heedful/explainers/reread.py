"""Texts without some of their items, read again: the deepest kind of erasure."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.data.batches import inference_batches
from heedful.data.instances import Batch
from heedful.data.tokens import Tokens
from heedful.explainers.explainer import item_of
from heedful.models.shorter import Reader, reader
from heedful.models.stages import Stages, output_of, probabilities

_LAID_OUT = 1_000_000  # tokens of variants, before they are cut into batches


def probabilities_without(
    model: Stages,
    batch: Batch,
    rows: Int[Tensor, " variants"],
    keep: Bool[Tensor, "variants items"],
) -> Float[Tensor, "variants classes"]:
    """Class probabilities of texts that keep only some items: variant v is text rows[v] with the items keep[v].

    A text that keeps nothing is the zero vector to the decoder, so that its bias decides.
    """
    # However many variants there are, only a block of them is laid out at a time.
    size = max(1, _LAID_OUT // batch.tokens.ids.shape[1])
    blocks = [slice(first, first + size) for first in range(0, len(rows), size)]
    shorter = reader(model) if _words_alone(batch) else None
    return torch.cat([_probabilities(model, batch, rows[block], keep[block], shorter) for block in blocks])


def with_only(model: Stages, batch: Batch, keep: Bool[Tensor, "batch items"]) -> Batch:
    """Give the texts of a batch as if they held these items alone; a text that keeps nothing is empty."""
    items = item_of(model, batch)
    stays = batch.tokens.present & ((items < 0) | keep.gather(1, items.clamp(min=0)))
    return _kept(batch, torch.arange(len(batch)), stays)


def _probabilities(
    model: Stages,
    batch: Batch,
    rows: Int[Tensor, " variants"],
    keep: Bool[Tensor, "variants items"],
    shorter: Reader | None,
) -> Float[Tensor, "variants classes"]:
    """Run a block of variants: what they share is read once where the model knows how, else those of like length together."""
    items = item_of(model, batch)[rows]  # [variants, tokens]
    stays = batch.tokens.present[rows] & ((items < 0) | keep.gather(1, items.clamp(min=0)))
    if shorter is not None:
        ids = batch.tokens.ids.numpy()
        with torch.no_grad():
            return probabilities(
                shorter([ids[row][left] for row, left in zip(rows.tolist(), stays.numpy(), strict=True)])
            )
    groups = inference_batches(stays.sum(1).clamp(min=1).numpy(), len(rows))
    with torch.no_grad():
        kept = (_kept(batch, rows[group], stays[group]) for group in groups)
        parts = [probabilities(output_of(model, part).logits) for part in kept]
    return torch.cat(parts)[torch.from_numpy(np.argsort(np.concatenate(groups)))]


def _words_alone(batch: Batch) -> bool:
    """Whether there is nothing to read but words: no query, no choice of answers, no noise on embeddings."""
    tokens = batch.tokens
    beside = (batch.query, batch.candidates, tokens.shift, tokens.type_of)
    return all(field is None for field in beside)


def _kept(batch: Batch, rows: Int[Tensor, " variants"], stays: Bool[Tensor, "variants tokens"]) -> Batch:
    """Move the tokens that stay to the left, in order, and drop the columns that are no longer needed."""
    length = max(int(stays.sum(1).max()), 1)
    order = (~stays).to(torch.int8).argsort(dim=1, stable=True)[:, :length]
    real = stays.gather(1, order)

    def moved(field: Tensor, fill: int) -> Tensor:
        return field[rows].gather(1, order).masked_fill(~real, fill)

    tokens, shift = batch.tokens, batch.tokens.shift
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
            shift=None if shift is None else shift[rows[:, None], order] * real[..., None],
            type_of=None if tokens.type_of is None else moved(tokens.type_of, 0),
        ),
    )


def _renumbered(numbers: Int[Tensor, "variants tokens"]) -> Int[Tensor, "variants tokens"]:
    """Number sentences from 0 without gaps; they stand in order, so each change of number begins a new one."""
    begins = numbers.diff(dim=1, prepend=torch.full_like(numbers[:, :1], -1)) != 0
    return torch.where(numbers >= 0, begins.long().cumsum(1) - 1, -1)
