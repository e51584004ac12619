"""Certified training: the label must win whatever words are replaced by their substitutes (Jia et al., 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor

from heedful.attacks.attack import ATTACKS
from heedful.attacks.draft import Source
from heedful.attacks.options import AttackOptions
from heedful.attacks.reach import substitutes
from heedful.checking import build
from heedful.config import ObjectiveOptions, TrainConfig
from heedful.data.batches import inference_batches
from heedful.data.instances import Batch, Instances
from heedful.data.words.synonym_files import is_synonym_file
from heedful.data.words.vocabulary import Vocabulary
from heedful.errors import BadInput
from heedful.measures.erasure import classes
from heedful.models.classifier import Classifier
from heedful.models.model import AttentionModel
from heedful.models.worst_logits import ABLE, boxes_of, can_be_bounded, worst_logits
from heedful.training.objectives.augmented import begin_as
from heedful.training.objectives.objective import OBJECTIVES, Objective, max_epochs

_WORDNET = "wordnet"
_ABLE_ENCODERS = ("cnn", "average", "none")


class CertifiedOptions(ObjectiveOptions):
    """What words may become, and how much that counts."""

    substitutes: str | None = Field(
        None,
        description="What may stand in the place of words (certified): counter-fitted vectors, a file of neighbours or synonyms, "
        "or wordnet.",
    )
    certainty: float = Field(
        0.8, gt=0, le=1, description="Share of the loss that is about all substitutes at once (certified)."
    )


@OBJECTIVES.register(
    "certified", "certified training: bounds over all substitutes of all words at once (Jia et al. 2019)"
)
class Certified(Objective):
    """(1 − κ) · cross-entropy + κ · cross-entropy of the worst logits that boxes around words and their substitutes allow.

    It begins as the vanilla model. Over the first half of the epochs the boxes grow from a point to their size, and κ with them:
    bounds of a model that was not trained for them say nothing, and teach nothing. Words have the substitutes that an attack would
    propose (TextFooler's neighbours, or PWWS's synonyms from WordNet), whatever their part of speech: more than it would use.
    """

    options: ClassVar[tuple[str, ...]] = ("base", "substitutes", "certainty")
    needs_vanilla = True
    # Accuracy alone would select an epoch before the boxes have grown.
    metric = "certified"
    max_epochs = 20
    patience_factor = 2

    def __init__(
        self,
        model: AttentionModel,
        class_weights: Float[Tensor, " classes"] | None = None,
        config: ObjectiveOptions | None = None,
    ) -> None:
        super().__init__(model, class_weights, config)
        self.choices: Int[Tensor, "words options"] | None = None
        self.grown = 0.0
        self.seen: list[tuple[float, float]] = []

    @classmethod
    def check(cls, config: TrainConfig, classes: int) -> None:
        """Bounds must be known for the model, and substitutes for the words."""
        super().check(config, classes)
        if (
            config.encoder not in _ABLE_ENCODERS
            or config.pooling not in ("max", "mean")
            or config.decoder != "linear"
            or config.hierarchical
        ):
            raise BadInput(f"The objective certified needs bounds of all states, which are known for {ABLE}.")
        named = getattr(config, "substitutes", None)
        if named is None:
            raise BadInput(
                "The objective certified must know what may stand in the place of words: give --substitutes FILE (counter-fitted "
                "vectors, neighbours or synonyms), or --substitutes wordnet."
            )
        if named != _WORDNET and not Path(named).expanduser().is_file():
            raise BadInput(f"There is no file {named} of substitutes: check the path, or use wordnet.")

    def prepare(self, splits: Mapping[str, Instances]) -> None:
        """Begin as the vanilla model, and look up what its words may become."""
        assert self.config.base is not None
        base = Classifier.from_pretrained(Path(self.config.base))
        begin_as(self.model, base.model, name=self.config.base)
        assert can_be_bounded(self.model)
        self.choices = choices_of(base.vocabulary, str(self.option("substitutes")))
        replaceable = (self.choices != self.choices[:, :1]).any(1)
        self.notes.append(
            f"{int(replaceable.sum()):,} of {len(replaceable):,} words have substitutes that the model tells apart."
        )

    def begin_epoch(self, epoch: int) -> None:
        """Grow the boxes."""
        epochs = max_epochs(self.config) if isinstance(self.config, TrainConfig) else self.max_epochs
        self.grown = min(1.0, (epoch + 1) / max(1, epochs // 2))

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Weigh what is said of the texts and what may be said of them at worst."""
        assert self.choices is not None
        clean = self.cross_entropy(self.model(batch).logits, batch)
        box = boxes_of(self.model, batch.tokens.ids, self.choices, share=self.grown)
        worst = self.cross_entropy(worst_logits(self.model, batch, box), batch)
        self.seen.append((float(clean.detach()), float(worst.detach())))
        certainty = self.grown * float(self.option("certainty"))
        return (1 - certainty) * clean + certainty * worst

    def evaluate(self, split: str, instances: Instances) -> dict[str, float]:
        """Performance, the share of texts that are right at worst, and the negative of the loss with whole boxes, which selects."""
        assert self.choices is not None
        self.model.eval()
        losses, certain = 0.0, 0
        with torch.no_grad():
            for rows in inference_batches(instances.lengths, 128):
                batch = instances.batch(rows)
                clean = self.cross_entropy(self.model(batch).logits, batch)
                leads = worst_logits(
                    self.model, batch, boxes_of(self.model, batch.tokens.ids, self.choices, share=1.0)
                )
                worst, certainty = self.cross_entropy(leads, batch), float(self.option("certainty"))
                losses += len(batch) * float((1 - certainty) * clean + certainty * worst)
                certain += int((classes(leads).argmax(-1) == batch.labels).sum())
        many = max(len(instances), 1)
        found = {"certified": -losses / many, "right_at_worst": certain / many}
        return found | super().evaluate(split, instances)

    def epoch_means(self) -> dict[str, float]:
        """Cross-entropy as it is, and at worst."""
        clean, worst = np.mean(self.seen, axis=0) if self.seen else (np.nan, np.nan)
        self.seen = []
        return {"surprise": float(clean), "worst": float(worst)}


def choices_of(vocabulary: Vocabulary, named: str) -> Int[Tensor, "words options"]:
    """Give the token ids that may stand in the place of every token, itself first; rows are filled up with itself.

    A substitute of several tokens cannot be bounded word by word, and is left out.
    """
    wordnet = named == _WORDNET
    given: dict[str, object] = {"recipe": "pwws" if wordnet else "textfooler"}
    if not wordnet:
        given["synonyms" if is_synonym_file(Path(named).expanduser()) else "vectors"] = named
        given |= {"similarity": False, "same_part_of_speech": False}
    attack = ATTACKS.get(str(given["recipe"]))(build(AttackOptions, given))
    sources = [(place, Source.cut(word)) for place, word in enumerate(vocabulary.words)]
    whole = [(place, source) for place, source in sources if list(source.words) == [vocabulary.words[place]]]
    found: list[list[int]] = [[place] for place in range(len(vocabulary))]
    for (place, _), options in zip(whole, substitutes(attack, [source for _, source in whole]), strict=True):
        tokens = vocabulary.encode(options[0])
        ends = tokens.rows.tolist()
        ids = tokens.ids.tolist()
        found[place] += [ids[a] for a, b in pairwise(ends) if b == a + 1]
    rows = [list(dict.fromkeys(row)) for row in found]
    most = max(map(len, rows))
    return torch.tensor([row + [row[0]] * (most - len(row)) for row in rows])
