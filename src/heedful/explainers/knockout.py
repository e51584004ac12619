"""Attention knocked out: how far the prediction moves if no layer may attend to a word."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.data.instances import Batch
from heedful.data.words.substitution import words_of
from heedful.explainers.explainer import EXPLAINERS, layered_of, of_layers
from heedful.measures.divergence import tvd
from heedful.models.shorter import read
from heedful.models.stages import Stages, probabilities


@EXPLAINERS.register(
    "knockout", "change of prediction (TVD) if no layer may attend to the word (transformers)"
)
@of_layers
def knockout(model: Stages, batch: Batch, *, seed: int) -> Float[Tensor, "batch items"]:
    """Hide each word in turn from the attention of all layers; its pieces share the change equally."""
    layered = layered_of(model, "knockout")
    words, mask = words_of(batch.tokens), batch.tokens.mask
    counts = words.amax(1) + 1
    rows = torch.repeat_interleave(torch.arange(len(counts)), counts)
    numbers = torch.cat([torch.arange(count) for count in counts.tolist()]) if len(rows) else rows
    gone = (words[rows] == numbers[:, None]) & mask[rows]
    with torch.no_grad():
        before = probabilities(read(model, batch).logits)
        after = probabilities(layered.knocked_out(batch, rows, gone))
    moved = tvd(after, before[rows]) / gone.sum(1).clamp(min=1)
    scores = before.new_zeros(mask.shape)
    scores.index_put_((rows,), moved[:, None].to(scores) * gone, accumulate=True)
    return scores
