"""What an item says by itself: how far the prediction moves from that of the empty text when the item stands alone."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.data.instances import Batch
from heedful.explainers.explainer import EXPLAINERS
from heedful.explainers.reread import probabilities_without
from heedful.measures.divergence import tvd
from heedful.models.stages import Stages


@EXPLAINERS.register(
    "item_alone", "change of prediction (TVD) from the empty text to the item alone, all others deleted"
)
def item_alone(model: Stages, batch: Batch, *, seed: int) -> Float[Tensor, "batch items"]:
    """Read the empty text once for each text, and each item without the others."""
    with torch.no_grad():
        mask = model.encode(model.embed(batch), batch).mask
        rows, items = mask.nonzero(as_tuple=True)
        alone = torch.arange(mask.shape[1])[None, :] == items[:, None]
        each = torch.arange(len(mask))
        empty = probabilities_without(model, batch, each, torch.zeros_like(mask))
        said = probabilities_without(model, batch, rows, alone)
        moved = said.new_zeros(mask.shape)
        moved[rows, items] = tvd(said, empty[rows])
        return moved
