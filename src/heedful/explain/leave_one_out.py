"""Leave-one-out: how far the prediction moves when an item is deleted and the rest is read again."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.data.batches import MAX_TOKENS
from heedful.data.instances import Batch
from heedful.explain.erased import chances_without
from heedful.explain.explainer import EXPLAINERS
from heedful.models.deletion import Deletions
from heedful.models.encoders import Recurrent
from heedful.models.model import AttentionModel, probabilities
from heedful.models.states import States

# Below this much weight on the others, dividing by it would cost digits: such items are read again.
_LEAST_REST = 1e-3


@EXPLAINERS.register(
    "leave_one_out", "change of prediction (TVD) when the item is deleted, the rest read again"
)
def leave_one_out(model: AttentionModel, batch: Batch, *, seed: int) -> Float[Tensor, "batch items"]:
    """Delete each item in turn. Without a contextual encoder the rest need not be read again."""
    with torch.no_grad():
        states = model.encode(model.embed(batch), batch)
        weights = model.attend(states)
        before = probabilities(model.decode(states, weights))
        after = before.new_zeros(*states.mask.shape, before.shape[-1])  # [batch, items, classes]
        again = states.mask
        if weights is not None and _independent(model):
            after, settled = _closed_form(model, states, weights)
            again = states.mask & ~settled
        if again.any():
            rows, items = again.nonzero(as_tuple=True)
            if isinstance(model.encoder, Recurrent):
                after[rows, items] = _run_on(model, batch, states, rows, items)
            else:
                keep = states.mask[rows] & (torch.arange(states.mask.shape[1])[None, :] != items[:, None])
                after[rows, items] = chances_without(model, batch, rows, keep)
        return 0.5 * (after - before[:, None]).abs().sum(-1) * states.mask


def _independent(model: AttentionModel) -> bool:
    """Whether deleting an item changes neither the other states nor the ratios of the other weights."""
    return not model.encoder.contextual and model.architecture.normaliser == "softmax"


def _run_on(
    model: AttentionModel,
    batch: Batch,
    states: States,
    rows: Int[Tensor, " variants"],
    items: Int[Tensor, " variants"],
) -> Float[Tensor, "variants classes"]:
    """Read on from each gap: a recurrent encoder's states on its other side stay as they were."""
    assert isinstance(model.encoder, Recurrent)
    tokens = states.mask.shape[1]
    deletions = Deletions(model.encoder, model.embed(batch), batch.tokens.present)
    size = max(1, MAX_TOKENS // tokens)
    chances = []
    for first in range(0, len(rows), size):
        some, gone = rows[first : first + size], items[first : first + size]
        h, mask = deletions.states(some, gone), states.mask[some].scatter(1, gone[:, None], False)
        if model.architecture.pooling == "last":  # reads the states by their number: close the gap
            order = (~mask).to(torch.int8).argsort(dim=1, stable=True)
            h, mask = h.gather(1, order[..., None].expand_as(h)), mask.gather(1, order)
        left = States(
            h=h,
            mask=mask,
            query=None if states.query is None else states.query[some],
            candidates=None if states.candidates is None else states.candidates[some],
        )
        chances.append(probabilities(model.decode(left, model.attend(left))))
    return torch.cat(chances)


def _closed_form(
    model: AttentionModel, states: States, weights: Float[Tensor, "batch heads items"]
) -> tuple[Float[Tensor, "batch items classes"], Tensor]:
    """The context without item t is (Σ α_i h_i − α_t h_t) / (1 − α_t); also give where that is accurate."""
    context = torch.einsum("bhn,bnm->bhm", weights, states.h)
    rest = 1 - weights  # [batch, heads, items]
    settled = (rest > _LEAST_REST).all(1)
    part = torch.einsum("bhn,bnm->bnhm", weights, states.h)
    without = (context[:, None] - part) / rest.transpose(1, 2)[..., None].clamp(min=_LEAST_REST)
    batch, items = states.mask.shape
    query = None if states.query is None else states.query.repeat_interleave(items, dim=0)
    candidates = None if states.candidates is None else states.candidates.repeat_interleave(items, dim=0)
    logits = model.decode_context(without.flatten(0, 1), query, candidates)
    return probabilities(logits).view(batch, items, -1), settled
