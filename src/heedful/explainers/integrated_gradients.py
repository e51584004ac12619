"""Integrated gradients (captum), from the zero embedding to the text's own, for many texts at a time.

captum integrates over one number per token, which its embedding is multiplied by: from 0 to 1 these take the text
along the same straight line, and ∫ ∂ŷ/∂s ds is ∫ ∂ŷ/∂e · e ds, the sum over the embedding's dimensions.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.data.instances import Batch
from heedful.explainers.explainer import (
    EXPLAINERS,
    item_of,
    mirrored,
    needs,
    probability_of,
    sum_by_item,
)
from heedful.models.shorter import scaled, smooth
from heedful.models.stages import Stages, probabilities

STEPS = 50

# Gauss–Legendre's rule gains digits with every step where the path is smooth: for most texts a few steps give
# what STEPS of them do. Shares must add up to the whole change; texts where they do not get more steps.
_FEWER_STEPS, _ROUNDING = (16, 24), 1e-6

_TOKENS = 5120  # of all steps together; more of them fall out of the processor's cache and take longer


@EXPLAINERS.register(
    "integrated_gradients", "integrated gradients of the decision from zero embeddings (captum)"
)
@needs("embeddings")
@mirrored
def integrated_gradients(
    model: Stages, batch: Batch, *, seed: int, classes: Int[Tensor, " batch"] | None = None
) -> Float[Tensor, "batch items"]:
    """Give each item's share, signed, of the class's probability beyond that of the empty embeddings.

    The class is the decided one where none is given.
    """
    with torch.no_grad():
        embedded = model.embed(batch)
        states, nothing = (model.encode(end, batch) for end in (embedded, torch.zeros_like(embedded)))
        predicted = probabilities(model.decode(states, model.attend(states)))
        classes = predicted.argmax(-1) if classes is None else classes
        probability = predicted.gather(-1, classes[:, None])[:, 0]
        gained = probability - probability_of(model.decode(nothing, model.attend(nothing)), classes)
    shares = torch.zeros_like(embedded[..., 0])
    lengths = batch.tokens.present.sum(1)
    left = lengths.argsort(descending=True, stable=True)  # texts of like length go together
    for steps in (*_FEWER_STEPS, STEPS) if smooth(model) else (STEPS,):
        again = left
        while len(left):
            tokens = max(int(lengths[left[0]]), 1)
            rows, left = left.tensor_split([max(1, _TOKENS // (steps * tokens))])
            shares[rows, :tokens] = _integrate(model, _part(batch, rows, tokens), classes[rows], steps)
        left = again[((shares.sum(1) - gained).abs() > _ROUNDING)[again]]
    return sum_by_item(shares, item_of(model, batch), states)


def _part(batch: Batch, rows: Int[Tensor, " part"], tokens: int) -> Batch:
    """Some texts, without the columns that none of them needs."""
    part = batch.take(rows)
    t = part.tokens
    fields = {name: getattr(t, name)[:, :tokens] for name in ("ids", "mask", "present", "offsets", "word_of")}
    sentence_of, shift = (None if f is None else f[:, :tokens] for f in (t.sentence_of, t.shift))
    return replace(part, tokens=replace(t, **fields, sentence_of=sentence_of, shift=shift))


def _integrate(
    model: Stages, batch: Batch, classes: Int[Tensor, " batch"], steps: int
) -> Float[Tensor, "batch tokens"]:
    from captum.attr import IntegratedGradients

    states_of = scaled(model, batch)

    def probability_at(scales: Tensor) -> Tensor:
        states = states_of(scales)
        return probability_of(
            model.decode(states, model.attend(states)), classes.repeat(len(scales) // len(batch))
        )

    size, tokens = batch.tokens.ids.shape
    at_once = max(size, 4 * _TOKENS // tokens)  # of a very long text, some steps at a time: memory is bounded
    whole = model.embed(batch).detach().new_ones(size, tokens)
    shares: Tensor = IntegratedGradients(probability_at).attribute(
        whole, n_steps=steps, internal_batch_size=at_once if at_once < size * steps else None
    )
    return shares.detach().to(whole.dtype)
