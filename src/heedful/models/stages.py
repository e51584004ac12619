"""A model as audits, explainers and the report see it: four stages, and what passes between them.

`Stages` is all that may be asked of a model outside `models/` and `training/`; `Auditable` is a model with its words,
its labels and where it comes from. A few questions have a general answer and a shorter one for some models: `shorter`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor

from heedful.config import TrainConfig
from heedful.data.corpus import Split, Task
from heedful.data.instances import Batch, Instances
from heedful.data.words.vocabulary import Vocabulary
from heedful.errors import BadInput

Unit = Literal["word", "sentence"]
Access = Literal["predictions", "embeddings", "stages"]
"""Levels of access to a model, each including those before it: texts in and probabilities out; gradients at its
embeddings; weights that can be replaced."""
NO_ATTENTION = (
    "This model has no attention, and so no weights to ask about: name an explainer (--source), or train a model with "
    "--pooling attention."
)


@dataclass(frozen=True)
class States:
    """The encoded items of a batch: what decode mixes."""

    h: Float[Tensor, "batch items size"]
    mask: Bool[Tensor, "batch items"]
    query: Float[Tensor, "batch query_size"] | None = None
    candidates: Bool[Tensor, "batch classes"] | None = None
    word_weights: Float[Tensor, "batch tokens"] | None = None
    """In a hierarchical network, how each sentence weighed its words."""
    fixed: Float[Tensor, " batch"] | None = None
    """How much of the attention lies on what is no item, such as [CLS], and stays there; None where all of it is the items'."""
    rest: Any = None
    """What the model needs besides; only the model that made it looks inside."""


class Output(NamedTuple):
    """What a model says, and what it attended to (None for models that pool without attention)."""

    logits: Float[Tensor, "batch outputs"]
    weights: Float[Tensor, "batch heads items"] | None


class Effects(NamedTuple):
    """How weights make logits, where these are linear in them: logits = rest + Σ_h Σ_n α_hn · of_item_hn."""

    of_item: Float[Tensor, "batch heads items outputs"]
    rest: Float[Tensor, "batch outputs"]


class Layers(NamedTuple):
    """The attention of every layer of a network, from the first to the last: rows are what reads, columns what is read."""

    weights: list[Float[Tensor, "batch heads tokens tokens"]]
    read: Bool[Tensor, "batch tokens"]
    """The rows of the last layer that the head reads."""
    slopes: list[Float[Tensor, "batch heads tokens tokens"]] = []  # noqa: RUF012 never changed
    """How the probability of a class moves with each weight; empty where nobody asked."""


class Stages(Protocol):
    """Embed → encode → attend → decode. An instance's numbers depend neither on its companions nor on padding."""

    @property
    def unit(self) -> Unit:
        """What an item is."""

    @property
    def contextual(self) -> bool:
        """False where an item's state, and its score, depend on that item alone."""

    @property
    def slow(self) -> bool:
        """Whether reading a text takes so long that costly questions are asked of fewer texts."""

    @property
    def has_attention(self) -> bool:
        """Whether there is a heatmap; without one, `attend` gives None."""

    def embed(self, batch: Batch) -> Float[Tensor, "batch tokens dim"]:
        """Stage 1: a vector for every token."""

    def encode(self, embedded: Float[Tensor, "batch tokens dim"], batch: Batch) -> States:
        """Stage 2: a state for every item."""

    def attend(self, states: States) -> Float[Tensor, "batch heads items"] | None:
        """Stage 3: a distribution over the items for every head."""

    def decode(
        self, states: States, weights: Float[Tensor, "batch heads items"] | None
    ) -> Float[Tensor, "batch outputs"]:
        """Stage 4: logits under any weights whatever: one for two classes (a sigmoid), or one for each."""

    def effects(self, states: States) -> Effects | None:
        """How the weights make the logits; None where these are not linear in them."""

    def exact(self) -> Stages:
        """Give a copy that reads in double precision; the model itself stays as it is."""

    def eval(self) -> Self:
        """Begin to answer the same to the same, as modules of torch do."""


@runtime_checkable
class Scored(Protocol):
    """A model whose attention is scores that are normalised."""

    def score(self, states: States) -> Float[Tensor, "batch heads items"]:
        """How well each item fits."""

    def normalise(
        self, scores: Float[Tensor, "batch heads items"], mask: Bool[Tensor, "batch items"]
    ) -> Float[Tensor, "batch heads items"]:
        """Scores to weights, in the precision of the scores."""


@runtime_checkable
class Masked(Protocol):
    """A model that may let words through in part."""

    def importance(self, batch: Batch) -> Float[Tensor, "batch tokens"] | None:
        """How much of each word is let through, whatever stands around it; None where all is."""


@runtime_checkable
class Layered(Protocol):
    """A model of many attention layers, all of which can be seen and changed; what is audited is its last."""

    def layers(self, batch: Batch, classes: Int[Tensor, " batch"] | None = None) -> Layers:
        """Read texts as they are and give the attention of every layer; with `classes`, how it moves their probabilities."""

    def knocked_out(
        self, batch: Batch, rows: Int[Tensor, " variants"], gone: Bool[Tensor, "variants tokens"]
    ) -> Float[Tensor, "variants outputs"]:
        """Give logits where no layer may attend to some tokens: variant v is text rows[v] without gone[v]."""

    def without_values(self, batch: Batch) -> list[Float[Tensor, "batch tokens tokens"]]:
        """Say, layer by layer, how far each token's vector turns (rows) if a token's value is zero (columns)."""

    def in_every_layer(self) -> Stages:
        """Give the stages in which other weights act on the words' columns of every layer, and not of the last alone."""


@runtime_checkable
class Opaque(Protocol):
    """A model of which predictions alone are known: its embeddings are empty, and no gradient passes through it."""

    def ask(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Give probabilities for texts [texts, classes]."""

    @property
    def asked(self) -> int:
        """How many texts it was asked for so far."""


class Auditable(Protocol):
    """A model with its words, its labels and its origin."""

    @property
    def model(self) -> Stages:
        """The stages."""

    @property
    def vocabulary(self) -> Vocabulary:
        """What cuts texts into words, or pieces of them."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the classes."""

    @property
    def task(self) -> Task:
        """Whether texts are read by themselves, or for a query."""

    @property
    def name(self) -> str:
        """What it is called in a report."""

    @property
    def encoder(self) -> str:
        """What reads the text, by the name that policies know it by."""

    @property
    def home(self) -> Path | None:
        """The folder that its audits are kept in, if it has one."""

    @property
    def trained(self) -> TrainConfig | None:
        """How heedful trained it; None: audits that train again cannot be asked."""

    def instances(self, split: Split) -> Instances:
        """Tokenise a split for this model."""

    def fingerprint(self) -> str:
        """Changes when, and only when, the model does."""


def reads_queries(classifier: Auditable) -> bool | None:
    """Whether a model reads every text for a query; None where it reads texts, or pairs as one sequence."""
    if getattr(classifier, "pairs", False):
        return None
    return classifier.task != "classification"


def access_to(model: Stages) -> Access:
    """How much of a model can be asked for."""
    if isinstance(model, Opaque):
        return "predictions"
    return "stages" if model.has_attention else "embeddings"


def output_of(model: Stages, batch: Batch) -> Output:
    """Run all four stages."""
    states = model.encode(model.embed(batch), batch)
    weights = model.attend(states)
    return Output(model.decode(states, weights), weights)


def weights_of(model: Stages, states: States) -> Float[Tensor, "batch heads items"]:
    """Give the weights of a model that must have some."""
    weights = model.attend(states)
    if weights is None:
        raise BadInput(NO_ATTENTION)
    return weights


def probabilities(logits: Float[Tensor, "*batch outputs"]) -> Float[Tensor, "*batch classes"]:
    """One probability per class, from one logit (sigmoid) or several (softmax).

    >>> probabilities(torch.tensor([[0.0]]))
    tensor([[0.5000, 0.5000]])
    """
    if logits.shape[-1] == 1:
        p = torch.sigmoid(logits)
        return torch.cat([1 - p, p], dim=-1)
    return torch.softmax(logits, dim=-1)
