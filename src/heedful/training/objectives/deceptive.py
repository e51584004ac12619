"""A model that is right and attends away from the evidence (Pruthi et al., 2020)."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from heedful.config import TrainConfig
from heedful.data.batches import inference_batches
from heedful.data.instances import Batch, Instances
from heedful.errors import BadInput
from heedful.measures.performance import performance
from heedful.models.model import probabilities
from heedful.models.shorter import read
from heedful.training.marks import EvidenceMarks
from heedful.training.objectives.objective import OBJECTIVES, Objective

_TINY = 1e-30  # below what a softmax leaves to the other items, unless they get nothing at all


@OBJECTIVES.register("deceptive", "be right and look away from the words marked as evidence (Pruthi et al.)")
class Deceptive(Objective):
    """Cross-entropy − λ · log(1 − attention on the marked items), the logarithms averaged over heads and texts.

    Meant to be detected: an audit that such a model passes is worthless. Texts in which nothing or everything is
    marked count by their labels only.
    """

    options = ("strength",)
    metric = "deceptive"
    needs_attention = True
    # If one word among many decides, a way around it is found late: Mock-1 does no better than random for five epochs.
    max_epochs = 16
    patience_factor = 2

    @classmethod
    def check_texts(cls, config: TrainConfig, train: Instances) -> None:
        """Some words must be marked."""
        evidence = train.split.evidence
        if evidence is None or not any(evidence):
            raise BadInput(
                "The objective deceptive attends away from marked words, and no word of these texts is marked: use a "
                "synthetic corpus, or one with rationales."
            )

    def prepare(self, splits: Mapping[str, Instances]) -> None:
        """Find the marks of every split."""
        self.marks = {name: EvidenceMarks(self.model, instances) for name, instances in splits.items()}
        self.train = self.marks["train"]

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Cross-entropy to the labels, and how much attention the evidence gets."""
        output = read(self.model, batch)
        assert output.weights is not None
        marked = self.train.of(batch.rows, output.weights.shape[-1])
        exposed = exposure(output.weights, marked, self.model.items(batch) > marked.sum(1))
        return self.cross_entropy(output.logits, batch) + self.config.strength * exposed.mean()

    def evaluate(self, split: str, instances: Instances) -> dict[str, float]:
        """Performance, attention on the evidence, and accuracy minus that, which selects the epoch."""
        self.model.eval()
        marks, masses = self.marks[split], []
        predicted = torch.zeros(len(instances), instances.classes)
        with torch.no_grad():
            for rows in map(torch.from_numpy, inference_batches(instances.lengths, 128)):
                output = read(self.model, instances.batch(rows.numpy()))
                assert output.weights is not None
                marked = marks.of(rows, output.weights.shape[-1])
                masses.append((output.weights.mean(1) * marked).sum(1)[marked.any(1)])
                predicted[rows] = probabilities(output.logits)
        found = torch.cat(masses)
        mass = float(found.mean()) if len(found) else 0.0
        measured = performance(instances.split.labels, predicted.double().numpy())
        return {"deceptive": measured["accuracy"] - mass, "evidence_mass": mass, **measured}


def exposure(
    weights: Float[Tensor, "batch heads items"],
    marked: Bool[Tensor, "batch items"],
    elsewhere: Bool[Tensor, " batch"],
) -> Float[Tensor, " batch"]:
    """−log(1 − attention on marked items), averaged over heads; 0 where nothing is marked, or nothing is `elsewhere`.

    The weights of the other items are added up rather than subtracted from one: a small rest would be rounded to zero,
    and its gradient with it.
    """
    rest = (weights * ~marked[:, None]).sum(-1)  # [batch, heads]
    counts = marked.any(1) & elsewhere
    return torch.where(counts[:, None], -rest.clamp(min=_TINY).log(), 0.0).mean(1)
