"""Leave-one-out: how far the prediction moves when an item is deleted and the rest is read again."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.data.instances import Batch
from heedful.explainers.explainer import EXPLAINERS
from heedful.explainers.reread import probabilities_without
from heedful.measures.divergence import tvd
from heedful.models.shorter import moved_without_each
from heedful.models.stages import Stages, probabilities


@EXPLAINERS.register(
    "leave_one_out", "change of prediction (TVD) when the item is deleted, the rest read again"
)
def leave_one_out(model: Stages, batch: Batch, *, seed: int) -> Float[Tensor, "batch items"]:
    """Delete each item in turn, and read again what the model cannot tell without."""
    with torch.no_grad():
        shorter = moved_without_each(model, batch)
        if shorter is not None and bool(shorter.known.all()):
            return shorter.by
        states = model.encode(model.embed(batch), batch)
        mask = states.mask
        moved = states.h.new_zeros(mask.shape) if shorter is None else shorter.by
        again = mask if shorter is None else ~shorter.known
        before = probabilities(model.decode(states, model.attend(states)))
        rows, items = again.nonzero(as_tuple=True)
        keep = mask[rows] & (torch.arange(mask.shape[1])[None, :] != items[:, None])
        moved[rows, items] = tvd(probabilities_without(model, batch, rows, keep), before[rows])
        return moved


@EXPLAINERS.register(
    "signed_leave_one_out", "fall of the decided class's probability when the item is deleted: below 0, it spoke against"
)  # fmt: skip
def signed_leave_one_out(
    model: Stages, batch: Batch, *, seed: int, classes: Int[Tensor, " batch"] | None = None
) -> Float[Tensor, "batch items"]:
    """Delete each item in turn and read the rest again; items that speak against the class come last."""
    with torch.no_grad():
        states = model.encode(model.embed(batch), batch)
        before = probabilities(model.decode(states, model.attend(states)))
        chosen = before.argmax(-1) if classes is None else classes
        rows, items = states.mask.nonzero(as_tuple=True)
        keep = states.mask[rows] & (torch.arange(states.mask.shape[1])[None, :] != items[:, None])
        after = probabilities_without(model, batch, rows, keep).gather(1, chosen[rows, None])
        fell = before.new_zeros(states.mask.shape)
        fell[rows, items] = (before.gather(1, chosen[:, None])[rows] - after)[:, 0]
        return fell
