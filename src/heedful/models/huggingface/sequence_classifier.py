"""A sequence classifier with its words and its labels, from a folder, the hub, a pipeline or memory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heedful.config import TrainConfig
from heedful.data.corpora.labels import few
from heedful.data.corpus import Split, Task
from heedful.data.instances import Batch, Instances
from heedful.data.pairs import pair_instances
from heedful.data.words.vocabulary import Vocabulary
from heedful.models.huggingface.last_layer import LastLayerModel
from heedful.models.huggingface.self_check import check_on
from heedful.models.prediction import Predictions, Predicts, predict_texts, read_texts


@dataclass(repr=False)
class SequenceClassifier(Predicts):
    """Reads text and gives labels, as somebody else trained it."""

    model: LastLayerModel
    vocabulary: Vocabulary
    labels: tuple[str, ...]
    name: str = "a model in memory"
    home: Path | None = None
    """Where audits are kept."""
    task: Task = "classification"
    encoder: str = "transformer as it is"
    trained: TrainConfig | None = None
    pairs: bool = True
    """It reads texts, or pairs of them as one sequence: only who trained it knows which."""
    called: tuple[str, ...] = ()
    """The words by which a command names it; none of what was made in memory."""

    def __repr__(self) -> str:
        return f"SequenceClassifier({self.name}: {self.encoder}, {few(self.labels)})"

    def instances(self, split: Split) -> Instances:
        """Tokenise a split, and let the model prove on some of its texts that the numbers are its own."""
        classes = len(self.labels)
        if split.queries is None:
            instances = Instances.encode(split, self.vocabulary, classes=classes)
        else:
            typed = self.model.network.typed
            instances = pair_instances(split, self.vocabulary, classes=classes, typed=typed)
        check_on(self.model, instances)
        return instances

    def batch(self, texts: Sequence[str]) -> Batch:
        """Put texts into one padded batch, in the order given, for the stages of `model`."""
        instances = read_texts(self, texts, None)
        return instances.batch(np.arange(len(instances)))

    def predict(
        self, texts: Any, queries: Sequence[str] | None = None, *, batch_size: int = 64
    ) -> Predictions:
        """Classify texts, however they are given: label, probabilities, and the weight of every word."""
        return predict_texts(self, texts, queries, batch_size=batch_size)

    def fingerprint(self) -> str:
        """Hash weights, settings, words and labels."""
        network = self.model.network
        digest = hashlib.sha256()
        for name, tensor in sorted(network.module.state_dict().items()):
            digest.update(name.encode() + tensor.detach().cpu().contiguous().numpy().tobytes())
        settings = [_settings(config) for config in network.configs[:1]]
        said = [settings, self.labels, network.side, network.pad, sorted(network.types.items())]
        digest.update(json.dumps(said, sort_keys=True, default=str).encode())
        digest.update(self.vocabulary.to_json().encode())
        return digest.hexdigest()


def _settings(config: Any) -> Mapping[str, Any]:
    """What a configuration says of the network, without where it came from and which version wrote it."""
    passing = ("_name_or_path", "transformers_version", "_attn_implementation", "dtype", "torch_dtype")
    found: Mapping[str, Any] = config.to_dict()
    return {name: value for name, value in found.items() if name not in passing}
