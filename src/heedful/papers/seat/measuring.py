"""All numbers of SEAT's tables and figures, measured of runs: the tables are made from these, and from nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from heedful.audits.audit import BINS, in_bin
from heedful.comparison.stability_frontier import AUDIT as NOISY
from heedful.measures.resampling import FEWEST_SEEDS, over_seeds
from heedful.papers.measured_numbers import TRAINING, MeasuredNumber, Numbers
from heedful.papers.results import MeasuredRun, Results, by_class, column
from heedful.papers.seat.example_sentences import example_numbers
from heedful.papers.seat.method_draws import DrawnNumber, Methods
from heedful.papers.seat.methods import NOISE, WORDS

ALL_WORDS = "all_0.01"
VANILLA = "vanilla"
F1, SHARPNESS, OVERLAP, RADIUS = "f1", "sharpness", "overlap", "radius_linf"
RATIONALE = ("comprehensiveness", "sufficiency", "sensitivity")
COLUMNS: Mapping[str, Sequence[str]] = {
    NOISY: [
        f"{name}_{scope}_{size:g}" for size in NOISE for scope in ("one", "all") for name in ("jsd", "tvd")
    ],
    "rationale": [*RATIONALE, *(f"{name}_{kind}" for kind in ("random", "top") for name in RATIONALE[:2])],
    "word_stability": [f"{name}_{count}" for count in WORDS for name in ("jsd", "tvd", "relative_jsd")],
    "sharpness": [],
}
OF_A_SEED = (
    f"jsd_{ALL_WORDS}",
    SHARPNESS,
    F1,
    f"relative_jsd_{ALL_WORDS}",
    f"tvd_{ALL_WORDS}",
    "largest_weight",
    OVERLAP,
)
"""What is measured seed by seed."""
JSD_LESS, TVD_LEFT, SHARPNESS_LEFT, F1_MORE = (
    f"vanilla's jsd_{ALL_WORDS} / jsd_{ALL_WORDS}",
    f"tvd_{ALL_WORDS} / vanilla's",
    "sharpness / vanilla's",
    "f1 − vanilla's",
)
SEEDS = "seed_stability"
TERMS = tuple(f"{split} {name}" for split in ("train", "dev") for name in ("top_k_loss", "top_k_overlap"))
TRAIN, TEST, AUDITED = "train texts", "test texts", "audited texts"


def bin_name(low: float, high: float) -> str:
    """What a measure of texts with such a largest weight is called; its interval is that of the quartiles."""
    return f"jsd_max, largest weight {low:.2f}–{high:.2f}"


def numbers(results: Results) -> Numbers:
    """Measure every model over its seeds, seed by seed, and against the vanilla model of the same seed."""
    found: list[MeasuredNumber] = []
    for dataset, model, runs in results.pairs():
        found += _trained(runs)
        for audit in COLUMNS:
            if results.of(dataset, model, audit):
                found += _means(results, dataset, model, audit)
        for run in results.of(dataset, model, NOISY):
            found += _of_a_seed(results, run)
        found += _against_vanilla(results, dataset, model)
        found += _other_seeds(results.of(dataset, model, SEEDS))
        found += example_numbers(runs)
    return Numbers(tuple(found))


def _vanilla(model: str) -> str:
    return f"{model.split(maxsplit=1)[0]} {VANILLA}"


def _trained(runs: Sequence[MeasuredRun]) -> Iterator[MeasuredNumber]:
    """F1 of all test texts, how many texts there are, and the terms of the loss epoch by epoch."""
    run = runs[0]
    head = (run.dataset, run.model, TRAINING)
    for each in runs:
        yield MeasuredNumber(*head, F1, each.metrics["test"]["f1"], seed=each.seed)
    yield MeasuredNumber(
        *head, F1, float(np.mean([each.metrics["test"]["f1"] for each in runs])), seeds=len(runs)
    )
    sizes = run.metrics["sizes"]
    for name, size in ((TRAIN, sizes["train"]), (TEST, sizes["test"]), (AUDITED, run.texts)):
        yield MeasuredNumber(*head, name, float(size))
    histories = [each.metrics.get("history", []) for each in runs]
    for place in range(max(map(len, histories))):
        epochs = [history[place] for history in histories if len(history) > place]
        for term in TERMS:
            yield MeasuredNumber(
                *head, term, _term(epochs, *term.split()), group=str(place + 1), seeds=len(epochs)
            )


def _term(epochs: Sequence[Mapping[str, Any]], split: str, name: str) -> float:
    values = [epoch[split][name] for epoch in epochs if name in epoch.get(split, {})]
    return float(np.mean(values)) if values else np.nan


def _means(results: Results, dataset: str, model: str, audit: str) -> Iterator[MeasuredNumber]:
    """Means over texts and seeds with intervals, and what stands beside them."""
    own = Methods(results, dataset, [model], audit)
    present = own.runs[model][0].frames[audit].columns
    named = [name for name in (*COLUMNS[audit], SHARPNESS) if name in present]
    drawn: dict[str, DrawnNumber | None] = {name: own.mean(model, column=name)[0] for name in named}
    if audit in (NOISY, "word_stability"):
        drawn[F1] = own.f1(model)[0]
    if model != _vanilla(model):
        both = Methods(results, dataset, [model, _vanilla(model)], audit)
        drawn[OVERLAP] = both.overlap(model, _vanilla(model)) if both.seeds else None
    for name, values in drawn.items():
        if values is not None:
            spread = (np.nan,) * 3 if np.isnan(values.estimate) else values.spread()
            yield MeasuredNumber(
                dataset, model, audit, name, *spread, seeds=len(own.seeds), texts=values.texts
            )


def _of_a_seed(results: Results, run: MeasuredRun) -> Iterator[MeasuredNumber]:
    vanilla = _vanilla(run.model)
    alone = Results(tuple(r for r in results.runs if r.seed == run.seed))
    own = Methods(alone, run.dataset, [run.model], NOISY)
    pair = Methods(alone, run.dataset, [run.model, vanilla], NOISY)
    for name in OF_A_SEED:
        if name == OVERLAP:
            found = pair.overlap(run.model, vanilla) if pair.seeds and run.model != vanilla else None
        else:
            found = (own.f1(run.model) if name == F1 else own.mean(run.model, column=name))[0]
        if found is not None:
            yield MeasuredNumber(
                run.dataset, run.model, NOISY, name, found.estimate, seed=run.seed, texts=found.texts
            )
    if "certificate" in run.frames:
        radius = column([run], "certificate", RADIUS)
        mean = float(np.nanmean(radius)) if np.isfinite(radius).any() else np.nan
        yield MeasuredNumber(
            run.dataset, run.model, "certificate", RADIUS, mean, seed=run.seed, texts=len(radius)
        )


def _against_vanilla(results: Results, dataset: str, model: str) -> Iterator[MeasuredNumber]:
    """Ratios and differences to the vanilla model of the same seed, with an interval over seeds and texts."""
    names = [model, _vanilla(model)]
    both = Methods(results, dataset, names, NOISY)
    if model == _vanilla(model) or not both.seeds:
        return
    f1s = both.f1(*names)
    logs = {
        JSD_LESS: _logs(*reversed(both.mean(*names, column=f"jsd_{ALL_WORDS}"))),
        TVD_LEFT: _logs(*both.mean(*names, column=f"tvd_{ALL_WORDS}")),
        SHARPNESS_LEFT: _logs(*both.mean(*names, column=SHARPNESS)),
    }
    for name, values in {**logs, F1_MORE: f1s[0].values - f1s[1].values}.items():
        if not len(values):
            continue
        scale = np.exp if name in logs else np.asarray  # the mean of ratios over seeds is geometric
        estimate, low, high = map(float, scale(over_seeds(values)))
        if len(values) < FEWEST_SEEDS:
            low = high = np.nan
        yield MeasuredNumber(dataset, model, NOISY, name, estimate, low, high, seeds=len(values))


def _logs(one: DrawnNumber, other: DrawnNumber) -> np.ndarray:
    """Logarithms of a ratio, of the seeds that have one: twice and half as much are equally far from the same."""
    able = (one.values > 0).all(1) & (other.values > 0).all(1)
    logs: np.ndarray = np.log(one.values[able]) - np.log(other.values[able])
    return logs


def _other_seeds(runs: list[MeasuredRun]) -> Iterator[MeasuredNumber]:
    """Largest JSD to the models of other seeds: median and quartiles by the largest weight and the predicted class."""
    if not runs:
        return
    head = (runs[0].dataset, runs[0].model, SEEDS)
    for label, where in by_class(runs):
        for low, high in BINS:
            inside = in_bin(low, high) if where is None else where & in_bin(low, high)
            values = column(runs, SEEDS, "jsd_max", inside)
            present = values[~np.isnan(values)]
            if len(present):
                first, middle, third = map(float, np.quantile(present, [0.25, 0.5, 0.75]))
                yield MeasuredNumber(
                    *head, bin_name(low, high), middle, first, third, group=label, texts=len(present)
                )
        for name in ("relative_jsd", SHARPNESS):
            values = column(runs, SEEDS, name, where)
            mean = float(np.nanmean(values)) if np.isfinite(values).any() else np.nan
            yield MeasuredNumber(*head, name, mean, group=label, texts=int(np.isfinite(values).sum()))
