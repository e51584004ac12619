"""How far a predicted probability falls when words are deleted, or when all others are, and the rest is read again."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.audits.subject.reading import Reading
from heedful.audits.subject.words import Words
from heedful.explainers.reread import probabilities_without
from heedful.measures.rationale import mean_loss, rationale_sizes


class DeletionLosses(NamedTuple):
    """What is lost without the top words and with them alone: over ERASER's shares, at a fixed number, and of one word."""

    comprehensiveness: Float[Tensor, " batch"]
    sufficiency: Float[Tensor, " batch"]
    comprehensiveness_top: Float[Tensor, " batch"]
    sufficiency_top: Float[Tensor, " batch"]
    first: Float[Tensor, " batch"]
    """Without the first word alone."""


def deletion_losses(
    reading: Reading, words: Words, rankings: list[Int[Tensor, "batch words"]], *, top: int
) -> list[DeletionLosses]:
    """Return the losses of each ranking; a ranking that another audit asked about before is not read again."""
    keys = [(top, hashlib.sha256(ranks.contiguous().numpy().tobytes()).digest()) for ranks in rankings]
    new = {key: ranks for key, ranks in zip(keys, rankings, strict=True) if key not in reading.losses}
    if new:
        reading.losses.update(zip(new, _read(reading, words, list(new.values()), top=top), strict=True))
    return [reading.losses[key] for key in keys]


def _read(
    reading: Reading, words: Words, rankings: list[Int[Tensor, "batch words"]], *, top: int
) -> list[DeletionLosses]:
    """Delete words of each text, by every ranking and size, and read all variants of the batch together."""
    counts = words.counts
    one = torch.ones_like(counts)[:, None]
    sizes = torch.cat([rationale_sizes(counts), counts.clamp(max=top)[:, None], one], dim=1)
    batch = torch.arange(len(counts))[:, None].expand_as(sizes)
    # Short texts have the same number of words in several shares: each is read once.
    pairs, where = torch.unique(torch.stack([batch, sizes], -1).flatten(0, 1), dim=0, return_inverse=True)
    rows, size = pairs[:, 0], pairs[:, 1:]
    kept = [
        words.mask[rows] & part for ranks in rankings for part in (ranks[rows] >= size, ranks[rows] < size)
    ]
    # Rankings often begin with the same words; then the same text is left, and is read once.
    left, same = torch.unique(
        torch.cat([rows.repeat(len(kept))[:, None], torch.cat(kept).long()], dim=1),
        dim=0,
        return_inverse=True,
    )
    of, mask = left[:, 0], left[:, 1:].bool()
    after = probabilities_without(reading.model, reading.batch, of, words.items(of, mask)).double()[same]
    every = rows.repeat(len(kept))
    decided = reading.probabilities.argmax(-1)
    before = reading.probabilities.double().gather(1, decided[:, None])[:, 0]
    remaining = (
        after.gather(1, decided[every, None])[:, 0]
        .view(len(kept), -1)[:, where]
        .view(len(kept), *sizes.shape)
    )
    losses = [
        (mean_loss(before, part[:, :-2]), mean_loss(before, part[:, -2:-1]), before - part[:, -1])
        for part in remaining
    ]
    return [
        DeletionLosses(without[0], alone[0], without[1], alone[1], without[2])
        for without, alone in zip(losses[::2], losses[1::2], strict=True)
    ]
