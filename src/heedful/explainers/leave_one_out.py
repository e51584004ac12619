"""Leave-one-out: how far the prediction moves when an item is deleted and the rest is read again."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.data.instances import Batch
from heedful.data.words.substitution import words_of
from heedful.explainers.blocks import deletions
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
        again = mask if shorter is None else ~shorter.known & mask
        before = probabilities(model.decode(states, model.attend(states)))
        deleted = deletions(mask, again, batch.rows, _pieces(model, batch))
        after = probabilities_without(model, batch, deleted.rows, deleted.keep)
        return deleted.shared(tvd(after, before[deleted.rows]), moved)


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
        deleted = deletions(states.mask, states.mask, batch.rows, _pieces(model, batch))
        after = probabilities_without(model, batch, deleted.rows, deleted.keep)
        after = after.gather(1, chosen[deleted.rows, None])
        fell = (before.gather(1, chosen[:, None])[deleted.rows] - after)[:, 0]
        return deleted.shared(fell, before.new_zeros(states.mask.shape))


def _pieces(model: Stages, batch: Batch) -> Int[Tensor, "batch items"] | None:
    """Number the word of each item, where some word has several pieces; None where every item is a word or a sentence."""
    if model.unit == "sentence":
        return None
    words = words_of(batch.tokens)
    return words if bool((words.amax(1) + 1 < batch.tokens.mask.sum(1)).any()) else None
