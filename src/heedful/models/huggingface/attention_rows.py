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
    one that has all the weight has it in all, and its own weights give exactly the rows as they are, also where they are zero
    and rows of another layer read the word. A row in which no word that is given weight has any takes the weights themselves.
    """
    tiny = torch.finfo(natural.dtype).tiny
    inside, share = _shares(natural, words)
    if bool((read.sum(1) == 1).all()):
        divided = weights[:, :, None]
    else:
        times = torch.where((own == 0) & (weights == 0), 1, weights / own.clamp(min=tiny))
        scaled = inside * times[:, :, None]
        total = weights.sum(-1)[:, :, None, None]
        left = scaled.sum(-1, keepdim=True)
        divided = torch.where(left > 0, scaled * total / left.clamp(min=tiny), weights[:, :, None])
    changed = natural * ~words[:, None, None] + share * divided
    return torch.where(read[:, None, :, None], changed, natural)


def _shares(
    natural: Float[Tensor, "part heads queries columns"], words: Bool[Tensor, "part columns"]
) -> tuple[Float[Tensor, "part heads queries columns"], Float[Tensor, "part heads queries 1"]]:
    """Give each row's words, made to sum to one, and their share; where they have none, all words alike.

    Rows are divided by their largest weight first: a share of 1e-40 is left where a head attends to a special token alone, and
    has too few digits to divide by.
    """
    counted = words[:, None, None].to(natural.dtype)
    weighed = natural * counted
    share = weighed.sum(-1, keepdim=True)
    alike = counted / counted.sum(-1, keepdim=True).clamp(min=1)
    if weighed.shape[-1] == 0:
        return alike, share
    largest = weighed.detach().amax(-1, keepdim=True)
    slopes = largest >= torch.finfo(natural.dtype).tiny  # below, a slope would be larger than any number
    scaled = torch.where(slopes, weighed, weighed.detach()) / torch.where(largest > 0, largest, 1)
    inside = torch.where(largest > 0, scaled / scaled.sum(-1, keepdim=True).clamp(min=1), alike)
    return inside, share
