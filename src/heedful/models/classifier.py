"""A model together with its words and its labels: what is trained, saved, loaded and asked."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import ValidationError

from heedful.checking import build
from heedful.config import TrainConfig
from heedful.data.corpora.labels import few
from heedful.data.corpus import Split, Task
from heedful.data.instances import Batch, Instances
from heedful.data.words.vocabulary import Vocabulary
from heedful.declared import complete
from heedful.errors import BadInput
from heedful.intake.files import read_text
from heedful.intake.finite import not_finite
from heedful.intake.json_text import read_json
from heedful.intake.unreadable import Unreadable
from heedful.models.encoders.encoder import options_of_others
from heedful.models.model import Architecture, AttentionModel
from heedful.models.prediction import Predictions, Predicts, predict_texts, read_texts
from heedful.models.sealed_weights import seal, unseal
from heedful.models.weight_shapes import weight_shapes
from heedful.models.word_mask import WordMask
from heedful.runs import Run
from heedful.storage import write_bytes, write_json, write_text

WEIGHTS, VOCABULARY, DESCRIPTION = "model.safetensors", "vocabulary.json", "model.json"
_WORDS = "vocabulary"
"""What the checksum of the words is called among the notes of the weights."""


@dataclass(repr=False)
class Classifier(Predicts):
    """Reads text and gives labels. The stages are on `model`."""

    model: AttentionModel
    vocabulary: Vocabulary
    labels: tuple[str, ...]
    task: Task = "classification"
    run: Path | None = None
    """The folder it was trained in or loaded from."""

    def __repr__(self) -> str:
        kind = "" if self.task == "classification" else f", {self.task}"
        return f"Classifier({self.name}: {self.encoder}, {few(self.labels)}{kind})"

    @property
    def name(self) -> str:
        """The name of its run."""
        return self.run.name if self.run else "a model in memory"

    @property
    def encoder(self) -> str:
        """The name that its encoder is registered by."""
        return self.model.architecture.encoder

    @property
    def home(self) -> Path | None:
        """Audits are kept in its run."""
        return self.run

    @property
    def trained(self) -> TrainConfig | None:
        """What its run says of its training; None for a folder that holds only a model."""
        if self.run is None or not (self.run / "config.yaml").is_file():
            return None
        return build(TrainConfig, Run(self.run).config(), where=str(self.run / "config.yaml"))

    def word_importance(self) -> NDArray[np.float64] | None:
        """How much of each word of the vocabulary is let through; None for a model whose masks are not of single words."""
        masks, ids = self.model.word_mask, torch.arange(len(self.vocabulary))
        if not isinstance(masks, WordMask):
            return None
        with torch.no_grad():
            found: NDArray[np.float64] = masks.expected(self.model.unmasked(ids), ids).double().numpy()
        return found

    def fingerprint(self) -> str:
        """Hash the weights."""
        digest = hashlib.sha256()
        for name, tensor in sorted(self.model.state_dict().items()):
            digest.update(name.encode() + tensor.contiguous().numpy().tobytes())
        return digest.hexdigest()

    def instances(self, split: Split) -> Instances:
        """Tokenise a split for this model."""
        return Instances.encode(split, self.vocabulary, classes=len(self.labels))

    def batch(self, texts: Sequence[str], queries: Sequence[str] | None = None) -> Batch:
        """Put texts into one padded batch, in the order given, for the stages of `model`."""
        instances = read_texts(self, texts, queries)
        return instances.batch(np.arange(len(instances)))

    def predict(
        self, texts: Any, queries: Sequence[str] | None = None, *, batch_size: int = 64
    ) -> Predictions:
        """Classify texts, however they are given: label, probabilities, and the weight of every item."""
        return predict_texts(self, texts, queries, batch_size=batch_size)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write weights (safetensors), words and shape (JSON) into a folder."""
        folder = Path(folder)
        shape = self.model.architecture
        description = {
            "labels": list(self.labels),
            "task": self.task,
            "architecture": shape.model_dump(mode="json", exclude=options_of_others(shape)),
        }
        words = self.vocabulary.to_json()
        write_json(folder / DESCRIPTION, description)
        write_text(folder / VOCABULARY, words)
        write_bytes(folder / WEIGHTS, seal(self.model.state_dict(), {_WORDS: _checksum(words)}))

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> Classifier:
        """Read back what `save_pretrained` wrote. Files are data: nothing in them is run."""
        folder = Path(folder)
        for name in (DESCRIPTION, VOCABULARY, WEIGHTS):
            if not (folder / name).is_file():
                raise BadInput(
                    f"There is no trained model in {folder} ({name} is missing, and there is no config.json of transformers): heedful runs "
                    f"lists those there are."
                )
        description = _read_description(folder / DESCRIPTION)
        architecture = description["architecture"]
        try:
            words = read_text(folder / VOCABULARY)
            vocabulary = Vocabulary.from_json(words, sentences=architecture.hierarchical)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # the tokenizers library raises bare Exception, and panics
            raise BadInput(
                f"{folder / VOCABULARY} is damaged ({error}): copy the model again, or delete its folder and train again."
            ) from None
        if vocabulary.unknown is not None and set(vocabulary.numbers.values()) != set(range(len(vocabulary))):
            raise BadInput(
                f"{folder / VOCABULARY} numbers its words beyond how many there are, or two of them alike: copy the model again, or "
                "train again."
            )
        if len(vocabulary) != architecture.vocabulary_size:
            raise BadInput(
                f"{folder / VOCABULARY} has {len(vocabulary)} words and {DESCRIPTION} {architecture.vocabulary_size}: "
                f"copy both from the same run."
            )
        model, notes = _load_model(architecture, folder / WEIGHTS)
        if notes.get(_WORDS, _checksum(words)) != _checksum(words):
            raise BadInput(
                f"{folder / VOCABULARY} is not what the model was saved with (its checksum is of other words): copy the model again, or "
                "train again."
            )
        return cls(model, vocabulary, description["labels"], description["task"], folder)


def _read_description(path: Path) -> dict[str, Any]:
    try:
        content = read_json(path)
        if content["task"] not in get_args(Task):
            raise KeyError(content["task"])
        labels = tuple(content["labels"])
        if (
            not isinstance(content["labels"], list)
            or not all(isinstance(label, str) for label in labels)
            or len(set(labels)) < len(labels)
        ):
            raise ValueError("labels that are no different words")
        architecture = complete(Architecture)(**content["architecture"])
        if len(labels) != architecture.classes:
            raise ValueError(f"{len(labels)} labels for {architecture.classes} classes")
        return {"labels": labels, "task": content["task"], "architecture": architecture}
    except (KeyError, TypeError, ValueError) as error:  # also what JSON, UTF-8 and pydantic refuse
        reason = str(error).splitlines()[0]
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False)[0]
            reason = f"{'.'.join(map(str, first['loc']))}: {first['msg'].lower()}"
        raise BadInput(
            f"{path} is damaged or of another version ({reason}): copy the model again, or delete its folder and train again."
        ) from None


def _checksum(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()


def _load_model(architecture: Architecture, path: Path) -> tuple[AttentionModel, dict[str, str]]:
    """Build a model only where the weights fit it: a damaged size must not ask for more memory than there is."""
    try:
        tensors, notes = unseal(path)
    except Unreadable as error:
        raise BadInput(
            f"{path} is cut off or damaged ({error}): copy the model again, or delete its folder and train again."
        ) from None
    try:
        expected = weight_shapes(architecture)
    except (RuntimeError, TypeError, OverflowError) as error:  # a product of sizes that no integer holds
        reason = str(error).splitlines()[0]
        raise BadInput(
            f"{path.with_name(DESCRIPTION)} describes no possible model ({reason}): copy it again from its run."
        ) from None
    for name in sorted(expected.keys() | tensors.keys()):
        here = tuple(tensors[name].shape) if name in tensors else "missing"
        there = expected.get(name, "unknown")
        if here != there:
            raise BadInput(
                f"{path} does not fit {DESCRIPTION}: {name} is {here} in the file and {there} in the description; "
                f"copy both from the same run."
            )
    if (wrong := not_finite(tensors.items())) is not None:
        raise BadInput(
            f"{path} holds weights that are no numbers ({wrong} has NaN or infinity): copy the model again, or train it again."
        )
    model = AttentionModel(architecture)
    model.load_state_dict(tensors)
    return model.eval(), notes
