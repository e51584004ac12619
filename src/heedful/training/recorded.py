"""What a model predicts for a split and where it attends, computed once and looked up batch by batch."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from heedful.data.batches import inference_batches
from heedful.data.instances import Batch, Instances
from heedful.models.model import AttentionModel, probabilities
from heedful.models.shorter import read


class Recorded:
    """Predictions and number of items of every row, and weights of all texts one after the other."""

    def __init__(self, model: AttentionModel, instances: Instances, *, batch_size: int = 128) -> None:
        model.eval()
        self.probabilities = torch.zeros(len(instances), instances.classes)
        self.widths = torch.zeros(len(instances), dtype=torch.long)
        self.starts = torch.zeros(len(instances), dtype=torch.long)
        self.items = torch.zeros(len(instances), dtype=torch.long)
        flat, total = [], 0
        with torch.no_grad():
            for rows in map(torch.from_numpy, inference_batches(instances.lengths, batch_size)):
                output = read(model, chosen := instances.batch(rows.numpy()))
                assert output.weights is not None
                batch, _, items = output.weights.shape
                self.probabilities[rows] = probabilities(output.logits)
                self.widths[rows], self.items[rows] = items, model.items(chosen)
                self.starts[rows] = total + items * torch.arange(batch)
                flat.append(output.weights.transpose(1, 2).flatten(0, 1))  # [batch · items, heads]
                total += batch * items
        self.flat = torch.cat(flat)

    def weights(self, rows: Int[Tensor, " batch"], items: int) -> Float[Tensor, "batch heads items"]:
        """Return the weights of some rows, laid out like a batch of that width."""
        places = torch.arange(items)[None]
        real = places < self.widths[rows][:, None]
        found = self.flat[torch.where(real, self.starts[rows][:, None] + places, 0)]
        return (found * real[..., None]).transpose(1, 2)


class RecordedBatch:
    """The same for a single batch that belongs to no split; its rows are counted from 0."""

    def __init__(self, model: AttentionModel, batch: Batch) -> None:
        with torch.no_grad():
            output = model(batch)
        assert output.weights is not None
        self.probabilities = probabilities(output.logits)
        self.all: Float[Tensor, "batch heads items"] = output.weights

    def weights(self, rows: Int[Tensor, " batch"], items: int) -> Float[Tensor, "batch heads items"]:
        """Weights of some rows of the batch."""
        assert items == self.all.shape[-1]
        return self.all[rows]
