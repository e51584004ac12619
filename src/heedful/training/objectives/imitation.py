"""A twin that predicts as its base does while attending elsewhere (AtteFa, Equation 4; Wiegreffe & Pinter)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from heedful.config import ObjectiveOptions
from heedful.data.batches import inference_batches
from heedful.data.instances import Batch, Instances
from heedful.declared import complete
from heedful.errors import BadInput
from heedful.measures.divergence import LN_2, tvd
from heedful.measures.heads import matched_jsd
from heedful.measures.performance import performance
from heedful.models.classifier import Classifier
from heedful.models.model import AttentionModel, probabilities
from heedful.models.shorter import read
from heedful.models.stages import Output
from heedful.runs import Run
from heedful.training.objectives.objective import OBJECTIVES, Objective
from heedful.training.recorded import Recorded

_TINY = 1e-10  # the paper's ε inside the logarithms of KL
EPOCHS, PATIENCE = 80, 10


class Distances(NamedTuple):
    """How far a twin is from its base on each text of a batch."""

    tvd: Float[Tensor, " batch"]
    """Between predictions, over all classes: in [0, 1]."""
    jsd: Float[Tensor, " batch"]
    """Between heatmaps, divided by its largest value: in [0, 1]."""
    divergence: Float[Tensor, " batch"]
    """What the objective maximises: the same JSD, or KL."""


class ImitationOptions(ObjectiveOptions):
    """Options of this objective only."""

    divergence: Literal["jsd", "kl"] = Field(
        "jsd",
        description="How far attention is from the base's: AtteFa's JSD, or Wiegreffe & Pinter's KL (imitation).",
    )
    select_on: Literal["dev", "test"] = Field(
        "dev", description="Split that selects a twin's epoch; test follows the AtteFa paper (imitation)."
    )


@OBJECTIVES.register("imitation", "predict as --base does while attending elsewhere (AtteFa, Equation 4)")
class ImitationObjective(Objective):
    """sTVD − λ · sJSD to a base model, text by text; with `--divergence kl`, TVD − λ · KL.

    TVD is over all classes (½Σ|Δp|), which is AtteFa's TVD / 0.5 for two: it lies in [0, 1] for any number of
    classes. Heads are matched before they are compared.
    """

    options = ("base", "divergence", "strength", "select_on")
    config: ImitationOptions
    metric = "imitation"
    needs_attention = True

    @property
    def select_on(self) -> str:
        """As the user chose."""
        return self.config.select_on

    def prepare(self, splits: Mapping[str, Instances]) -> None:
        """Run the base once over every split; it is never run again, and never changed."""
        base = load_base(self.config.base)
        _check_twins(base.model, self.model)
        self.recorded = {name: Recorded(base.model, instances) for name, instances in splits.items()}
        self.train = self.recorded["train"]

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean over texts of how far predictions are apart, minus how far attention is."""
        apart = self.compare(read(self.model, batch), batch, self.train)
        return (apart.tvd - self.config.strength * apart.divergence).mean()

    def compare(self, output: Output, batch: Batch, base: Recorded) -> Distances:
        """Prediction and attention against the base's, text by text."""
        assert output.weights is not None
        theirs = base.weights(batch.rows, output.weights.shape[-1])
        moved = tvd(probabilities(output.logits), base.probabilities[batch.rows])
        jsd = matched_jsd(output.weights, theirs) / LN_2
        if self.config.divergence == "jsd":
            return Distances(moved, jsd, jsd)
        # Masked items weigh nothing in both, so that their logarithms never count.
        logs = (output.weights + _TINY).log() - (theirs + _TINY).log()
        return Distances(moved, jsd, (output.weights * logs).sum(-1).mean(1))

    def evaluate(self, split: str, instances: Instances) -> dict[str, float]:
        """Return the loss of the split's averages, by which the paper selects; `imitation` is its negative."""
        self.model.eval()
        base, parts = self.recorded[split], []
        predicted = torch.zeros(len(instances), instances.classes)
        with torch.no_grad():
            for rows in map(torch.from_numpy, inference_batches(instances.lengths, 128)):
                batch = instances.batch(rows.numpy())
                output = read(self.model, batch)
                parts.append(self.compare(output, batch, base))
                predicted[rows] = probabilities(output.logits)
        mean = {
            name: float(torch.cat([getattr(part, name) for part in parts]).mean())
            for name in Distances._fields
        }
        return {
            "imitation": self.config.strength * mean["divergence"] - mean["tvd"],
            **mean,
            **performance(instances.split.labels, predicted.double().numpy()),
        }


def load_base(run: str | None) -> Classifier:
    """Load the model that is imitated."""
    if run is None:
        raise BadInput("The objective imitation needs a model to imitate: name its run with --base.")
    return Classifier.from_pretrained(Path(run))


def twin_defaults(run: str | None) -> dict[str, Any]:
    """A twin is built and trained as its base was, but longer: at most 80 epochs, patience 10."""
    if run is None:
        raise BadInput("The objective imitation needs a model to imitate: name its run with --base.")
    known = complete(ObjectiveOptions).model_fields
    config = {name: value for name, value in Run(Path(run)).config().items() if name not in known}
    return config | {"epochs": EPOCHS, "patience": PATIENCE}


def _check_twins(base: AttentionModel, twin: AttentionModel) -> None:
    """Refuse a twin that does not read the same items or give the same classes."""
    for name in ("vocabulary_size", "classes", "hierarchical", "heads", "query"):
        theirs, ours = getattr(base.architecture, name), getattr(twin.architecture, name)
        if theirs != ours:
            raise BadInput(
                f"A twin must read as its base does, and {name.replace('_', ' ')} is {ours} against the base's {theirs}."
            )
