"""Which items of a split are marked as evidence: found once, and looked up batch by batch."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from heedful.data.batches import inference_batches
from heedful.data.instances import Instances
from heedful.explainers.explainer import item_of
from heedful.models.model import AttentionModel


class EvidenceMarks:
    """Marked items of all texts one after the other: words, or sentences in which any word is marked."""

    def __init__(self, model: AttentionModel, instances: Instances, *, batch_size: int = 128) -> None:
        self.widths = torch.zeros(len(instances), dtype=torch.long)
        self.starts = torch.zeros(len(instances), dtype=torch.long)
        if instances.split.evidence is None:
            self.flat = torch.zeros(1, dtype=torch.bool)
            return
        flat, total = [], 0
        for rows in map(torch.from_numpy, inference_batches(instances.lengths, batch_size)):
            of = item_of(model, instances.batch(rows.numpy()))
            tokens = instances.evidence(rows.numpy()) & (of >= 0)
            items = max(int(of.max()) + 1, 1)
            counts = torch.zeros(len(rows), items, dtype=torch.long)
            counts.scatter_add_(1, of.clamp(min=0), tokens.long())
            self.widths[rows], self.starts[rows] = items, total + items * torch.arange(len(rows))
            flat.append((counts > 0).flatten())
            total += counts.numel()
        self.flat = torch.cat(flat)

    def of(self, rows: Int[Tensor, " batch"], items: int) -> Bool[Tensor, "batch items"]:
        """Return the marks of some rows, laid out like a batch of that width."""
        places = torch.arange(items)[None]
        known = places < self.widths[rows][:, None]
        return self.flat[torch.where(known, self.starts[rows][:, None] + places, 0)] & known
