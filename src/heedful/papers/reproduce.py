"""Repeat a paper's experiments: choose the cases, measure what is missing, and put everything on a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from heedful.config import TrainConfig
from heedful.errors import BadInput
from heedful.papers.attacked_training import AttackChoices
from heedful.papers.corpus_counts import count_corpora, join_counts, keep_counts, kept_counts
from heedful.papers.kept_runs import join_runs, keep_runs, kept_runs, not_kept
from heedful.papers.measure_recipe import measure_recipe
from heedful.papers.outcome import make_page, split
from heedful.papers.paper_page import Page
from heedful.papers.parts import keep, kept
from heedful.papers.recipe import RECIPES, Experiment, Recipe
from heedful.papers.results import Results
from heedful.progress import QUIET, Watcher


def reproduce(
    recipe: str,
    *,
    tables: Sequence[str] | None = None,
    figures: Sequence[str] | None = None,
    claims: bool = False,
    datasets: Sequence[str] | None = None,
    encoders: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
    texts: int | None = None,
    attacks: AttackChoices | None = None,
    only_finished: bool = False,
    together: Path | None = None,
    runs: Path = Path("runs"),
    watcher: Watcher = QUIET,
) -> Page:
    """Train and audit what tables, figures or claims of a paper need; without a choice, everything.

    In the folder `together` numbers are also kept, and those that other machines saved there are added.
    """
    chosen = RECIPES.get(recipe)
    needed, shown = _choose(chosen, tables, figures, claims=claims)
    counts_alone = not any(experiment.audit for experiment in needed)
    if together is not None and not (chosen.joins or chosen.besides or counts_alone):
        _refuse_join(recipe)
    if not chosen.attacks and attacks is not None and attacks != AttackChoices():
        _refuse_attacks(recipe)
    cases = chosen.cases(
        needed,
        datasets=datasets,
        encoders=encoders,
        seeds=seeds,
        texts=texts,
        attacks=attacks or AttackChoices(),
        costly=not claims and (tables is not None or figures is not None),
    )
    parts = kept(chosen.name, together) if together and chosen.joins else []
    others = kept_runs(chosen, together) if together and chosen.besides else []
    audits = list(dict.fromkeys(experiment.audit for experiment in needed if experiment.audit))
    if len(new := not_kept(cases, audits, others)) < len(cases):
        watcher.say(
            f"{len(cases) - len(new)} of {len(cases)} runs are kept in {together} and not measured again."
        )
    results = measure_recipe(new, audits, runs=runs, only_finished=only_finished, watcher=watcher)
    asked = chosen.corpora(needed, datasets=datasets)
    lenient = only_finished and bool(cases or others)
    results = _count(chosen, asked, results, together, lenient=lenient, watcher=watcher)
    if not (results.runs or parts or others or results.corpora.rows):
        refuse_unfinished(results.missing, runs=len(new), only_finished=only_finished)
    if together is not None and chosen.besides:
        _tell_kept(keep_runs(chosen, results, together), watcher)
        results = join_runs(chosen, results, others)
    elif together is not None and chosen.joins:
        here = split(chosen, results)
        _tell_kept(keep(here, together), watcher)
        results, parts = replace(results, runs=()), [*parts, *here]
    return make_page(chosen, results, shown, parts)


def _count(
    recipe: Recipe,
    asked: dict[str, TrainConfig],
    results: Results,
    together: Path | None,
    *,
    lenient: bool,
    watcher: Watcher,
) -> Results:
    """Count the corpora that are asked for, and put those beside them that others counted."""
    counted, missing = count_corpora(asked, lenient=lenient, watcher=watcher)
    if together is not None:
        here = counted
        counted = join_counts(list(recipe.datasets), kept_counts(recipe.name, together), counted)
        if here.rows:
            _tell_kept([keep_counts(recipe.name, counted, together)], watcher)
    return replace(results, corpora=counted, missing=(*results.missing, *missing))


def refuse_unfinished(missing: Sequence[tuple[str, str]], *, runs: int, only_finished: bool) -> NoReturn:
    """Name the first missing run and the reason; with `only_finished`, also say how to do them."""
    what, why = missing[0]
    remedy = ": leave out --only-finished to do them" if only_finished else ""
    raise BadInput(f"None of the {runs} runs is trained and audited ({what}: {why}){remedy}.")


def _tell_kept(paths: Iterable[Path], watcher: Watcher) -> None:
    for path in paths:
        watcher.say(f"Kept: {path}")


def _refuse_join(recipe: str) -> NoReturn:
    able = ", ".join(name for name in RECIPES if RECIPES.get(name).joins or RECIPES.get(name).besides)
    raise BadInput(f"Parts of {recipe} cannot be joined: --join is for {able}.")


def _refuse_attacks(recipe: str) -> NoReturn:
    able = ", ".join(name for name in RECIPES if RECIPES.get(name).attacks)
    raise BadInput(f"Nothing of {recipe} is attacked: leave out the options of attacks, or reproduce {able}.")


def _choose(
    recipe: Recipe, tables: Sequence[str] | None, figures: Sequence[str] | None, *, claims: bool
) -> tuple[list[Experiment], list[Experiment]]:
    """Return the experiments to measure, and those to show."""
    asked = [recipe.find("table", number) for number in tables or ()]
    asked += [recipe.find("figure", number) for number in figures or ()]
    needed = list(recipe.experiments) if claims or not asked else asked
    return needed, asked if asked or claims else needed
