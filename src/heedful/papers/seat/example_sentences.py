"""Figures 1, 3 and 4 of SEAT: the paper's own sentence, changed in three ways, and what its heatmap becomes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from heedful.audits.questions.embedding_stability import normal_by_token, one_word
from heedful.audits.questions.movement import Snapshot, by_word, compare_snapshots, mean_sharpness, snapshot
from heedful.audits.subject.reading import as_audited, read_batch
from heedful.audits.subject.words import words_in
from heedful.errors import BadInput
from heedful.models.classifier import Classifier
from heedful.output.numbers import NOTHING, percentage, significant
from heedful.output.shaded_words import ShadedText, shaded_words
from heedful.output.tables import Table
from heedful.papers.measured_numbers import MeasuredNumber, Numbers
from heedful.papers.paper_page import Picture
from heedful.papers.recipe import published
from heedful.papers.results import MeasuredRun, Results
from heedful.papers.seat.methods import ENCODERS, measured

EXAMPLE = "example"
"""What stands in place of an audit."""
SHOWN = ("vanilla", "word_at", "attention_at", "seat")
ON = ("sst2",)
DRAWS = 100
"""Noise drawn for the numbers; the heatmap shows the first."""
_BEFORE, _AFTER = "before", "after"
_WORDS, _SEED, _NOISE = "words", "seed", "noise"
_FIGURES = {1: _WORDS, 3: _SEED, 4: _NOISE}
_TITLES = {1: "Two synonyms", 3: "Another seed", 4: "Noise on the embedding of one word"}
_K = 7


class _Read(NamedTuple):
    """A sentence as a model read it, word by word."""

    heatmap: Snapshot
    labels: tuple[str, ...]


def example_numbers(runs: Sequence[MeasuredRun]) -> Iterator[MeasuredNumber]:
    """Measure the sentence under every change, where the models are there; of seed 0, and of seed 1 against it."""
    first = next((run for run in runs if run.seed == 0), None)
    if first is None or first.dataset not in ON or first.model.split(maxsplit=1)[1] not in SHOWN:
        return
    if (model := _classifier(first.folder)) is None:
        return
    given = published("seat")["examples"]
    before = _read(model, given["benign"])
    yield from _compared(first, _WORDS, before, [_read(model, given["perturbed"])])
    yield from _compared(first, _NOISE, before, _noisy(model, given["benign"], given["noise"]))
    other = next((run for run in runs if run.seed == 1), None)
    if other is not None and (again := _classifier(other.folder)) is not None:
        yield from _compared(first, _SEED, before, [_read(again, given["benign"])], matched=True)


def _compared(
    run: MeasuredRun, change: str, before: _Read, after: Sequence[_Read], *, matched: bool = False
) -> Iterator[MeasuredNumber]:
    head = (run.dataset, run.model, EXAMPLE)
    moved = [compare_snapshots(before.heatmap, each.heatmap, k=_K, matched=matched) for each in after]
    for name in ("jsd", "tvd"):
        value = float(np.mean([float(getattr(change, name)[0]) for change in moved]))
        yield MeasuredNumber(*head, name, value, group=change, texts=1)
    yield MeasuredNumber(*head, "sharpness", float(mean_sharpness(before.heatmap)[0]), group=change, texts=1)
    for when, read in ((_BEFORE, before), (_AFTER, after[0])):
        weights = read.heatmap.weights.mean(1)[0].tolist()
        for place, weight in enumerate(weights):
            yield MeasuredNumber(*head, f"weight {place}", weight, group=f"{change} {when}", texts=1)
        for label, share in zip(read.labels, read.heatmap.probabilities[0].tolist(), strict=True):
            yield MeasuredNumber(*head, f"probability of {label}", share, group=f"{change} {when}", texts=1)


def _read(classifier: Classifier, text: str, shift: float = 0.0, draw: int = 0) -> _Read:
    """Read a sentence, with noise of a size on one word if it is given."""
    model = as_audited(classifier.model).eval()
    batch = classifier.batch([text])
    if shift:
        with torch.no_grad():
            size = model.embed(batch).shape[-1]
        noise = normal_by_token(batch.rows, batch.tokens, size, seed=0, draw=2 * draw)
        place = one_word(batch.rows, batch.tokens, seed=0, draw=2 * draw + 1)
        batch = replace(batch, tokens=batch.tokens.shifted(noise * (shift * place)[..., None].float()))
    reading = read_batch(model, batch, seed=0)
    words = words_in(reading.model, reading.batch)
    size = int(words.of.max()) + 1
    return _Read(by_word(snapshot(reading, "attention"), words.of, size), classifier.labels)


def _noisy(classifier: Classifier, text: str, size: float) -> list[_Read]:
    return [_read(classifier, text, size, draw) for draw in range(DRAWS)]


@lru_cache(maxsize=4)
def _classifier(folder: Path) -> Classifier | None:
    try:
        return Classifier.from_pretrained(folder)
    except BadInput:
        return None


def tables(number: int) -> Callable[[Results], list[Table]]:
    """How far heatmap and prediction move, ours beside the paper's."""

    def made(results: Results) -> list[Table]:
        change = _FIGURES[number]
        rows = []
        for dataset, encoder, method in _able(results.numbers, change):
            model = f"{encoder} {method}"
            theirs = published("seat")["examples"]["printed"][change][method]

            def number_of(name: str, dataset: str = dataset, model: str = model) -> str:
                found = results.numbers.get(dataset, model, EXAMPLE, name, group=change)
                return significant(found.estimate if found else None)

            said = [_said(results.numbers, dataset, model, f"{change} {when}") for when in (_BEFORE, _AFTER)]
            cells = [number_of("jsd"), significant(theirs[0]), number_of("tvd"), significant(theirs[1])]
            rows.append(
                [
                    dataset,
                    encoder,
                    method,
                    *cells,
                    number_of("sharpness"),
                    said[0],
                    theirs[2],
                    said[1],
                    theirs[3],
                ]
            )
        pairs = [heading for name in ("JSD", "TVD") for heading in (name, "paper")]
        headings = [
            "dataset",
            "encoder",
            "method",
            *pairs,
            "sharpness",
            "said before",
            "paper",
            "said after",
            "paper",
        ]
        return [Table(headings, rows)] if rows else []

    return made


def pictures(number: int) -> Callable[[Results], list[Picture]]:
    """The sentence before and after, method by method."""

    def made(results: Results) -> list[Picture]:
        change, given = _FIGURES[number], published("seat")["examples"]
        found = _able(results.numbers, change)
        drawn = []
        for dataset, encoder in dict.fromkeys((dataset, encoder) for dataset, encoder, _ in found):
            texts = []
            for _, _, method in (each for each in found if each[:2] == (dataset, encoder)):
                for when in (_BEFORE, _AFTER):
                    text = given["perturbed"] if (change, when) == (_WORDS, _AFTER) else given["benign"]
                    group, model = f"{change} {when}", f"{encoder} {method}"
                    said = f"→ {_said(results.numbers, dataset, model, group)}"
                    weights = _weights(results.numbers, dataset, model, group)
                    words = [*zip(text.split(), weights, strict=True), (said, 0.0)]
                    texts.append(ShadedText(f"{method}, {when}", words))
            title = f"{_TITLES[number]}: {dataset}, {encoder}"
            caption = [
                "The paper's sentence. Darker: more attention, relative to the largest weight of the line."
            ]
            spec = shaded_words(texts, title=title, caption=caption, width=560)
            name = f"figure-{number}-{dataset}-{encoder.lower()}"
            drawn.append(Picture(name, f"A sentence before and after: {title}", spec))
        return drawn

    return made


def _able(numbers: Numbers, change: str) -> list[tuple[str, str, str]]:
    return [
        (dataset, encoder, method)
        for dataset, encoder, able in measured(numbers, SHOWN, EXAMPLE)
        for method in able
        if encoder in ENCODERS and numbers.get(dataset, f"{encoder} {method}", EXAMPLE, "jsd", group=change)
    ]


def _weights(numbers: Numbers, dataset: str, model: str, group: str) -> list[float]:
    own = numbers.of(dataset, model, EXAMPLE)
    return [n.estimate for n in own if n.group == group and n.measure.startswith("weight ")]


def _said(numbers: Numbers, dataset: str, model: str, group: str) -> str:
    """The label that the model gives, and how likely it holds it to be."""
    shares = {
        n.measure.removeprefix("probability of "): n.estimate
        for n in numbers.of(dataset, model, EXAMPLE)
        if n.group == group and n.measure.startswith("probability of ")
    }
    if not shares:
        return NOTHING
    label = max(shares, key=lambda name: shares[name])
    return f"{label} {percentage(shares[label], 1)}"
