"""Questions with a general answer, to which some models know a shorter way.

A model registers its own way for its class (`functools.singledispatch`), and every caller then takes that way. It must
give the same numbers, apart from rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor

from heedful.data.instances import Batch
from heedful.models.stages import Output, Stages, States, output_of

Scaled = Callable[[Float[Tensor, "readings tokens"]], States]

Substitutes = Sequence[Sequence[Sequence[Sequence[int]]]]
"""Of each text, of each of its words (in the order of `words_of`), its substitutes: the numbers of the tokens each becomes."""


class Moved(NamedTuple):
    """How far predictions move (TVD) without each item; zero off the mask."""

    by: Float[Tensor, "batch items"]
    known: Bool[Tensor, "batch items"]
    """False where the rest must be read again after all."""


class Robustness(NamedTuple):
    """What is certain about a batch of texts whose words may be replaced by substitutes, each word or none of them."""

    decided: Int[Tensor, " batch"]
    """The class decided on, in double precision; of equal logits the lowest."""
    certified: Bool[Tensor, " batch"]
    """Proven: no combination of substitutes changes the decision. False where that is not so, or not known."""
    covered: Bool[Tensor, " batch"]
    """False where a substitute is cut into tokens in a way that this model's method does not cover; then nothing is certified."""
    smallest: Float[Tensor, " batch"] | None
    """The fewest words to replace until the decision changes; infinite where none do, NaN where not covered. None: this model
    has certificates alone."""
    witnesses: list[dict[int, int]] | None
    """Words to replace and the place of each one's substitute among its substitutes: that few, and the decision changes."""


_TO_THE_END: ContextVar[bool] = ContextVar("deletions are followed to the end of long texts", default=False)


@contextmanager
def to_the_end(exact: bool) -> Iterator[None]:
    """Within this, deletions in long texts are followed to the end, however long that takes; or not."""
    before = _TO_THE_END.set(exact)
    try:
        yield
    finally:
        _TO_THE_END.reset(before)


def followed_to_the_end() -> bool:
    """Whether deletions in long texts are followed to the end."""
    return _TO_THE_END.get()


@singledispatch
def read(model: Stages, batch: Batch) -> Output:
    """Give the output on a batch, where nothing but the output is wanted."""
    return output_of(model, batch)


@singledispatch
def decode_many(
    model: Stages, states: States, weights: Float[Tensor, "batch variants heads items"]
) -> Float[Tensor, "batch variants outputs"]:
    """Decode the same states under many weights."""
    return torch.stack([model.decode(states, variant) for variant in weights.unbind(1)], dim=1)


@singledispatch
def decode_each(model: Stages, states: States, heads: int) -> Float[Tensor, "batch items outputs"]:
    """Give the logits when every head looks at one item alone, for each item."""
    effects = model.effects(states)
    if effects is not None:
        return effects.rest[:, None] + effects.of_item.sum(1)
    batch, items = states.mask.shape
    alone = torch.eye(items, dtype=states.h.dtype)[None, :, None].expand(batch, -1, heads, -1)
    return decode_many(model, states, alone)


@singledispatch
def scaled(model: Stages, batch: Batch) -> Scaled:
    """Give the states as a function of numbers that the embeddings of tokens are multiplied by.

    The derivative by a token's number is ∂/∂e · e. Readings are whole batches, one after the other.
    """
    embedded = model.embed(batch).detach()

    def states(scales: Float[Tensor, "readings tokens"]) -> States:
        times = len(scales) // len(batch)
        rows = torch.arange(len(batch)).repeat(times)
        return model.encode(scales[..., None] * embedded.repeat(times, 1, 1), batch.take(rows))

    return states


@singledispatch
def noisy(model: Stages, batch: Batch, noise: Float[Tensor, "batch tokens dim"]) -> Scaled | None:
    """Give the states as a function of how much of the noise each token's embedding gets; None where that saves nothing.

    Readings are whole batches, one after the other. Their states have no gradients.
    """
    return None


@singledispatch
def smooth(model: Stages) -> bool:
    """Whether the decision is known to have no kinks on the way from no embeddings to a text's own."""
    return False


@singledispatch
def moved_without_each(model: Stages, batch: Batch) -> Moved | None:
    """Say how far predictions move without each item, where that can be computed without reading the rest again."""
    return None


@singledispatch
def robustness(
    model: Stages, batch: Batch, substitutes: Substitutes, *, slack: float = 0.0
) -> Robustness | None:
    """Say what substitutes can do to the decisions, where that can be told for all combinations at once; else None.

    Decisions nearer than `slack`, relative to the terms that they sum up, count as lost: about 1e-5 where the model that is
    attacked reads in single precision, 0 for the model in double precision.
    """
    return None


Reader = Callable[[Sequence[NDArray[np.integer[Any]]]], Float[Tensor, "texts outputs"]]
"""Token ids of texts, each its own length → logits."""


@singledispatch
def reader(model: Stages) -> Reader | None:
    """Give a function that reads texts which share most of their words; None where every text is read by itself.

    It is for models whose tokens are words and all items, and looks at nothing but their ids. The model must not change
    while the function is in use.
    """
    return None
