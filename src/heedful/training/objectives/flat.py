"""FLAT: the same predictions on texts and attacked texts, from words that count the same (Chen & Ji, 2022)."""

from __future__ import annotations

from typing import ClassVar

from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from heedful.config import ObjectiveOptions, TrainConfig
from heedful.data.instances import Batch
from heedful.errors import BadInput
from heedful.models.word_mask import WordMask, entropy
from heedful.training.objectives.augmented import Augmented, Terms
from heedful.training.objectives.objective import OBJECTIVES
from heedful.training.pairs import Pair


class FlatOptions(ObjectiveOptions):
    """The paper's best for an LSTM on sst2 (Table 5): the only values that it gives."""

    beta: float = Field(
        0.1, ge=0, description="Weight of the entropy of the word masks (β of flat); 0 leaves it out."
    )
    gamma: float = Field(
        0.001,
        ge=0,
        description="Weight of replaced words and their substitutes being equally important (γ of flat); 0 leaves it out.",
    )


@OBJECTIVES.register(
    "flat", "adversarial training with word masks: a word and its substitute count the same (FLAT, Eq. 1–4)"
)
class Flat(Augmented):
    """Σ over texts and attacked texts of E[cross-entropy − β · H(W)] + γ · E over pairs of Σ |φ − φ′|.

    W are the masks, φ their probabilities. The sum is over replaced words and their substitutes alone; a word of
    several pieces has the mean of theirs. φ is read without dropout and without drawing masks, so that the
    same words differ by nothing. H is the mean over a text's words, as in the authors' code, by which β was chosen; the
    paper's sum would weigh words of long texts as many times more. Neither padding nor special tokens are in it.

    Without attacked texts it trains the masks alone, which is Chen & Ji (2020).
    """

    options: ClassVar[tuple[str, ...]] = ("base", "attacked", "beta", "gamma")
    model_defaults: ClassVar = {"word_mask": "word"}

    requires_attacked = False

    @classmethod
    def check(cls, config: TrainConfig, classes: int) -> None:
        """There must be masks with probabilities."""
        super().check(config, classes)
        if config.word_mask != "word":
            raise BadInput(
                f"The objective flat learns word masks: use --word-mask word, not {config.word_mask}, or the objective augmented."
            )

    def read(self, batch: Batch) -> Terms:
        """Cross-entropy under drawn masks, and how undecided the masks are."""
        return super().read(batch) | {"entropy": self._entropy(batch)}

    def compare(self, pair: Pair) -> Terms:
        """How differently replaced words and their substitutes count."""
        before, after = (self.model.importance(batch) for batch in (pair.original, pair.attacked))
        assert before is not None and after is not None
        return {"gap": pair.gap(before, after).mean()}

    def strength(self, name: str) -> float:
        """1 for cross-entropy, −β for entropy, which is to be large, and γ for the gap."""
        match name:
            case "entropy":
                return -float(self.option("beta"))
            case "gap":
                return float(self.option("gamma"))
            case _:
                return super().strength(name)

    def _entropy(self, batch: Batch) -> Float[Tensor, ""]:
        """H(W) of a word, averaged over each text's words and then over texts."""
        masks, real = self.model.word_mask, batch.tokens.mask
        assert isinstance(masks, WordMask)
        each = entropy(masks.logits(self.model.unmasked(batch.tokens.ids))).masked_fill(~real, 0.0)
        return (each.sum(1) / real.sum(1).clamp(min=1)).mean()
