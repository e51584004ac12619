"""What objectives share that learn from the labels and optionally from the predictions of a teacher of any kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.config import ObjectiveOptions
from heedful.data.instances import Batch, Instances
from heedful.errors import BadInput
from heedful.measures.divergence import kl
from heedful.models.classifier import Classifier
from heedful.models.model import AttentionModel, probabilities
from heedful.models.stages import States
from heedful.training.evaluation import predict_logits
from heedful.training.objectives.objective import Objective

Terms = dict[str, Float[Tensor, ""]]
_TINY = 1e-12


@dataclass(frozen=True)
class ForwardPass:
    """A batch with everything computed on the way to its logits."""

    batch: Batch
    states: States
    weights: Float[Tensor, "batch heads items"]
    logits: Float[Tensor, "batch outputs"]


class Distilled(Objective):
    """Cross-entropy + λ₀ · KL(teacher, ours) + what a subclass adds; without a teacher there is no second term.

    A small model that may be shown learns to answer as well as a large one that may not. The teacher runs once, with its
    own vocabulary, and only its predictions are kept.
    """

    options: ClassVar[tuple[str, ...]] = ("base", "closeness")
    defaults: ClassVar[Mapping[str, float]] = {"closeness": 1.0}
    needs_attention = True
    shares_vocabulary = False

    def __init__(
        self,
        model: AttentionModel,
        class_weights: Float[Tensor, " classes"] | None = None,
        config: ObjectiveOptions | None = None,
    ) -> None:
        super().__init__(model, class_weights, config)
        self.teacher_probabilities: Float[Tensor, "instances classes"] | None = None
        self.term_sums: dict[str, float] = {}
        self.count = 0

    def prepare(self, splits: Mapping[str, Instances]) -> None:
        """Let the teacher, if there is one, read the training texts."""
        if self.config.base is None:
            return
        teacher = Classifier.from_pretrained(Path(self.config.base))
        theirs, ours = teacher.model.architecture, self.model.architecture
        if (theirs.classes, theirs.query) != (ours.classes, ours.query):
            raise BadInput(
                f"{self.config.base} was trained for another task: name a run on the same data with --base."
            )
        read = teacher.instances(splits["train"].split)
        with torch.no_grad():
            self.teacher_probabilities = probabilities(predict_logits(teacher.model, read))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Add up cross-entropy, distance to the teacher and the terms of the subclass."""
        states = self.model.encode(self.model.embed(batch), batch)
        weights = self.model.normalise(self.model.score(states), states.mask)
        read = ForwardPass(batch, states, weights, self.model.decode(states, weights))
        terms = {"surprise": self.cross_entropy(read.logits, batch)}
        if self.teacher_probabilities is not None:
            ours = probabilities(read.logits).clamp(min=_TINY)
            terms["closeness"] = kl(self.teacher_probabilities[batch.rows], ours).mean()
        terms |= self.terms(read)
        self.count += len(batch)
        for name, term in terms.items():
            self.term_sums[name] = self.term_sums.get(name, 0.0) + len(batch) * float(term.detach())
        return torch.stack([self.strength(name) * term for name, term in terms.items()]).sum()

    def terms(self, read: ForwardPass) -> Terms:
        """The additional terms, by the name of the option that is their weight."""
        raise TypeError(f"{type(self).__name__} has no terms")

    def strength(self, name: str) -> float:
        """Return the weight of a term."""
        return 1.0 if name == "surprise" else float(self.option(name))

    def epoch_means(self) -> dict[str, float]:
        """Means of the terms over the texts trained on since the last call."""
        means = {name: total / self.count for name, total in self.term_sums.items()}
        self.term_sums, self.count = {}, 0
        return means
