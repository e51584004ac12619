"""Toys that every test may use: small texts, and untrained classifiers of any shape."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
import torch
from hypothesis import settings

from heedful.config import ModelOptions
from heedful.data.corpus import Split
from heedful.data.instances import Batch, Instances
from heedful.data.words.vocabulary import Vocabulary
from heedful.models.classifier import Classifier
from heedful.models.model import Architecture, AttentionModel
from heedful.models.stages import Effects, States
from heedful.progress import Quiet

# No deadline, because machines are busy; the same cases every time, because a suite should not surprise.
settings.register_profile("heedful", deadline=None, derandomize=True)
settings.load_profile("heedful")

TEXTS = [
    "a fine film. It holds up well!",
    "dull",
    "the plot is thin, the jokes are old. Nobody laughed. I left early",
    "wonderful acting and a warm, funny script",
    "zzz qqq vvv",
    "Great. Great. Great.",
]
QUERIES = ["is it good?", "is it?", "who left early?", "what is warm", "eh", "how great"]


class Recorder(Quiet):
    """A watcher that keeps the sentences it is given, and what was being done."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.doing: list[str] = []

    @property
    def cases(self) -> list[str]:
        """Lines about one case of several, which begin with its number."""
        return [line for line in self.lines if line.startswith("[")]

    def say(self, line: str, *, good: str = "") -> None:
        self.lines.append(line)

    @contextmanager
    def status(self, doing: str) -> Iterator[Callable[[str], None]]:
        self.doing.append(doing)
        yield self.doing.append


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture(autouse=True, scope="session")
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture
def published(real_data: Path, absent: Callable[[str], NoReturn]) -> Mapping[str, np.ndarray]:
    """What Jain & Wallace's own code computed on SST (BiLSTM, seed 0), kept beside the real datasets."""
    file = real_data.parent / "reference" / "jain_wallace_sst_bilstm_seed0.npz"
    if not file.is_file():
        absent(f"there is no {file.name} in the folder reference beside HEEDFUL_DATA")
    with np.load(file) as saved:
        return dict(saved)


@pytest.fixture
def real_classifier(real_data: Path, absent: Callable[[str], NoReturn]) -> Path:
    """A classifier that somebody else fine-tuned, kept beside the real datasets."""
    folder = real_data.parent / "models" / "bert-tiny-toxicity"
    if not folder.is_dir():
        absent("there is no models/bert-tiny-toxicity beside HEEDFUL_DATA")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium; tests that need it are skipped where there is none.

    One for each file, closed with it: two at a time cannot be, nor can notebooks run beside one.
    """
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def toy_split() -> Callable[..., Split]:
    def make(*, query: bool = False, classes: int = 2) -> Split:
        labels = np.arange(len(TEXTS), dtype=np.int64) % classes
        return Split(list(TEXTS), labels, list(QUERIES) if query else None)

    return make


@pytest.fixture
def toy_classifier() -> Callable[..., Classifier]:
    """Make an untrained classifier over the toy texts; any model option may be given."""

    def make(*, classes: int = 2, query: bool = False, seed: int = 0, **options: object) -> Classifier:
        torch.manual_seed(seed)
        shape = ModelOptions(**{"hidden": 5, "embedding_size": 6, "widths": (1, 3), **options})  # type: ignore[arg-type]
        words = Vocabulary.learn(TEXTS[:4] + QUERIES, sentences=shape.hierarchical)
        architecture = Architecture(
            **shape.model_dump(), vocabulary_size=len(words), classes=classes, query=query
        )
        model = AttentionModel(architecture).eval()
        task = "pair" if query else "classification"
        return Classifier(model, words, tuple(f"class {k}" for k in range(classes)), task)

    return make


@dataclass
class Foreign:
    """A model of another make, in plain tensors: words are looked up, weighed by a vector, and vote."""

    table: torch.Tensor
    looks_for: torch.Tensor
    votes: torch.Tensor
    bias: torch.Tensor
    known: bool = True
    """Whether it says how its weights make its logits, and that it reads words by themselves."""
    unit, slow, has_attention = "word", False, True

    @property
    def contextual(self) -> bool:
        return not self.known

    def embed(self, batch: Batch) -> torch.Tensor:
        shift = batch.tokens.shift
        return self.table[batch.tokens.ids] + (0 if shift is None else shift)

    def encode(self, embedded: torch.Tensor, batch: Batch) -> States:
        return States(embedded, batch.tokens.mask, rest={"votes": embedded @ self.votes.T})

    def attend(self, states: States) -> torch.Tensor:
        scores = torch.einsum("bnm,hm->bhn", states.h, self.looks_for) / states.h.shape[-1] ** 0.5
        real = states.mask[:, None]
        return torch.softmax(scores.masked_fill(~real, torch.finfo(scores.dtype).min), dim=-1) * real

    def decode(self, states: States, weights: torch.Tensor) -> torch.Tensor:
        return torch.einsum("bhn,bnk->bk", weights, states.rest["votes"]) + self.bias

    def effects(self, states: States) -> Effects | None:
        votes = states.rest["votes"]
        return Effects(votes[:, None], self.bias.expand(len(votes), -1)) if self.known else None

    def exact(self) -> Foreign:
        double = {name: getattr(self, name).double() for name in ("table", "looks_for", "votes", "bias")}
        return replace(self, **double)

    def eval(self) -> Foreign:
        return self


@dataclass
class ForeignClassifier:
    """The same with its words and labels: all that an audit asks for."""

    model: Foreign
    vocabulary: Vocabulary
    labels: tuple[str, ...]
    task: str = "classification"
    name: str = "a model of another make"
    encoder: str = "foreign"
    home: Path | None = None
    trained: None = field(default=None)

    def instances(self, split: Split) -> Instances:
        return Instances.encode(split, self.vocabulary, classes=len(self.labels))

    def fingerprint(self) -> str:
        return str(float(self.model.table.sum()))


@pytest.fixture
def foreign() -> Callable[..., ForeignClassifier]:
    """Give a function that makes the model of another make that computes what a toy classifier does.

    The toy has no encoder, dot-product attention with one head and a linear decoder.
    """

    def make(toy: Classifier, *, known: bool = True) -> ForeignClassifier:
        model = toy.model
        assert (toy.encoder, model.architecture.attention, model.architecture.decoder) == (
            "none",
            "dot",
            "linear",
        )
        parts = (
            model.embedding.weight,
            model.attention.similarity.vector,
            *model.decoder.output.parameters(),
        )
        return ForeignClassifier(
            Foreign(*(part.detach() for part in parts), known), toy.vocabulary, toy.labels
        )

    return make
