"""Run a model over a whole split."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from heedful.data.batches import inference_batches
from heedful.data.instances import Instances
from heedful.measures.performance import performance
from heedful.models.model import AttentionModel, probabilities


def predict_logits(
    model: AttentionModel, instances: Instances, *, batch_size: int = 128
) -> Float[Tensor, "instances outputs"]:
    """Logits of every instance, in the order of the split whatever the batches were."""
    model.eval()
    parts, places = [], []
    with torch.inference_mode():
        for rows in inference_batches(instances.lengths, batch_size):
            parts.append(model(instances.batch(rows)).logits)
            places.append(rows)
    order = torch.from_numpy(np.argsort(np.concatenate(places)))
    return torch.cat(parts)[order]


def evaluate(model: AttentionModel, instances: Instances) -> dict[str, float]:
    """Measure a model on a split: accuracy, F1, macro-F1, ROC-AUC."""
    predicted = probabilities(predict_logits(model, instances).double())
    return performance(instances.split.labels, predicted.numpy())
