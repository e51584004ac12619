"""Deletions in long texts that are read word after word: each is followed as far as it can be told from the whole text.

What a deleted word changes in the state of a recurrent encoder fades as it reads on. When it is smaller than single precision
can tell, the rest of the text is read as if nothing had been deleted, and what is pooled follows from sums. So time is
proportional to a text's length, times how far the encoder remembers; memory is proportional to its length alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.models.model import AttentionModel
from heedful.models.shortcuts.deletion import OneWay
from heedful.models.shortcuts.pooled_gaps import Pooled, contexts, kind_of, without_own
from heedful.models.shortcuts.recurrence import State
from heedful.models.stages import States, probabilities

LONG = 512
"""Texts of more tokens than this are followed so; shorter ones to their ends."""

FADED = 2.0**-21
"""A state within this of the whole text's, in every number (h / 2 and 2c, relative to 1 or to itself), is the same."""

FARTHEST = 512
"""A deletion that can still be told after so many words is not followed further: what it does is not known."""

_EVERY = 8  # words between two looks at what has faded
_ROWS = 2048  # states that are scored together


class Change(NamedTuple):
    """At some places, the states of one direction without the gaps they belong to."""

    gaps: Int[Tensor, " rows"]
    places: Int[Tensor, " rows"]
    half: Float[Tensor, "rows hidden"]


def serves_long(model: AttentionModel) -> bool:
    """Whether deletions can be followed: what is pooled must be a sum."""
    return model.unit == "word" and kind_of(model) in ("attention", "mean")


def predictions_without(
    model: AttentionModel, directions: Sequence[OneWay], whole: States
) -> tuple[Float[Tensor, "items classes"], Bool[Tensor, " items"]]:
    """Give the predictions without each item of the one text that was read, and which of them are known."""
    kind = kind_of(model)
    assert kind is not None
    items = whole.h.shape[1]
    pooled, own = Pooled(model, whole, kind), whole.h[0]
    rest, sums = without_own(pooled, own, 0, torch.arange(items))
    halves = [_Followed(direction) for direction in directions]
    for number, direction in enumerate(halves):
        for change in _gathered(direction.changes()):
            state = [half.whole[change.places] for half in halves]
            state[number] = change.half
            keys = 2 * torch.cat(state, dim=-1)
            given = (keys, None) if whole.rest is None else (own[change.places], keys)
            shares, states = pooled.changes(0, change.places, *given)
            rest.index_add_(0, change.gaps, shares)
            sums.index_add_(0, change.gaps, states)
    context, known = contexts(rest, sums, pooled.rest[0])
    for direction in halves:
        known &= ~direction.lasting
    query, candidates = (
        None if field is None else field.expand(items, -1) for field in (whole.query, whole.candidates)
    )
    return probabilities(model.decode_context(context.to(own.dtype), query, candidates)), known


class _Followed:
    """One direction over one text, and what deletions change in it until they have faded."""

    def __init__(self, direction: OneWay) -> None:
        self.cell, self._read = direction.cell, direction
        self.lasting = torch.zeros(len(direction.gates), dtype=torch.bool)
        """Deletions that could still be told where they were given up."""
        self.whole: Float[Tensor, "items hidden"] = torch.cat([state[0] for state in direction.after])

    def changes(self) -> Iterator[Change]:
        """Read on from every gap, all that have not faded together."""
        gaps = torch.zeros(0, dtype=torch.long)
        state = self.cell.start((0,))
        last: int | None = None
        for step, place in enumerate(self.cell.places(len(self._read.gates))):
            if last is not None:
                gaps = torch.cat([gaps, torch.tensor([last])])
                state = tuple(
                    torch.cat([part, new]) for part, new in zip(state, self._read.before[last], strict=True)
                )
            if len(gaps):
                state = self.cell.step(self._read.gates[place], state)
                yield Change(gaps, torch.full_like(gaps, place), state[0])
            if step % _EVERY == 0 and len(gaps):
                left = self._told_apart(state, place)
                far = (gaps - place).abs() >= FARTHEST
                self.lasting[gaps[left & far]] = True
                left &= ~far
                gaps, state = gaps[left], tuple(part[left] for part in state)
            last = place

    def _told_apart(self, state: State, place: int) -> Bool[Tensor, " gaps"]:
        apart = torch.zeros(len(state[0]), dtype=torch.bool)
        for part, whole in zip(state, self._read.after[place], strict=True):
            apart |= ((part - whole).abs() > FADED * whole.abs().clamp(min=1)).any(1)
        return apart


def _gathered(changes: Iterator[Change]) -> Iterator[Change]:
    """Put changes of several places together, so that they are scored by long products."""
    held: list[Change] = []
    rows = 0
    for change in changes:
        held.append(change)
        rows += len(change.gaps)
        if rows >= _ROWS:
            yield Change(*(torch.cat(field) for field in zip(*held, strict=True)))
            held, rows = [], 0
    if held:
        yield Change(*(torch.cat(field) for field in zip(*held, strict=True)))
