"""Rows of attention where the head reads: the words' share of them, and the same rows under other weights."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def own_weights(
    natural: Float[Tensor, "part heads queries columns"],
    read: Bool[Tensor, "part queries"],
    words: Bool[Tensor, "part columns"],
) -> tuple[Float[Tensor, "part heads columns"], Float[Tensor, "part heads columns"]]:
    """Give the words' weights, made to sum to one, and what other tokens hold; the mean over the rows that are read."""
    if bool((read.sum(1) == 1).all()):
        places = read.long().argmax(1)[:, None, None, None]
        natural = natural.gather(2, places.expand(-1, natural.shape[1], 1, natural.shape[3]))
        read = torch.ones_like(read[:, :1])
    inside, _ = _shares(natural, words)
    counted = (read / read.sum(1, keepdim=True))[:, None, :, None].to(natural.dtype)
    fixed = natural * ~words[:, None, None]
    return (inside * counted).sum(2), (fixed * counted).sum(2)


def with_weights(
    natural: Float[Tensor, "part heads queries columns"],
    weights: Float[Tensor, "part heads columns"],
    own: Float[Tensor, "part heads columns"],
    read: Bool[Tensor, "part queries"],
    words: Bool[Tensor, "part columns"],
) -> Float[Tensor, "part heads queries columns"]:
    """Put weights into the rows that are read; special tokens keep theirs, and other rows stay as they are.

    Of one row, the words' share is divided as the weights say. Of several, every word is scaled by how much more or less
    than its own weight it is given, in all of them, and each row's share is kept: a word that is erased is erased in all,
    one that has all the weight has it in all, and its own weights give exactly the rows as they are. A row in which no word
    that is given weight has any takes the weights themselves.
    """
    tiny = torch.finfo(natural.dtype).tiny
    inside, share = _shares(natural, words)
    if bool((read.sum(1) == 1).all()):
        divided = weights[:, :, None]
    else:
        scaled = inside * (weights / own.clamp(min=tiny))[:, :, None]
        total = weights.sum(-1)[:, :, None, None]
        left = scaled.sum(-1, keepdim=True)
        divided = torch.where(left > 0, scaled * total / left.clamp(min=tiny), weights[:, :, None])
    changed = natural * ~words[:, None, None] + share * divided
    return torch.where(read[:, None, :, None], changed, natural)


def _shares(
    natural: Float[Tensor, "part heads queries columns"], words: Bool[Tensor, "part columns"]
) -> tuple[Float[Tensor, "part heads queries columns"], Float[Tensor, "part heads queries 1"]]:
    """Give each row's words, made to sum to one, and their share; where they have none, all words alike."""
    counted = words[:, None, None].to(natural.dtype)
    share = (natural * counted).sum(-1, keepdim=True)
    alike = counted / counted.sum(-1, keepdim=True).clamp(min=1)
    tiny = torch.finfo(natural.dtype).tiny
    inside = torch.where(share > 0, natural * counted / share.clamp(min=tiny), alike)
    return inside, share
