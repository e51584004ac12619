"""Deletions in texts that are read through windows, or word by word: only the windows that touch a gap change.

The few words around each gap are read as a text of their own; what is pooled follows from sums, or from the largest values
before and after. Time is proportional to a text's length, and so is memory.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.data.instances import Batch
from heedful.measures.divergence import tvd
from heedful.models.encoders.cnn import CNN
from heedful.models.model import AttentionModel
from heedful.models.shortcuts.pooled_gaps import Kind, Pooled, contexts, kind_of, without_own
from heedful.models.shorter import Moved
from heedful.models.stages import States, probabilities

_TOKENS = 16_384
"""Around all gaps that are read together: memory that is bounded, however long a text is."""


def serves(model: AttentionModel) -> bool:
    """Whether a state depends on a few neighbours at most, and pooling can be kept up to date."""
    local = isinstance(model.encoder, CNN) or not model.contextual
    return local and model.unit == "word" and kind_of(model) is not None


def moved_by_windows(model: AttentionModel, batch: Batch) -> Moved:
    """Delete each item in turn."""
    kind = kind_of(model)
    assert kind is not None
    embedded = model.embed(batch)
    whole = model.encode(embedded, batch)
    before = probabilities(model.decode(whole, model.attend(whole)))
    by = torch.zeros_like(whole.mask, dtype=before.dtype)
    known = torch.ones_like(whole.mask)
    pooled = Pooled(model, whole, kind)
    for text in range(len(whole.mask)):
        items = int(whole.mask[text].sum())
        context, sure = _contexts(model, pooled, kind, whole, embedded[text, :items], text)
        one = slice(text, text + 1)
        query, candidates = (
            None if field is None else field[one].expand(items, -1)
            for field in (whole.query, whole.candidates)
        )
        after = probabilities(model.decode_context(context.to(whole.h.dtype), query, candidates))
        by[text, :items], known[text, :items] = tvd(after, before[one]), sure
    return Moved(by, known)


def _contexts(
    model: AttentionModel,
    pooled: Pooled,
    kind: Kind,
    whole: States,
    embedded: Float[Tensor, "items dim"],
    text: int,
) -> tuple[Float[Tensor, "items heads size"], Bool[Tensor, " items"]]:
    """Pool a text without each of its items."""
    items, left, right = len(embedded), *_reach(model)
    size = max(1, _TOKENS // max(1, 2 * (left + right)))
    parts = [torch.arange(first, min(first + size, items)) for first in range(0, items, size)]
    h = whole.h[text, :items]
    found = []
    for gaps in parts:
        near, there, new = _around(model, embedded, gaps, left, right)
        if kind == "max":
            found.append((_largest(h, gaps, left, right, there, new)[:, None], gaps >= 0))
            continue
        rest, sums = without_own(pooled, h, text, gaps)
        if there.any():
            which = there.nonzero()[:, 0]
            shares, states = pooled.changes(text, near[there], new[there])
            rest, sums = rest.index_add(0, which, shares), sums.index_add(0, which, states)
        found.append(contexts(rest, sums, pooled.rest[text]))
    if items == 1:  # nothing is left: the zero vector
        return torch.zeros_like(found[0][0]), torch.ones(1, dtype=torch.bool)
    return torch.cat([context for context, _ in found]), torch.cat([sure for _, sure in found])


def _reach(model: AttentionModel) -> tuple[int, int]:
    """How far a state sees to the left and to the right."""
    if not isinstance(model.encoder, CNN):
        return 0, 0
    widest = max(model.architecture.widths)
    return (widest - 1) // 2, widest // 2


def _around(
    model: AttentionModel,
    embedded: Float[Tensor, "items dim"],
    gaps: Int[Tensor, " gaps"],
    left: int,
    right: int,
) -> tuple[Int[Tensor, "gaps near"], Bool[Tensor, "gaps near"], Float[Tensor, "gaps near size"]]:
    """Read what stands around each gap, closed up: the places whose states see the gap, which are there, and their states."""
    items, far = len(embedded), left + right
    offsets = torch.cat([torch.arange(-far, 0), torch.arange(1, far + 1)])
    places = gaps[:, None] + offsets
    there = (places >= 0) & (places < items)
    if not far:
        return places, there, embedded.new_zeros(len(gaps), 0, model.encoder.size)
    places = places.clamp(0, items - 1)
    h = model.encoder(embedded[places], there)
    see = slice(far - right, far + left)
    return places[:, see], there[:, see], h[:, see]


def _largest(
    h: Float[Tensor, "items size"],
    gaps: Int[Tensor, " gaps"],
    left: int,
    right: int,
    there: Bool[Tensor, "gaps near"],
    new: Float[Tensor, "gaps near size"],
) -> Float[Tensor, "gaps size"]:
    """Give the largest of every feature: before what changes, after it, and of what has changed."""
    nothing = h.new_full((1, h.shape[1]), -torch.inf)
    up_to = torch.cat([nothing, h.cummax(0).values])
    onwards = torch.cat([nothing, h.flip(0).cummax(0).values]).flip(0)
    before = up_to[(gaps - right).clamp(min=0)]
    after = onwards[(gaps + left + 1).clamp(max=len(h))]
    largest = torch.maximum(before, after)
    if new.shape[1]:
        largest = torch.maximum(largest, new.masked_fill(~there[..., None], -torch.inf).amax(1))
    return largest
