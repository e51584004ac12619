"""Weights at the press of a button: flat, shuffled, as far away as they can be, with the fewest words gone, a twin's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from heedful.audits.questions.counterfactual import Counterfactual
from heedful.audits.questions.heatmap_search import search
from heedful.config import AuditOptions
from heedful.declared import complete
from heedful.errors import BadInput
from heedful.explorer.given_weights import HeadWeights
from heedful.explorer.text_reading import TextReading
from heedful.measures.counterfactual import eps_max_jsd
from heedful.measures.flips import smallest_flip_set
from heedful.measures.permutation import permuted_weights
from heedful.models.classifier import Classifier
from heedful.models.stages import output_of, probabilities
from heedful.output.numbers import fixed
from heedful.reports.material import spoken
from heedful.runs import list_runs

How = Literal["own", "uniform", "shuffled", "counterfactual", "flip_set", "twin", "explainer"]
HOWS: tuple[How, ...] = get_args(How)


@dataclass(frozen=True)
class Found:
    """Weights, and a sentence on what they are."""

    weights: HeadWeights
    says: str


@dataclass(frozen=True)
class Choice:
    """What a button needs besides the text."""

    seed: int = 0
    explainer: str | None = None
    twin: str | None = None


def other_weights(read: TextReading, how: How, choice: Choice) -> Found:
    """Give the weights that a button stands for."""
    return _MAKERS[how](read, choice)


def twins_of(home: Path | None) -> list[Path]:
    """Give the finished twins of a run: models that imitation trained to predict the same and attend elsewhere."""
    if home is None or not (home / "twins").is_dir():
        return []
    return [run.folder for run in list_runs(home / "twins") if run.complete]


def _own(read: TextReading, choice: Choice) -> Found:
    return Found(read.reading.weights[0].double(), "The model’s own weights.")


def _uniform(read: TextReading, choice: Choice) -> Found:
    mask = read.reading.mask[0].double()
    alike = (mask / mask.sum()).expand_as(read.reading.weights[0])
    return Found(
        alike, f"Every one of the {read.items} items has the same weight, {fixed(1 / read.items, 3)}."
    )


def _shuffled(read: TextReading, choice: Choice) -> Found:
    own, mask = read.reading.weights[0].double(), read.reading.mask.expand(len(read.reading.weights[0]), -1)
    rows = torch.zeros(len(own), dtype=torch.long)  # one shuffle for all heads
    shuffled = permuted_weights(own, mask, rows, seed=choice.seed, draw=1)
    return Found(shuffled, f"The same weights in another order (shuffle {choice.seed}).")


def _counterfactual(read: TextReading, choice: Choice) -> Found:
    reading, task = read.reading, read.opened.classifier.task
    if read.items < 2:
        raise BadInput("This text has one item only, which always has all the weight: give a longer text.")
    audit = Counterfactual(complete(AuditOptions)(), task=task)
    if audit.exact(reading):
        found = eps_max_jsd(reading.weights[:, 0], reading.item_logits[..., 0], reading.mask, audit.epsilon)
        value, weights = float(found.value[0]), found.weights
        how = "No heatmap that changes the prediction by at most"
        says = f"{how} {audit.epsilon:g} is farther from the model’s: JSD {fixed(value, 2)} of 0.69 possible. This is exact."
        return Found(weights, says)
    searched = read.searched.get("counterfactual") or search(reading, audit.epsilon, seed=0)
    read.searched["counterfactual"] = searched
    says = (
        f"The farthest heatmap that a search found within {audit.epsilon:g} of the prediction: JSD "
        f"{fixed(float(searched.value[0]), 2)} of 0.69 possible. There may be farther ones."
    )
    return Found(searched.weights[0].double(), says)


def _flip_set(read: TextReading, choice: Choice) -> Found:
    reading = read.reading
    if not reading.linear:
        return _by_attention(read)
    found = smallest_flip_set(reading.weights[:, 0], reading.item_logits, reading.mask, reading.empty_logits)
    if not bool(found.flips[0]):
        return Found(
            reading.weights[0].double(),
            "No erasure of items changes the decision: the weights are the model’s own.",
        )
    size = int(found.size[0])
    rest = ": then nothing but the decoder’s bias decides" if size == read.items else ""
    says = f"{_items(size)} of {read.items} must be erased to change the decision, and no fewer do{rest}. This is exact."
    return Found(_without(reading.weights[0].double(), found.members[0]), says)


def _by_attention(read: TextReading) -> Found:
    """Erase words in the order of attention until the decision changes: the smallest set is not known here."""
    own = read.reading.weights[0].double()
    order = read.by_word(own.mean(0)).argsort(descending=True, stable=True)
    rank = torch.empty_like(order)
    rank[order] = torch.arange(len(order))
    of = read.word_of
    gone = (rank[of.clamp(min=0)][None] < torch.arange(1, len(order) + 1)[:, None]) & (of >= 0)
    decided = read.reading.erase_all_but(~gone[None])[0]
    flipped = (probabilities(decided).argmax(-1) != read.decided).nonzero()
    if not len(flipped):
        return Found(
            own,
            "Erasing words in the order of attention never changes the decision: the weights are the model’s own.",
        )
    size = int(flipped[0]) + 1
    says = (
        f"Erasing the {_items(size, 'most attended word')} changes the decision. The smallest set is not known for this model: its "
        f"answer is not linear in one set of weights."
    )
    return Found(_without(own, gone[size - 1]), says)


def _twin(read: TextReading, choice: Choice) -> Found:
    folders = {folder.name: folder for folder in twins_of(read.opened.classifier.home)}
    if not folders:
        raise BadInput(
            "There is no twin of this model: heedful audit RUN --only imitation trains some, that predict the same and attend elsewhere."
        )
    folder = folders.get(choice.twin or next(iter(folders)))
    if folder is None:
        raise BadInput(f"There is no twin {choice.twin!r}: choose one of {', '.join(folders)}.")
    twin = Classifier.from_pretrained(folder)
    with torch.no_grad():
        output = output_of(twin.model.eval(), read.reading.batch)
    own = read.reading.weights[0]
    if output.weights is None or output.weights[0].shape != own.shape:
        raise BadInput("This twin weighs other items than the model does: train twins of this model again.")
    says = probabilities(output.logits.double())[0]
    name = read.opened.classifier.labels[int(says.argmax())]
    sentence = f"The attention of {folder.name}, which itself says {name} with {fixed(float(says.max()), 3)}."
    return Found(output.weights[0].double(), sentence)


def _explainer(read: TextReading, choice: Choice) -> Found:
    from heedful.explainers.explainer import check_access

    name = choice.explainer or "leave_one_out"
    check_access(name, read.opened.stages)
    sizes = read.reading.scores(name)[0].detach().double().abs() * read.reading.mask[0]
    if not float(sizes.sum()):
        raise BadInput(
            f"{spoken(name).capitalize()} gives every word of this text a score of zero, which cannot be a weight: choose another."
        )
    says = f"The scores of {spoken(name)}, without their signs, as the weights of every head."
    return Found((sizes / sizes.sum()).expand_as(read.reading.weights[0]), says)


def _without(own: HeadWeights, gone: Float[Tensor, " items"]) -> HeadWeights:
    left = own.masked_fill(gone.bool(), 0)
    return left / left.sum(-1, keepdim=True).clamp(min=torch.finfo(torch.float64).tiny)


def _items(count: int, what: str = "item") -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


_MAKERS: dict[How, Callable[[TextReading, Choice], Found]] = {
    "own": _own,
    "uniform": _uniform,
    "shuffled": _shuffled,
    "counterfactual": _counterfactual,
    "flip_set": _flip_set,
    "twin": _twin,
    "explainer": _explainer,
}
