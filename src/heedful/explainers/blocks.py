"""Which deletions leave-one-out makes: of each word with all its pieces, and in long texts of a block of them at a time.

To delete each item of a text and read the rest takes time that grows with the square of its length. Where a model knows no
shorter way, the items of a long text are deleted a block at a time, as many blocks for any length, and the items of a block
share what that does. Who asks can be told of which texts this is so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.models.shorter import followed_to_the_end

LONG = 1000
"""Texts of more items than this are long."""

BLOCKS = 100
"""Blocks of a long text, at most."""

_TOLD: ContextVar[set[int] | None] = ContextVar("texts whose items were deleted in blocks", default=None)


class Deleted(NamedTuple):
    """Deletions of a batch: variant v is text rows[v] with the items keep[v]."""

    rows: Int[Tensor, " variants"]
    keep: Bool[Tensor, "variants items"]
    text: Int[Tensor, " asked"]
    item: Int[Tensor, " asked"]
    """The items that are asked about, and where each stands."""
    variant: Int[Tensor, " asked"]
    """The deletion that each is part of."""

    def shared(
        self, scores: Float[Tensor, " variants"], onto: Float[Tensor, "batch items"]
    ) -> Float[Tensor, "batch items"]:
        """Give every item that was asked about its part of what its deletion does; the others stay as they are."""
        parts = scores / self.variant.bincount(minlength=len(scores)).clamp(min=1)
        return onto.index_put((self.text, self.item), parts[self.variant].to(onto.dtype))


def deletions(
    mask: Bool[Tensor, "batch items"],
    asked: Bool[Tensor, "batch items"],
    rows: Int[Tensor, " batch"],
    words: Int[Tensor, "batch items"] | None = None,
) -> Deleted:
    """Delete each item that is asked about; in long texts a block of neighbours together. `rows` says which texts these are.

    Items of one of the `words` are its pieces, and go together: what is left of a word would be another one.
    """
    text, item = asked.nonzero(as_tuple=True)
    many = asked.sum(1)
    long = (mask.sum(1) > LONG) & (many > BLOCKS)
    if followed_to_the_end() or not bool(long.any()):
        variant = torch.arange(len(text))
        if words is not None:
            number = words[text, item]
            variant = torch.unique(text * (int(words.max()) + 1) + number, return_inverse=True)[1]
    else:
        tell(rows[long].tolist())
        place = asked.cumsum(1)[text, item] - 1  # among those asked about of its text
        block = torch.where(long[text], place * BLOCKS // many[text].clamp(min=1), place)
        width = max(1, int(block.max()) + 1)
        variant = torch.unique(text * width + block, return_inverse=True)[1]
    count = int(variant.max()) + 1 if len(variant) else 0
    of = torch.zeros(count, dtype=torch.long).index_put((variant,), text)
    keep = mask[of]
    keep[variant, item] = False
    return Deleted(of, keep, text, item, variant)


def tell(rows: Iterable[int]) -> None:
    """Say that the items of these texts were deleted in blocks."""
    told = _TOLD.get()
    if told is not None:
        told.update(rows)


@contextmanager
def told_of_blocks() -> Iterator[set[int]]:
    """Collect the texts whose items are deleted in blocks, for as long as this lasts."""
    found: set[int] = set()
    before = _TOLD.set(found)
    try:
        yield found
    finally:
        _TOLD.reset(before)
