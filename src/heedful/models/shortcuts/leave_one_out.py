"""How far predictions move without each item, where the rest need not be read again as a whole.

A recurrent encoder reads on from each gap. Where an item's state depends on that item alone, nothing is read at all.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from heedful.data.batches import MAX_TOKENS
from heedful.data.instances import Batch
from heedful.measures.divergence import tvd
from heedful.models.encoders.pointer import recurrent_part
from heedful.models.encoders.recurrent import Recurrent
from heedful.models.model import AttentionModel, decode_contexts
from heedful.models.shortcuts.deletion import Deletions
from heedful.models.shortcuts.fading import LONG, predictions_without, serves_long
from heedful.models.shortcuts.gap_windows import moved_by_windows, serves
from heedful.models.shortcuts.products import Product
from heedful.models.shorter import Moved, followed_to_the_end
from heedful.models.stages import States, probabilities

# Below this much weight on the others, dividing by it would cost digits: such items are read again.
_LEAST_REST = 1e-3

_STATES = 32_768  # of all gaps of the texts that go together: long products, and memory that is bounded


def moved(model: AttentionModel, batch: Batch) -> Moved | None:
    """Delete each item in turn, if there is a shorter way for this model."""
    with torch.no_grad():
        recurrent = recurrent_part(model.encoder)
        if recurrent is not None:
            return _run_on(model, recurrent, batch)
        if _independent(model):
            return _closed_form(model, batch)
        return moved_by_windows(model, batch) if serves(model) else None


def _independent(model: AttentionModel) -> bool:
    """Whether deleting an item changes neither the other states nor the ratios of the other weights."""
    return not model.contextual and model.has_attention and model.architecture.normaliser == "softmax"


def _run_on(model: AttentionModel, encoder: Recurrent, batch: Batch) -> Moved:
    """Read on from each gap: a recurrent encoder's states on its other side stay as they were.

    Texts of like length go together. In long ones a deletion is followed until it has faded (`fading`).
    """
    embedded, present, mask = model.embed(batch), batch.tokens.present, batch.tokens.mask
    query = None if batch.query is None else model.encode(embedded, batch).query
    # What the words contribute by themselves, where the recurrent states are only scored.
    own = None if model.encoder is encoder else model.encoder(embedded, present)
    read = _read_halves if _linear(model, batch) else _read_states
    scores, known = embedded.new_zeros(mask.shape), torch.ones_like(mask)
    order = present.sum(1).argsort(descending=True, stable=True)
    while len(order):
        tokens = max(int(present[order[0]].sum()), 1)
        long = tokens > LONG and serves_long(model) and not followed_to_the_end()
        rows, order = order.tensor_split([1 if long else max(1, _STATES // tokens**2)])
        deletions = Deletions(encoder, embedded[rows, :tokens], present[rows, :tokens])
        whole = States(
            h=deletions.whole if own is None else own[rows, :tokens],
            mask=mask[rows, :tokens],
            query=None if query is None else query[rows],
            candidates=None if batch.candidates is None else batch.candidates[rows],
            rest=None if own is None else deletions.whole,
        )
        before = probabilities(model.decode(whole, model.attend(whole)))
        if long:
            row = rows[0]
            after, known[row, :tokens] = predictions_without(model, deletions.directions, whole)
            scores[row, :tokens] = tvd(after, before)
            continue
        size = max(1, MAX_TOKENS // (len(rows) * tokens))
        for first in range(0, tokens, size):
            gaps = range(first, min(first + size, tokens))
            after = probabilities(read(model, deletions, gaps, whole))
            scores[rows, first : gaps.stop] = tvd(after.view(len(gaps), len(rows), -1), before).T
    return Moved(scores * mask, known)


def _mask_without(mask: Bool[Tensor, "batch items"], gaps: range) -> Bool[Tensor, "variants items"]:
    others = torch.arange(mask.shape[1]) != torch.tensor(gaps)[:, None]  # [gaps, items]
    return (mask & others[:, None]).flatten(0, 1)


def _read_states(
    model: AttentionModel, deletions: Deletions, gaps: range, whole: States
) -> Float[Tensor, "variants outputs"]:
    """Lay out the states of every variant, and do with them what the model does."""
    h, mask = deletions.states(gaps).flatten(0, 1), _mask_without(whole.mask, gaps)
    if model.architecture.pooling == "last":  # reads states by their number: close the gap
        order = (~mask).to(torch.int8).argsort(dim=1, stable=True)
        h = (h * mask[..., None]).gather(1, order[..., None].expand_as(h))
        mask = mask.gather(1, order)
    query, candidates = (
        None if field is None else field.repeat(len(gaps), 1) for field in (whole.query, whole.candidates)
    )
    left = States(h, mask, query, candidates)
    if whole.rest is not None:
        left = replace(left, h=whole.h.repeat(len(gaps), 1, 1), rest=h)
    return model.decode(left, model.attend(left))


def _linear(model: AttentionModel, batch: Batch) -> bool:
    """Whether attention and decoder read states by a linear map first, the same for every text."""
    a = model.architecture
    stages = (a.pooling, a.attention, a.decoder) == ("attention", "additive", "linear")
    return stages and batch.query is None and batch.candidates is None


def _read_halves(
    model: AttentionModel, deletions: Deletions, gaps: range, whole: States
) -> Float[Tensor, "variants outputs"]:
    """Read each half of a state where it has just been made; the other half is that of the whole text.

    φ = v·tanh(W₁f·f + W₁b·b + bias), and the logits are Σ α (W_f·f + W_b·b) + bias: no state is laid out. With
    tanh x = 2σ(2x) − 1 the scores are 2v·σ, apart from a constant that normalising removes. Where states are
    only scored, what the words contribute stays as it was.
    """
    assert model.attention is not None
    vectors, project = model.attention.similarity.vector, model.attention.similarity.project_state
    output = model.decoder.output
    assert vectors is not None and isinstance(project, nn.Linear) and isinstance(output, nn.Linear)
    heads, halves = len(vectors), deletions.halves
    each = torch.eye(heads, dtype=vectors.dtype)
    vector = 2 * (vectors[..., None] * each[:, None]).flatten(0, 1)  # [heads · inner, heads]
    readout = output.weight.view(-1, output.in_features // heads)  # [outputs · heads, size]
    # Halves are h / 2, and what tanh reads is doubled.
    to_inner = [Product(4 * part.T) for part in project.weight.chunk(len(halves), dim=1)]
    inners = torch.stack([to(half) for half, to in zip(halves, to_inner, strict=True)])
    all_inner = inners.sum(0) + 2 * project.bias
    other_inner = all_inner - inners  # than that of each direction
    speaks = whole.rest is None
    to_effect = [2 * part.T for part in readout.chunk(len(halves), dim=1)]
    own_effects = (
        torch.stack([half @ to for half, to in zip(halves, to_effect, strict=True)])
        if speaks
        else (whole.h @ readout.T)[None]
    )
    all_effects = own_effects.sum(0)
    other_effects = all_effects - own_effects

    size = (len(gaps), *all_inner.shape[:2], -1)  # [gaps, batch, tokens, ...]
    scores = (all_inner.sigmoid() @ vector).expand(size).contiguous()
    effects = all_effects.expand(size).contiguous()
    for passed, place, d, half in deletions.changed(gaps):
        scores[passed, :, place] = to_inner[d](half).add_(other_inner[d, :, place]).sigmoid_() @ vector
        if speaks:
            effects[passed, :, place] = (half @ to_effect[d]).add_(other_effects[d, :, place])
    weights = model.normalise(scores.flatten(0, 1).transpose(1, 2), _mask_without(whole.mask, gaps))
    logits = torch.einsum("vhn,vnoh->vo", weights, effects.view(len(weights), effects.shape[2], -1, heads))
    return logits + output.bias


def _closed_form(model: AttentionModel, batch: Batch) -> Moved:
    """The context without item t is (Σ α_i h_i − α_t h_t) / (1 − α_t); not known where that is not accurate."""
    states = model.encode(model.embed(batch), batch)
    weights = model.normalise(model.score(states), states.mask)
    before = probabilities(model.decode(states, weights))
    context = torch.einsum("bhn,bnm->bhm", weights, states.h)
    rest = 1 - weights  # [batch, heads, items]
    part = torch.einsum("bhn,bnm->bnhm", weights, states.h)
    without = (context[:, None] - part) / rest.transpose(1, 2)[..., None].clamp(min=_LEAST_REST)
    after = probabilities(decode_contexts(model, states, without))
    known = (rest > _LEAST_REST).all(1) | ~states.mask
    return Moved(tvd(after, before[:, None]) * states.mask, known)
