"""Numbers behind SEAT's claims: ratios and differences to other methods, paired text by text and seed by seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from heedful.measures.resampling import over_texts
from heedful.papers.claims import Sample
from heedful.papers.results import Results
from heedful.papers.seat.method_draws import DrawnNumber, Methods
from heedful.papers.seat.methods import COMPARED, ENCODERS, PAPER, RIVALS

Samples = Callable[[Results], list[Sample]]
_LEAST = 1e-12
"""A JSD or TVD below this is rounding, and divides nothing."""
_SHARP_ENOUGH, _AS_SHARP = 0.5, 0.9


def over_best_rival(audit: str, column: str) -> Samples:
    """SEAT's number over the lowest of the six other methods'; below 1 it is the lowest of all."""

    def sample(methods: Methods, encoder: str) -> DrawnNumber | None:
        own, *others = methods.mean(*_named(encoder, "seat", *RIVALS), column=column)
        return _worst([_ratio(own, other) for other in others], largest=True)

    return _everywhere(("seat", *RIVALS), audit, sample, ratio=True)


def minus_best_rival(audit: str, column: str, *, lower: bool) -> Samples:
    """SEAT's number less the best of the six other methods'; `lower` says which is better."""

    def sample(methods: Methods, encoder: str) -> DrawnNumber | None:
        own, *others = methods.mean(*_named(encoder, "seat", *RIVALS), column=column)
        return _worst([_minus(own, other) for other in others], largest=lower)

    return _everywhere(("seat", *RIVALS), audit, sample)


def f1_change(method: str) -> Samples:
    """F1 of a method less that of vanilla."""

    def sample(methods: Methods, encoder: str) -> DrawnNumber:
        return _minus(*methods.f1(*_named(encoder, method, "vanilla")))

    return _everywhere((method, "vanilla"), "embedding_stability", sample)


def over(method: str, other: str, column: str) -> Samples:
    """A method's number under noise over another's."""

    def sample(methods: Methods, encoder: str) -> DrawnNumber:
        return _ratio(*methods.mean(*_named(encoder, method, other), column=column))

    return _everywhere((method, other), "embedding_stability", sample, ratio=True)


def over_the_sharp(column: str) -> Samples:
    """Steady's JSD over the lowest of the paper's methods whose heatmaps are at most a tenth less sharp."""

    def sample(methods: Methods, encoder: str) -> DrawnNumber | None:
        names = _named(encoder, "steady", *PAPER)
        (own, *others), (sharp, *theirs) = (methods.mean(*names, column=c) for c in (column, "sharpness"))
        able = [o for o, t in zip(others, theirs, strict=True) if t.estimate >= _AS_SHARP * sharp.estimate]
        return _worst([_ratio(own, other) for other in able], largest=True)

    return _everywhere(("steady", *PAPER), "embedding_stability", sample, ratio=True)


def top_items(datasets: Sequence[str]) -> Samples:
    """Share of SEAT's top items that are vanilla's."""

    def sample(methods: Methods, encoder: str) -> DrawnNumber | None:
        return methods.overlap(*_named(encoder, "seat", "vanilla"))

    return _everywhere(("seat", "vanilla"), "sharpness", sample, datasets=datasets)


def least_of_the_sharp(column: str) -> Samples:
    """The lowest JSD among methods whose heatmaps are more than half as sharp as vanilla's."""

    def samples(results: Results) -> list[Sample]:
        found = []
        for dataset in results.datasets:
            for encoder in ENCODERS:
                able = [
                    name
                    for name in COMPARED
                    if results.of(dataset, f"{encoder} {name}", "embedding_stability")
                ]
                if "vanilla" in able and len(able) > 1:
                    models = [f"{encoder} {name}" for name in able]
                    alone = [Methods(results, dataset, [name], "embedding_stability") for name in models]
                    sharp, moved = (
                        [own.mean(name, column=c)[0] for own, name in zip(alone, models, strict=True)]
                        for c in ("sharpness", column)
                    )
                    bound = _SHARP_ENOUGH * sharp[able.index("vanilla")].estimate
                    kept = [m for m, s in zip(moved, sharp, strict=True) if s.estimate > bound]
                    if least := _worst(kept, largest=False):
                        found.append(_sample(dataset, encoder, least))
        return found

    return samples


def _everywhere(
    names: Sequence[str],
    audit: str,
    sample: Callable[[Methods, str], DrawnNumber | None],
    *,
    ratio: bool = False,
    datasets: Sequence[str] | None = None,
) -> Samples:
    """A sample for each dataset and encoder where all these methods have a seed in common; of a ratio its logarithm is given."""

    def samples(results: Results) -> list[Sample]:
        found = []
        for dataset in results.datasets if datasets is None else datasets:
            for encoder in ENCODERS:
                methods = Methods(results, dataset, _named(encoder, *names), audit)
                drawn = sample(methods, encoder) if methods.seeds else None
                if drawn is not None and np.isfinite(drawn.estimate):
                    found.append(_sample(dataset, encoder, drawn, ratio=ratio))
        return found

    return samples


def _sample(dataset: str, encoder: str, drawn: DrawnNumber, *, ratio: bool = False) -> Sample:
    """Average over seeds; the mean of ratios is geometric."""
    unscaled = np.exp if ratio else np.asarray
    estimate, *draws = unscaled(over_texts(drawn.values)).tolist()
    seeds = (unscaled(drawn.values[:, 0]).tolist(),)
    return Sample(dataset, encoder, estimate, np.array(draws), drawn.texts, seeds)


def _named(encoder: str, *methods: str) -> list[str]:
    return [f"{encoder} {method}" for method in methods]


def _ratio(one: DrawnNumber, other: DrawnNumber) -> DrawnNumber:
    """The logarithm of a ratio, seed by seed."""
    logs = [np.log(np.maximum(drawn.values, _LEAST)) for drawn in (one, other)]
    return DrawnNumber(logs[0] - logs[1], one.texts)


def _minus(one: DrawnNumber, other: DrawnNumber) -> DrawnNumber:
    return DrawnNumber(one.values - other.values, min(one.texts, other.texts))


def _worst(found: Sequence[DrawnNumber], *, largest: bool) -> DrawnNumber | None:
    """The one with the largest (or smallest) mean over seeds."""
    pick = max if largest else min
    return pick(found, key=lambda drawn: drawn.estimate, default=None)
