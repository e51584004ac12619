"""States of recurrent encoders with embeddings, or the noise on them, multiplied by numbers: what tokens give to the gates is
computed once.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.data.instances import Batch
from heedful.models.encoders.recurrent import Recurrent
from heedful.models.model import AttentionModel
from heedful.models.shortcuts.recurrence import ScaledReading
from heedful.models.shorter import Scaled
from heedful.models.stages import States


def scaled_recurrent(
    model: AttentionModel,
    recurrent: Recurrent,
    batch: Batch,
    noise: Float[Tensor, "batch tokens dim"] | None = None,
) -> Scaled:
    """Give the states as a function of the numbers, without the gradient of every weight that the library's kernels add."""
    embedded, tokens, query = model.embed(batch).detach(), batch.tokens, None
    read = ScaledReading(recurrent, embedded, tokens.present, noise)
    if batch.query is not None:
        with torch.no_grad():
            query = model.encode(embedded, batch).query

    def states(scales: Float[Tensor, "readings tokens"]) -> States:
        times = len(scales) // len(batch)
        h = read(scales.view(times, len(batch), -1)).flatten(0, 1)
        again = (None if field is None else field.repeat(times, 1) for field in (query, batch.candidates))
        whole = States(h, tokens.mask.repeat(times, 1), *again)
        if model.encoder is recurrent:
            return whole
        moved = scales[..., None] * (embedded if noise is None else noise).repeat(times, 1, 1)
        if noise is not None:
            moved = moved + embedded.repeat(times, 1, 1)
        own = model.encoder(moved, tokens.present.repeat(times, 1))
        return replace(whole, h=own, rest=h)

    return states
