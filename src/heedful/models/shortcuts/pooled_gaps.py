"""What a pooled text becomes when one item is deleted and a few others change: sums that are kept, not texts read again."""

from __future__ import annotations

from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.models.encoders.cnn import CNN
from heedful.models.model import AttentionModel
from heedful.models.stages import States

Kind = Literal["attention", "mean", "max"]

LEAST_REST = 1e-9
"""Where less than this of the weight is left, relative to all, sums in double precision say too little about it."""


def kind_of(model: AttentionModel) -> Kind | None:
    """How a model pools, where that can be kept up to date: by softmax, by the mean, or by the maximum."""
    a = model.architecture
    match a.pooling:
        case "attention":
            return "attention" if a.normaliser == "softmax" else None
        case "mean" | "max":
            return a.pooling
        case "last":  # what the encoder makes of a whole text
            return "max" if isinstance(model.encoder, CNN) else None if model.contextual else "mean"
        case _:
            return None


class Pooled:
    """The sums of a batch's texts, and of each gap what it takes from them; in double precision.

    Attention by softmax is Σ eˢ h / Σ eˢ, the mean the same with s = 0: a deletion takes one term away, and changes those of
    the items whose states it changes.
    """

    def __init__(self, model: AttentionModel, whole: States, kind: Kind) -> None:
        self._model, self._whole, self._kind = model, whole, kind
        self._top: Tensor | None = None
        self.shares = self._shares(whole)  # [batch, items, heads]
        self.rest = self.shares.sum(1)  # [batch, heads]
        self.sums = torch.einsum("bnh,bnm->bhm", self.shares, whole.h.double())

    def _shares(self, states: States) -> Float[Tensor, "batch items heads"]:
        if self._kind != "attention":
            return states.mask.double()[..., None]
        assert self._model.attention is not None
        scores = self._model.score(states).double().transpose(1, 2) / self._model.attention.temperature
        if self._top is None:
            self._top = scores.masked_fill(~states.mask[..., None], -torch.inf).amax(1)  # [batch, heads]
            self._top = self._top.masked_fill(self._top.isinf(), 0.0)
        return (scores - self._top[:, None]).exp() * states.mask[..., None]

    def changes(
        self,
        text: int,
        places: Int[Tensor, " changed"],
        h: Float[Tensor, "changed size"],
        keys: Float[Tensor, "changed key_size"] | None = None,
    ) -> tuple[Float[Tensor, "changed heads"], Float[Tensor, "changed heads size"]]:
        """Say what new states at some places of a text add to the sum of shares, and to that of states.

        Where attention scores something else, `keys` are what has changed, and `h` are the states as they are.
        """
        whole, one = self._whole, slice(text, text + 1)
        new = States(
            h[None],
            torch.ones(1, len(h), dtype=torch.bool),
            None if whole.query is None else whole.query[one],
            rest=None if keys is None else keys[None],
        )
        top = self._top
        if top is not None:
            self._top = top[one]
        shares = self._shares(new)[0]
        self._top = top
        before = self.shares[text, places]
        after = torch.einsum("ch,cm->chm", shares, h.double())
        return shares - before, after - before[..., None] * whole.h[text, places].double()[:, None]


def without_own(
    pooled: Pooled, h: Float[Tensor, "items size"], text: int, gaps: Int[Tensor, " gaps"]
) -> tuple[Float[Tensor, "gaps heads"], Float[Tensor, "gaps heads size"]]:
    """Give the sums of one text without each of some items, all others as they were."""
    own = pooled.shares[text, gaps]
    return pooled.rest[text] - own, pooled.sums[text] - own[..., None] * h[gaps].double()[:, None]


def contexts(
    rest: Float[Tensor, "gaps heads"], sums: Float[Tensor, "gaps heads size"], all_of: Float[Tensor, " heads"]
) -> tuple[Float[Tensor, "gaps heads size"], Bool[Tensor, " gaps"]]:
    """Divide, and say where enough is left for that."""
    known = (rest > LEAST_REST * all_of).all(1)
    return sums / rest.clamp(min=torch.finfo(torch.float64).tiny)[..., None], known
