"""Explain a classifier's decisions on texts, by the name of an explainer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from heedful.data.batches import inference_batches
from heedful.explainers.explainer import check_access
from heedful.models.prediction import Prediction, Predictions, read_predictions, read_texts
from heedful.models.stages import Auditable, Opaque, probabilities


def explain(
    classifier: Auditable,
    texts: Any,
    name: str | None = None,
    *,
    queries: Sequence[str] | None = None,
    seed: int = 0,
    batch_size: int = 64,
) -> Predictions:
    """Classify texts and give every item a score; `items` of each prediction holds the scores.

    Without a name that is attention, and leave-one-out where predictions alone are known.
    """
    if name is None:
        name = "leave_one_out" if isinstance(classifier.model, Opaque) else "attention"
    explainer = check_access(name, classifier.model)
    instances = read_texts(classifier, texts, queries)
    model = classifier.model.eval()
    explained: dict[int, Prediction] = {}
    for rows in inference_batches(instances.lengths, batch_size):
        batch = instances.batch(rows)
        scores = explainer(model, batch, seed=seed)
        with torch.no_grad():
            states = model.encode(model.embed(batch), batch)
            predicted = probabilities(model.decode(states, model.attend(states)))
        found = read_predictions(batch, states, scores[:, None], predicted, classifier.labels)
        if name != "attention":  # only attention divides a sentence's weight among its words
            found = [replace(prediction, words=()) for prediction in found]
        explained |= dict(zip(rows.tolist(), found, strict=True))
    return Predictions((explained[row] for row in range(len(instances))), scored_by=name)
