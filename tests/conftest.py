"""Toys that every test may use: small texts, and untrained classifiers of any shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
import torch
from hypothesis import settings

from heedful.config import ModelOptions
from heedful.data.corpus import Split
from heedful.data.words.vocabulary import Vocabulary
from heedful.models.classifier import Classifier
from heedful.models.model import Architecture, AttentionModel

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
