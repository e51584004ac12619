"""Value zeroing: how far vectors turn, layer by layer, if a token has nothing to say."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.data.instances import Batch
from heedful.explainers.explainer import EXPLAINERS, layered_of, of_layers
from heedful.explainers.layer_attention import where_read
from heedful.explainers.rollout import rolled_out
from heedful.models.stages import Stages


@EXPLAINERS.register(
    "value_zeroing",
    "how far a layer's vectors turn if a token's value is zero, rolled out (Mohebbi et al. 2023)",
)
@of_layers
def value_zeroing(model: Stages, batch: Batch, *, seed: int) -> Float[Tensor, "batch items"]:
    """Cosine distances, made to sum to one in each row, multiplied over the layers; every layer runs once more for each token."""
    layered = layered_of(model, "value_zeroing")
    with torch.no_grad():
        flows = [turned.clamp(min=0) for turned in layered.without_values(batch)]
    real = batch.tokens.present[:, None]
    shares = [_rows_of_one(flow * real) for flow in flows]
    return where_read(rolled_out(shares), layered.layers(batch), batch)


def _rows_of_one(flow: Float[Tensor, "batch tokens tokens"]) -> Float[Tensor, "batch tokens tokens"]:
    """Make rows sum to one; a vector that no token turns stays as it is."""
    total = flow.sum(-1, keepdim=True)
    stays = torch.eye(flow.shape[-1], dtype=flow.dtype).expand_as(flow)
    return torch.where(total > 0, flow / total.clamp(min=torch.finfo(flow.dtype).tiny), stays)
