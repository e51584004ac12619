"""What objectives share that start from a vanilla model and keep its predictions and its top items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from heedful.config import ObjectiveOptions, TrainConfig, check_top_k
from heedful.data.batches import inference_batches
from heedful.data.instances import Batch, Instances
from heedful.errors import BadInput
from heedful.measures.divergence import kl
from heedful.measures.overlap import top_k_loss, top_k_overlap
from heedful.measures.performance import performance
from heedful.models.classifier import Classifier
from heedful.models.model import AttentionModel, probabilities
from heedful.training.objectives.objective import Objective
from heedful.training.recorded import Recorded, RecordedBatch

Terms = dict[str, Float[Tensor, " batch"]]
_TINY = 1e-12


class Anchored(Objective):
    """A loss that is a sum of terms, text by text; a subclass computes the terms and their total."""

    needs_vanilla = True
    needs_attention = True

    def __init__(
        self,
        model: AttentionModel,
        class_weights: Float[Tensor, " classes"] | None = None,
        config: ObjectiveOptions | None = None,
    ) -> None:
        super().__init__(model, class_weights, config)
        self.radius: float = self.option("radius")
        self.stability: float = self.option("stability")
        self.overlap: float = self.option("overlap")
        self.recorded: dict[str, Recorded] = {}
        self.term_sums: dict[str, float] = {}
        self.count = 0

    @classmethod
    def check_texts(cls, config: TrainConfig, train: Instances) -> None:
        """Some text must have that many items."""
        check_top_k(config, longest=int(train.tokens.items.max()))

    def prepare(self, splits: Mapping[str, Instances]) -> None:
        """Start from the vanilla model, and run it once over every split: it is never run again, nor changed."""
        assert self.config.base is not None
        base = Classifier.from_pretrained(Path(self.config.base))
        if base.model.architecture != self.model.architecture:
            raise BadInput(
                f"{self.config.base} has another shape than the model to be trained: give the same model options to both."
            )
        self.base, self.unknown_word = base.model.eval(), base.vocabulary.unknown
        self.model.load_state_dict(base.model.state_dict())
        for parameter in self.model.parameters():
            parameter.requires_grad_(False)
        for _, parameter in self.trainable_parameters():
            parameter.requires_grad_()
        self.recorded = {name: Recorded(base.model, instances) for name, instances in splits.items()}
        self.train = self.recorded["train"]
        k, short = self.config.top_k, int((self.train.items <= self.config.top_k).sum())
        if short:
            self.notes.append(
                f"{short} of {len(self.train.items)} training texts have {k} items or fewer, and all of them are top items."
            )

    def trainable_parameters(self) -> Iterable[tuple[str, nn.Parameter]]:
        """Only attention, or all but the embeddings, which could grow until no noise matters."""
        for name, parameter in self.model.named_parameters():
            if name.startswith("attention.") or (self.option("trained") == "all" and not _embeds(name)):
                yield name, parameter

    def loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Mean over texts of all terms that count, each with its weight.

        Without dropout: the vanilla model was run without it, and the loss would make the heatmap stable against dropout
        instead of against the perturbation.
        """
        self.model.eval()
        terms = self.terms(*self.varied(batch), fresh=True)
        self.count += len(batch)
        for name, term in terms.items():
            self.term_sums[name] = self.term_sums.get(name, 0.0) + float(term.detach().sum())
        return self.total(terms).mean()

    def varied(self, batch: Batch) -> tuple[Batch, Recorded | RecordedBatch]:
        """Return a batch as it is trained on, and the vanilla model's output for it; a subclass may change the texts."""
        return batch, self.train

    def epoch_means(self) -> dict[str, float]:
        """Means of the terms over the texts trained on since the last call."""
        means = {name: total / self.count for name, total in self.term_sums.items()}
        self.term_sums, self.count = {}, 0
        return means

    def terms(self, batch: Batch, base: Recorded | RecordedBatch, *, fresh: bool = False) -> Terms:
        """Return every term of the loss, text by text, and the true overlap; random numbers are `fresh`, or always the same."""
        raise TypeError(f"{type(self).__name__} has no terms")

    def total(self, terms: Terms) -> Float[Tensor, " batch"]:
        """Add up the terms that count."""
        raise TypeError(f"{type(self).__name__} has no total")

    def close(
        self,
        logits: Float[Tensor, "batch outputs"],
        weights: Float[Tensor, "batch heads items"],
        mask: Bool[Tensor, "batch items"],
        batch: Batch,
        base: Recorded | RecordedBatch,
    ) -> Terms:
        """How far predictions and top items are from the vanilla model's."""
        theirs, k = base.weights(batch.rows, weights.shape[-1]), self.config.top_k
        # KL and cross-entropy have the same gradient, and KL is 0 if predictions are the same.
        terms = {
            "closeness": kl(base.probabilities[batch.rows], probabilities(logits).clamp(min=_TINY)),
            "top_k_loss": top_k_loss(theirs, weights, k=k, mask=mask[:, None]).mean(1),
        }
        with torch.no_grad():
            terms["top_k_overlap"] = top_k_overlap(weights.mean(1), theirs.mean(1), k=k, mask=mask).to(
                logits.dtype
            )
        return terms

    def evaluate(self, split: str, instances: Instances) -> dict[str, float]:
        """Performance, every term's mean, and the negative of the loss under the objective's name, which selects."""
        assert self.metric is not None
        self.model.eval()
        base, parts, totals = self.recorded[split], [], []
        predicted = torch.zeros(len(instances), instances.classes)
        with torch.no_grad():
            for rows in map(torch.from_numpy, inference_batches(instances.lengths, 128)):
                batch = instances.batch(rows.numpy())
                predicted[rows] = probabilities(self.model(batch).logits)
                parts.append(self.terms(batch, base))
                totals.append(self.total(parts[-1]))
        means = {name: float(torch.cat([part[name] for part in parts]).nanmean()) for name in parts[0]}
        return {
            self.metric: -float(torch.cat(totals).mean()),
            **means,
            **performance(instances.split.labels, predicted.double().numpy()),
        }


def _embeds(name: str) -> bool:
    return name.startswith("embedding.") or ".embeddings." in name
