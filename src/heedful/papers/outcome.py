"""Put what was measured on a page: tables, claims, what differs, what is missing."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

import numpy as np

from heedful.measures.intervals import Interval
from heedful.output.numbers import NOTHING
from heedful.output.tables import Table
from heedful.papers.claims import Claim, ClaimPart, Judged, judge_all, judge_samples
from heedful.papers.judged import numbers_of
from heedful.papers.measured_numbers import Numbers
from heedful.papers.origin import origin
from heedful.papers.paper_page import Page, Section
from heedful.papers.parts import PagePart, best, join, of_claim
from heedful.papers.recipe import Experiment, Recipe
from heedful.papers.results import Missing, Results

_WHOLE = re.compile(r"(?<![\w.,-])\d(?:\d|,(?=\d))*(?![\w-])(?!\.\d)")
"""Whole numbers that are not part of a name or of another number."""
_HERE = "\N{NULL}"
_OF_TEXTS = "†"
_NAMED = 8  # models that a sentence can name
COUNTED = "Corpora are counted as the recipe reads them; no model is trained for that."
_OF_MODELS = (
    "dataset",
    "model",
    "seeds",
    "measure",
    "ours",
    "paper",
    "train texts",
    "paper",
    "test texts audited",
    "paper",
)


def make_page(
    recipe: Recipe, results: Results, experiments: Sequence[Experiment], kept: Sequence[PagePart] = ()
) -> Page:
    """Write a page about some experiments, and about every claim of the paper; with parts that were measured elsewhere."""
    lead = recipe.lead(results) if results.runs or not results.corpora.rows else COUNTED
    parts: list[PagePart] = []
    if recipe.joined is not None:
        parts = best([*kept, *split(recipe, results)], recipe.places)
        seeds = sorted({seed for part in parts for seed in part.seeds})
        lead = f"{sum(part.runs for part in parts)} runs (seed {', '.join(map(str, seeds))}). {lead}{_unseeded(parts)}"
        judged = [
            judge_samples(claim, [sample for part in parts for sample in part.samples(claim.id)])
            for claim in recipe.claims
        ]
        shown = [part.results for part in parts]
        lead = lead if parts or not results.corpora.rows else COUNTED
        models = [row for part in parts for row in recipe.joined.models(part.numbers)]
        notes = dict.fromkeys(note for part in parts for note in part.notes)
    else:
        judged = judge_all(recipe.claims, results)
        shown = [results]
        models = _models(recipe, results)
        notes = dict.fromkeys(_notes(results))
    sections = [
        Section(
            f"{asked.name}: {asked.title}",
            join(table for each in of for table in asked.tables(each)),
            asked.notes,
            [picture for each in of for picture in asked.pictures(each)],
        )
        for asked in experiments
        for of in ([results] if asked.corpora else shown,)
    ]
    if results.runs or parts or not results.corpora.rows:
        sections += [
            claims(recipe, judged),
            Section(
                "Models", [Table(_OF_MODELS, models, "Test performance, and texts trained and audited on")]
            ),
        ]
    sections += [
        Section("What differs from the paper", lines=[*_differences(recipe, results, parts), *notes]),
    ]
    if missing := missing_runs(recipe, results, parts):
        sections.append(Section("Missing", lines=[f"{what}: {why}" for what, why in missing]))
    return Page(f"{recipe.title}: reproduced", [lead], sections)


def split(recipe: Recipe, results: Results) -> list[PagePart]:
    """Take what was measured apart by dataset and encoder."""
    encoders = {model.name: model.encoder for model in recipe.models}
    found = dict.fromkeys((run.dataset, encoders[run.model]) for run in results.runs)
    return [part_of(recipe, _at(recipe, results, *place), *place) for place in found]


def part_of(recipe: Recipe, results: Results, dataset: str, encoder: str) -> PagePart:
    """Give all numbers of one dataset and encoder."""
    assert recipe.joined is not None
    deciding = [
        number
        for claim in recipe.claims
        if callable(claim.value)
        for number in of_claim(claim.id, claim.audit, claim.value(results))
    ]
    numbers = Numbers((*recipe.joined.numbers(results).rows, *deciding))
    return PagePart(
        recipe=recipe.name,
        dataset=dataset,
        encoder=encoder,
        numbers=numbers,
        seeds=tuple(sorted({run.seed for run in results.runs})),
        runs=len(results.runs),
        amount=sum(run.texts * len(run.frames) for run in results.runs),
        notes=tuple(_notes(results)),
        missing=results.missing,
        origin=origin(numbers, results),
    )


def whole(recipe: Recipe, results: Results) -> PagePart:
    """Give what decided the claims of a recipe whose tables are of all its runs together; its note is the lead of the page."""
    numbers = Numbers(tuple(numbers_of(judge_all(recipe.claims, results))))
    return PagePart(
        recipe=recipe.name,
        dataset="",
        encoder="",
        numbers=numbers,
        seeds=tuple(sorted({run.seed for run in results.runs})),
        runs=len(results.runs),
        amount=sum(run.texts * len(run.frames) for run in results.runs),
        notes=(recipe.lead(results),),
        missing=results.missing,
        origin=origin(numbers, results),
    )


def missing_runs(recipe: Recipe, results: Results, parts: Sequence[PagePart]) -> list[Missing]:
    """Give what is missing: of every dataset and encoder what its part lacks, and all runs of those without a part."""
    if not recipe.joins:
        return list(results.missing)
    of = {part.place: part.missing for part in parts}
    found = [of[place] if place in of else _at(recipe, results, *place).missing for place in recipe.places]
    return [lack for part in found for lack in part]


def _at(recipe: Recipe, results: Results, dataset: str, encoder: str) -> Results:
    """Results of one dataset and encoder."""
    models = [model.name for model in recipe.models if model.encoder == encoder]
    lacking = tuple(f"{dataset} {model} seed " for model in models)
    return Results(
        tuple(run for run in results.runs if run.dataset == dataset and run.model in models),
        tuple(lack for lack in results.missing if lack.what.startswith(lacking)),
    )


def claims(recipe: Recipe, judged: Sequence[Judged]) -> Section:
    """Say of every claim whether it holds, how claims are decided, and what was found on each dataset and model."""
    rows = []
    for found in judged:
        ours = (
            estimate(found.interval) + (f" {_OF_TEXTS}" if _of_texts(found) else "")
            if found.parts
            else NOTHING
        )
        held = f"{found.held} of {found.able}" if found.able else NOTHING
        claim = found.claim
        rows.append([claim.id, claim.statement, found.word, ours, claim.range, held])
    headings = ["", "claim", "", "ours (95 % interval)", "claimed", "holds on"]
    lines = [_details(found) if found.parts else _how_to_measure(recipe, found.claim) for found in judged]
    caveat = (
        f" {_OF_TEXTS} Over texts alone, with the seeds at hand: measured before seeds entered intervals, without numbers of single seeds."
        if any(map(_of_texts, judged))
        else ""
    )
    return Section("Claims", [Table(headings, rows)], [recipe.rule + caveat, *lines])


def _of_texts(found: Judged) -> bool:
    """Whether an interval that should speak of seeds does not."""
    return any(part.seeds == () for part in found.parts)


def _details(found: Judged) -> str:
    """What was measured, where the paper has it, and the number on each dataset and model alone."""
    claim = found.claim
    several = len({part.model for part in found.parts}) > 1
    parts = "; ".join(
        f"{part.dataset}{f' {part.model}' if several else ''} {estimate(part.interval)}, {part.interval.count:,} {claim.unit}{_seeds(part, claim)}, {part.word}"
        for part in found.parts
    )
    paper = f"; the paper: {claim.published}" if claim.published else ""
    return f"{claim.id} ({_source(claim)}{paper}), {claim.measure}: {parts}."


def _seeds(part: ClaimPart, claim: Claim) -> str:
    """Say which seeds an interval speaks of, where it is not of twins, or of texts in any case."""
    if part.seeds is None or claim.unit == "twins":
        return ""
    if not part.seeds:
        return f" {_OF_TEXTS}"
    return f", {' and '.join(map(str, part.seeds))} seed{'' if part.seeds == (1,) else 's'}"


def _unseeded(parts: Sequence[PagePart]) -> str:
    """Say which tables have intervals of before, when they were over texts alone."""
    old = [part for part in parts if not part.seeded]
    if not old:
        return ""
    which = (
        "all tables"
        if len(old) == len(parts)
        else "the tables of " + "; ".join(f"{p.dataset}, {p.encoder}" for p in old)
    )
    return (
        f" **Measured before seeds entered intervals**: in {which}, intervals of means are over texts, with the seeds at hand, and those of "
        "Figures 6 and 7 are over seeds, with the texts at hand; each is narrower than one over both."
    )


def _how_to_measure(recipe: Recipe, claim: Claim) -> str:
    needed = dict.fromkeys([*claim.models, *claim.against.values()])
    able = next(
        asked
        for asked in recipe.experiments
        if asked.audit == claim.audit and (asked.models is None or needed.keys() <= set(asked.models))
    )
    on = ", ".join(needed) if len(needed) <= _NAMED else f"{len(needed)} models"
    return (
        f"{claim.id} ({_source(claim)}) is not measured: heedful reproduce {recipe.name} --{able.kind} {able.number} "
        f"measures it, on {on}."
    )


def _source(claim: Claim) -> str:
    return claim.source if claim.source == "ours" else f"section {claim.source}"


def estimate(interval: Interval) -> str:
    """A mean with its interval.

    >>> estimate(Interval(0.5, 0.25, 0.75, 9, 0))
    '0.50 (0.25 to 0.75)'
    >>> estimate(Interval(2e-5, 1e-5, 3e-5, 9, 0))
    '2.0e-05 (1.0e-05 to 3.0e-05)'
    >>> estimate(Interval(0.5, math.nan, math.nan, 9, 0))
    '0.50 (no interval)'
    """
    largest = np.nanmax(np.abs(interval[:3]))
    form = ".1e" if 0 < largest < 5e-4 else ".3f" if largest < 0.1 else ".2f"
    if math.isnan(interval.low):
        return f"{interval.estimate:{form}} (no interval)"
    return f"{interval.estimate:{form}} ({interval.low:{form}} to {interval.high:{form}})"


def _models(recipe: Recipe, results: Results) -> list[Sequence[str]]:
    assert recipe.described is not None
    rows: list[Sequence[str]] = []
    for dataset, model, runs in results.pairs():
        sizes = runs[0].metrics["sizes"]
        measure, ours, printed, train, test = recipe.described(runs)
        rows.append(
            [
                dataset,
                model,
                str(len(runs)),
                measure,
                ours,
                printed,
                f"{sizes['train']:,}",
                train,
                f"{runs[0].texts:,} of {sizes['test']:,}",
                test,
            ]
        )
    return rows


def _differences(recipe: Recipe, results: Results, parts: Sequence[PagePart]) -> Iterable[str]:
    measured = {*results.datasets, *results.corpora.datasets, *(part.dataset for part in parts)}
    for sentence, datasets in recipe.differences.items():
        if not datasets or set(datasets) & measured:
            yield sentence


def _notes(results: Results) -> list[str]:
    """What the runs and audits say of themselves, once for each dataset, with the models it is said of.

    Sentences that differ in whole numbers alone are one, with the smallest and the largest.
    """
    found: dict[tuple[str, str], list[tuple[str, list[int]]]] = {}
    for run in results.runs:
        for note in (*run.metrics["notes"], *run.notes):
            numbers = [int(number.replace(",", "")) for number in _WHOLE.findall(note)]
            found.setdefault((run.dataset, _WHOLE.sub(_HERE, note)), []).append((run.model, numbers))
    lines = []
    for (dataset, shape), noted in found.items():
        models = dict.fromkeys(model for model, _ in noted)
        everywhere = all(run.model in models for run in results.runs if run.dataset == dataset)
        note = shape
        for column in zip(*(numbers for _, numbers in noted), strict=True):
            span = dict.fromkeys(f"{number:,}" for number in (min(column), max(column)))
            note = note.replace(_HERE, " to ".join(span), 1)
        lines.append(f"{dataset}{'' if everywhere else ' ' + ', '.join(models)}: {note}")
    return lines
