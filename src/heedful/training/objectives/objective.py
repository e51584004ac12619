"""What an objective is: the loss of a batch, its options, and how long it is trained."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from heedful.config import ObjectiveOptions, TrainConfig
from heedful.data.instances import Batch, Instances
from heedful.declared import complete
from heedful.errors import BadInput
from heedful.models.model import AttentionModel
from heedful.registry import Registry, member_of
from heedful.training.evaluation import evaluate


class Objective:
    """The loss of a batch. Subclasses override `loss`, and rarely anything else."""

    options: ClassVar[tuple[str, ...]] = ()
    """Options that it reads. One that no other objective reads is declared in its own file (see heedful.declared)."""
    config: ObjectiveOptions
    defaults: ClassVar[Mapping[str, Any]] = {}
    """Values of its options if the user gives none; they are written into the run's config."""
    transformer_defaults: ClassVar[Mapping[str, Any]] = {}
    """Values that differ if the encoder is a transformer."""
    model_defaults: ClassVar[Mapping[str, Any]] = {}
    """Options of the model that it cannot do without, where the user gives none."""
    formerly: ClassVar[str | None] = None
    """The name it had before: its runs go on by that name, so that earlier ones are found."""
    metric: ClassVar[str | None] = None
    """The metric that selects the epoch, if that is not the dataset's metric."""
    needs_attention: ClassVar[bool] = False
    """Whether it needs attention to work on."""
    max_learning_rate: ClassVar[float] = math.inf
    """A larger learning rate is lowered to this, for an objective that begins with a trained model."""
    max_epochs: ClassVar[int] = 8
    """Largest number of passes over train, if the user gives no `epochs`."""
    patience_factor: ClassVar[int] = 1
    """How many times longer than `patience` it waits for a better epoch, if the selecting metric goes up and down."""
    shares_vocabulary: ClassVar[bool] = True
    """Whether it is compared with `base` item by item, and so must split texts into the same words."""
    needs_vanilla: ClassVar[bool] = False
    """Whether it needs a vanilla model, which is found or trained if the option `base` names none."""

    def __init__(
        self,
        model: AttentionModel,
        class_weights: Float[Tensor, " classes"] | None = None,
        config: ObjectiveOptions | None = None,
    ) -> None:
        self.model = model
        self.class_weights = class_weights
        self.config = config or complete(ObjectiveOptions)()
        self.notes: list[str] = []
        """What a reader of the run should know; `prepare` adds to them."""

    @property
    def select_on(self) -> str:
        """The split that selects the epoch."""
        return "dev"

    @classmethod
    def check(cls, config: TrainConfig, classes: int) -> None:
        """Refuse options that this objective does not allow, before anything is written."""
        if cls.needs_attention and config.pooling != "attention":
            raise BadInput(
                f"The objective {config.objective} is about attention: use --pooling attention, or another objective."
            )

    @classmethod
    def check_texts(cls, config: TrainConfig, train: Instances) -> None:
        """Refuse options that these texts do not allow, before anything is trained or written."""

    @classmethod
    def defaults_for(cls, encoder: str) -> dict[str, Any]:
        """Return its defaults for a model with this encoder."""
        pretrained = member_of("hf", encoder) is not None
        return {**cls.defaults, **(cls.transformer_defaults if pretrained else {})}

    def option(self, name: str) -> Any:
        """Return what the user chose for an option, or the objective's default."""
        given = getattr(self.config, name)
        return self.defaults_for(self.model.architecture.encoder).get(name) if given is None else given

    def prepare(self, splits: Mapping[str, Instances]) -> None:
        """Compute once what every step needs, before the first epoch."""

    def keep(self, folder: Path) -> None:
        """Write into the run's folder what it should hold besides the model."""

    def begin_epoch(self, epoch: int) -> None:
        """Compute what all steps of an epoch need; epochs are counted from 0."""

    def evaluate(self, split: str, instances: Instances) -> dict[str, float]:
        """Measure the model on a split, one of those it was prepared for; `metric` is among the results."""
        return evaluate(self.model, instances)

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Compute the loss that one step lowers."""
        raise TypeError(f"{type(self).__name__} has no loss")

    def epoch_means(self) -> dict[str, float]:
        """Means over the texts of the epoch that has just been trained, for the log."""
        return {}

    def trainable_parameters(self) -> Iterable[tuple[str, nn.Parameter]]:
        """Return the parameters that the optimiser may change."""
        return ((name, p) for name, p in self.model.named_parameters() if p.requires_grad)

    def cross_entropy(self, logits: Float[Tensor, "batch outputs"], batch: Batch) -> Float[Tensor, ""]:
        """Cross-entropy to the labels: of a sigmoid for two classes, of a softmax for more."""
        if logits.shape[-1] > 1:
            return nn.functional.cross_entropy(logits, batch.labels, weight=self.class_weights)
        targets = batch.labels.to(logits.dtype)
        weight = None if self.class_weights is None else self.class_weights[batch.labels]
        return nn.functional.binary_cross_entropy_with_logits(logits[:, 0], targets, weight=weight)


OBJECTIVES: Registry[type[Objective]] = Registry("objective", __package__)


def max_epochs(config: TrainConfig) -> int:
    """Return the largest number of passes over train: the user's choice, or the objective's default."""
    return config.epochs or OBJECTIVES.get(config.objective).max_epochs


def rarity_weights(labels: Tensor, classes: int) -> Float[Tensor, " classes"]:
    """Weight classes by rarity: N₋/N₊ on the positive of two (Jain & Wallace), N/(K·N_k) for more."""
    counts = torch.bincount(labels, minlength=classes).clamp(min=1).float()
    if classes == 2:
        return torch.stack([torch.tensor(1.0), counts[0] / counts[1]])
    return counts.sum() / (classes * counts)
