"""Adversarial training on attacked texts (FLAT, Equation 5): the same labels, for texts and what an attack made of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.config import ObjectiveOptions, TrainConfig
from heedful.data.attacked import AttackedTexts
from heedful.data.instances import Batch, Instances
from heedful.errors import BadInput
from heedful.models.classifier import Classifier
from heedful.models.model import AttentionModel
from heedful.training.objectives.objective import OBJECTIVES, Objective
from heedful.training.pairs import Pair, Pairs

ATTACKED = "attacked.parquet"
"""Where a run keeps the attacked texts it was trained with."""

Terms = dict[str, Float[Tensor, ""]]
# What may differ between a model and the one it begins as: masks are new to it, and dropout has no weights.
_NO_SHAPE = {"word_mask", "mask_groups", "embedding_dropout", "sentence_dropout", "decoder_dropout"}


@OBJECTIVES.register(
    "augmented", "adversarial training: the labels of texts and of attacked texts (FLAT, Eq. 5)"
)
class Augmented(Objective):
    """E over texts of cross-entropy + E over attacked texts of cross-entropy, from the weights of the model attacked.

    Every attacked text counts, as in the authors' code: where the attack failed the best it found, where it was skipped
    the text itself. Both expectations are means, however few of the texts were attacked.
    """

    options: ClassVar[tuple[str, ...]] = ("base", "attacked")
    requires_attacked: ClassVar[bool] = True
    """Whether there is nothing to train for without attacked texts."""

    def __init__(
        self,
        model: AttentionModel,
        class_weights: Float[Tensor, " classes"] | None = None,
        config: ObjectiveOptions | None = None,
    ) -> None:
        super().__init__(model, class_weights, config)
        self.texts: AttackedTexts | None = None
        self.pairs: Pairs | None = None
        self.seen: dict[str, float] = {}
        self.counts: dict[str, int] = {}

    @classmethod
    def check(cls, config: TrainConfig, classes: int) -> None:
        """There must be attacked texts, and the model that was attacked."""
        super().check(config, classes)
        if cls.requires_attacked if config.attacked is None else config.base is None:
            raise BadInput(
                f"The objective {config.objective} trains a model on texts that were attacked: name the model's run with --base and the texts with --attacked."
            )

    def prepare(self, splits: Mapping[str, Instances]) -> None:
        """Begin as the attacked model is, and read what became of its texts."""
        if self.config.base is None:
            return
        base = Classifier.from_pretrained(Path(self.config.base))
        begin_as(self.model, base.model, name=self.config.base)
        if self.config.attacked is None:
            return
        self.texts = AttackedTexts.read(Path(self.config.attacked))
        self.pairs = Pairs(splits["train"], self.texts, base.vocabulary, where=self.config.attacked)
        counts = ", ".join(f"{count} {status}" for status, count in self.texts.counts().items())
        self.notes.append(f"Trained on {len(self.texts)} attacked texts besides: {counts}.")

    def keep(self, folder: Path) -> None:
        """Keep the attacked texts with the run."""
        if self.texts is not None:
            self.texts.write(folder / ATTACKED)

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Add up what texts and attacked texts cost; both are means over all of their kind."""
        total = self._add_up(self.read(batch), len(batch))
        pair = None if self.pairs is None else self.pairs.of(batch)
        if self.pairs is None or pair is None:
            return total
        count = len(pair.attacked)
        attacked = {f"attacked_{name}": term for name, term in self.read(pair.attacked).items()}
        # A batch holds more or fewer attacked texts than its share: the mean over all of them is kept.
        share = count / (len(batch) * self.pairs.share)
        return total + share * self._add_up(attacked | self.compare(pair), count)

    def _add_up(self, terms: Terms, count: int) -> Float[Tensor, ""]:
        """Weigh terms that are means over so many texts, and note them for the log."""
        for name, term in terms.items():
            self.seen[name] = self.seen.get(name, 0.0) + count * float(term.detach())
            self.counts[name] = self.counts.get(name, 0) + count
        weights = {name: self.strength(name.removeprefix("attacked_")) for name in terms}
        return torch.stack([weights[name] * term for name, term in terms.items()]).sum()

    def read(self, batch: Batch) -> Terms:
        """What is asked for on texts of either kind, averaged over the batch."""
        return {"surprise": self.cross_entropy(self.model(batch).logits, batch)}

    def compare(self, pair: Pair) -> Terms:
        """What is asked for between a text and the attacked one."""
        return {}

    def strength(self, name: str) -> float:
        """How much a term counts."""
        return 1.0

    def epoch_means(self) -> dict[str, float]:
        """Means of the terms over the texts trained on since the last call."""
        means = {name: total / self.counts[name] for name, total in self.seen.items()}
        self.seen, self.counts = {}, {}
        return means


def begin_as(model: AttentionModel, base: AttentionModel, *, name: str) -> None:
    """Take over all weights of a model that reads in the same way; masks that it has not are new."""
    ours, theirs = (m.architecture.model_dump(exclude=_NO_SHAPE) for m in (model, base))
    masks = base.architecture.word_mask
    if ours != theirs or masks not in ("none", model.architecture.word_mask):
        raise BadInput(
            f"{name} has another shape than the model to be trained: give the same model options to both."
        )
    own = model.state_dict()
    model.load_state_dict(own | base.state_dict())
