"""Word masks as scores: how much of each word the model lets through, in every text alike."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.data.instances import Batch
from heedful.errors import BadInput
from heedful.explainers.explainer import EXPLAINERS, item_of, needs, sum_by_item
from heedful.models.stages import Masked, Stages


@EXPLAINERS.register(
    "word_mask", "global importance: how likely a word is let through by the model's word masks (FLAT)"
)
@needs("embeddings")
def word_mask(model: Stages, batch: Batch, *, seed: int) -> Float[Tensor, "batch items"]:
    """Give the expectation of each word's mask; of a sentence, the mean over its words."""
    with torch.no_grad():
        importance = model.importance(batch) if isinstance(model, Masked) else None
        if importance is None:
            raise BadInput(
                "This model has no word masks, and so no global importance of words: train one with --word-mask word."
            )
        states = model.encode(model.embed(batch), batch)
        items = item_of(model, batch)
        words = sum_by_item(torch.ones_like(importance), items, states).clamp(min=1)
        return sum_by_item(importance, items, states) / words
