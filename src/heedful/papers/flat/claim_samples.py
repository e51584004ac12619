"""Numbers behind FLAT's claims about words: each brings draws of other words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from heedful.papers.claims import Sample
from heedful.papers.flat.methods import NEITHER, NO_BETA, NO_GAMMA, ablated, model_name, named
from heedful.papers.flat.paper_tables import SHARPNESS
from heedful.papers.flat.word_importance import synonym_gaps, word_counts
from heedful.papers.results import MeasuredRun, Results

_DRAWS = 1000
_FLAT = model_name("LSTM", "FLAT", "textfooler")
WITHOUT_BETA = tuple(map(ablated, (NO_BETA, NEITHER)))
MASKED = named("FLAT", encoders=("LSTM", "CNN"))

WordNumbers = Float[np.ndarray, " words"]


def mean_mask(results: Results) -> list[Sample]:
    """Mean of the masks over the vocabulary, of models without the entropy."""

    def masks(run: MeasuredRun) -> WordNumbers | None:
        counts = word_counts(run)
        return None if counts is None else counts.importance

    return [
        sample
        for dataset in results.datasets
        for name in WITHOUT_BETA
        if (sample := _mean(dataset, name, [masks(run) for run in results.of(dataset, name, SHARPNESS)]))
    ]


def gap_saved(results: Results) -> list[Sample]:
    """Gap of words and their synonyms with γ − without it, word by word and seed by seed."""
    found = []
    for dataset in results.datasets:
        whole, without = (
            {run.seed: run for run in results.of(dataset, name, SHARPNESS)}
            for name in (_FLAT, ablated(NO_GAMMA))
        )
        apart: list[WordNumbers | None] = []
        for seed in sorted(whole.keys() & without.keys()):
            ours, theirs = synonym_gaps(whole[seed]), synonym_gaps(without[seed])
            same = ours is not None and theirs is not None and len(ours) == len(theirs)
            apart.append(ours - theirs if same and ours is not None and theirs is not None else None)
        if sample := _mean(dataset, _FLAT, apart):
            found.append(sample)
    return found


def correlation(other: str) -> Callable[[Results], list[Sample]]:
    """Pearson's r of importance and how often words are seen (`frequency`) or replaced (`substitutions`)."""

    def samples(results: Results) -> list[Sample]:
        found = []
        for dataset in results.datasets:
            for name in MASKED:
                each, draws, size = [], [], 0
                for run in results.of(dataset, name, SHARPNESS):
                    counts = word_counts(run)
                    if counts is None:
                        continue
                    times = getattr(counts, other).astype(np.float64)
                    drawn = _pearson_draws(counts.importance[times > 0], times[times > 0])
                    if drawn is None:
                        continue
                    each.append(float(drawn[0]))
                    draws.append(drawn[1:])
                    size = int((times > 0).sum())
                if each:
                    mean = np.mean(draws, axis=0)
                    found.append(Sample(dataset, name, float(np.mean(each)), mean, size, (each,)))
        return found

    return samples


def _mean(dataset: str, model: str, seeds: Sequence[WordNumbers | None]) -> Sample | None:
    """A mean over words of every seed, and of words drawn anew: the same for all seeds."""
    known = [values for values in seeds if values is not None and len(values)]
    if not known:
        return None
    size = min(map(len, known))
    values = np.stack([each[:size] for each in known])
    random = np.random.default_rng(0)
    draws = np.array([values[:, random.integers(size, size=size)].mean() for _ in range(_DRAWS)])
    return Sample(dataset, model, float(values.mean()), draws, size, (values.mean(1).tolist(),))


def _pearson_draws(x: WordNumbers, y: WordNumbers) -> Float[np.ndarray, " draws"] | None:
    """Pearson's r of the words as they are, and of words drawn anew."""
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    random = np.random.default_rng(0)
    rows = [np.arange(len(x)), *(random.integers(len(x), size=len(x)) for _ in range(_DRAWS))]
    with np.errstate(invalid="ignore"):
        found = np.array([float(np.corrcoef(x[each], y[each])[0, 1]) for each in rows])
    drawn: np.ndarray = np.nan_to_num(found)
    return drawn
