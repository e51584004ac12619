"""Numbers behind AtteFa's claims: scores are ratios of means, so that each brings its own draws."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from heedful.measures.resampling import over_texts
from heedful.papers.attefa.twinned import twinned
from heedful.papers.claims import Sample
from heedful.papers.results import Results

MOCK = ("mock_1", "mock_2", "mock_5", "mock_10", "mock_1q", "mock_2q", "mock_3q", "mock_4q")
REAL = ("sst2", "imdb", "ag_news_binary", "20news_sports")
TWO_MODELS = ("LSTM", "MLP")
LADDER = MOCK
"""Every corpus whose informative tokens are counted, by how frequent they are."""
F1_LOSS = 0.05
_DRAWS = 1000


def falls(model: str, *, corrected: bool = False) -> Callable[[Results], list[Sample]]:
    """By how much the score falls from one step of the ladder to the next that is measured."""

    def samples(results: Results) -> list[Sample]:
        steps = [found for name in LADDER if (found := _score(results, name, model, corrected=corrected))]
        return [_minus(poor, rich, f"{poor.dataset} − {rich.dataset}") for poor, rich in pairwise(steps)]

    return samples


def falls_corrected(model: str) -> Callable[[Results], list[Sample]]:
    """The same for the corrected score."""
    return falls(model, corrected=True)


def gap(results: Results) -> list[Sample]:
    """AtteFa of MLP − AtteFa of LSTM on each corpus."""
    found = []
    for dataset in results.datasets:
        lstm, mlp = (_score(results, dataset, model) for model in TWO_MODELS)
        if lstm and mlp:
            found.append(_minus(mlp, lstm, dataset))
    return found


def real_below_mock(results: Results) -> list[Sample]:
    """By how much AtteFa of a real corpus lies below the least of those with few informative tokens."""
    few = [found for name in MOCK[:4] if (found := _score(results, name, "MLP"))]
    if not few:
        return []
    least = min(few, key=lambda sample: sample.estimate)
    real = [found for name in REAL if (found := _score(results, name, "MLP"))]
    return [_minus(least, sample, sample.dataset) for sample in real]


def f1_kept(results: Results) -> list[Sample]:
    """F1 of the twins − F1 of their base, over an LSTM on real text."""
    found = []
    for dataset in REAL:
        for run in results.of(dataset, "LSTM", "imitation"):
            lost = np.array([twin.f1 for twin in twinned(run).twins]) - run.metrics["test"]["f1"]
            lost = lost[~np.isnan(lost)]
            if len(lost):
                # Of a twin only its F1 is kept, so that texts cannot be drawn anew.
                draws = np.full(_DRAWS, lost.mean())
                found.append(Sample(dataset, "LSTM", float(lost.mean()), draws, len(lost), (lost.tolist(),)))
    return found


def _score(results: Results, dataset: str, model: str, *, corrected: bool = False) -> Sample | None:
    runs = results.of(dataset, model, "imitation")
    if not runs:
        return None
    scores = twinned(runs[0]).scores(corrected=corrected)
    estimate, *draws = over_texts(scores).tolist()
    return Sample(dataset, model, estimate, np.array(draws), len(scores), (scores[:, 0].tolist(),))


def _minus(first: Sample, second: Sample, name: str) -> Sample:
    """A difference of two bases, whose twins have nothing to do with each other."""
    seeds = (*first.seeds, *second.seeds)  # their signs do not matter for how they spread
    estimate, draws = first.estimate - second.estimate, first.draws - second.draws
    return Sample(name, first.model, estimate, draws, min(first.size, second.size), seeds)
