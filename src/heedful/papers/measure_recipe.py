"""Train what is missing and audit it, or find what is finished."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import torch

from heedful.audits.running.folders import files_by_content
from heedful.audits.running.result import PREDICTIONS, RESULT, AuditResult
from heedful.audits.running.run import audit
from heedful.checking import build
from heedful.config import AuditOptions, TrainConfig
from heedful.data.corpora.sources import find_source
from heedful.data.corpora.synthetic import is_synthetic
from heedful.declared import complete
from heedful.errors import BadInput
from heedful.papers.attacked_training import described, lacking
from heedful.papers.case_piece import done_elsewhere
from heedful.papers.recipe import RecipeCase
from heedful.papers.results import MeasuredRun, Missing, Results
from heedful.progress import QUIET, Watcher
from heedful.runs import Run, list_runs
from heedful.training.train import train

RunOrMissing = tuple[MeasuredRun | None, Missing | None]
"""What was measured of a case, and what was not."""
_BY_CLASS = ("chances",)
"""Lists that are kept: of a number per class, while one per item would fill the memory."""


def measure_recipe(
    cases: Sequence[RecipeCase],
    audits: Sequence[str],
    *,
    runs: Path,
    only_finished: bool = False,
    watcher: Watcher = QUIET,
) -> Results:
    """Go through the cases one by one and report a line about each; what cannot be audited is left out and listed.

    A case that names audits of its own is asked these.
    """
    trained = _complete_runs(runs)
    if not only_finished:
        for dataset in dict.fromkeys(case.dataset for case in cases):
            if not is_synthetic(dataset):
                find_source(
                    dataset
                )  # better to find out now that it is missing than after an hour of training
    found: list[MeasuredRun] = []
    missing: list[Missing] = []
    failed = {} if only_finished else done_elsewhere(cases, audits, runs=runs, watcher=watcher)
    for place, case in enumerate(cases, 1):
        begun = time.perf_counter()
        run = _trained(case, trained)
        asked = case.audits or audits
        outcome: MeasuredRun | None = None
        lack: Missing | None = None
        if only_finished:
            outcome, lack = _find(case, asked, run)
        elif place - 1 in failed:
            lack = Missing(case.name, failed[place - 1])
        else:
            outcome, lack = measure_case(case, asked, runs, complete=run is not None, watcher=watcher)
        outline = lack.why if lack is not None else ""
        if lack is not None:
            missing.append(lack)
        if outcome is not None:
            found.append(outcome)
            how = "found" if only_finished else f"audited ({', '.join(asked)})"
            how = how if only_finished or run is not None else f"trained and {how}"
            outline = f"{how}, {outcome.texts:,} texts" + (f"; {outline}" if outline else "")
        watcher.say(f"[{place}/{len(cases)}] {case.name}: {outline} ({time.perf_counter() - begun:.0f} s)")
    return Results(tuple(found), tuple(missing))


def measure_case(
    case: RecipeCase,
    audits: Sequence[str],
    runs: Path,
    *,
    complete: bool = False,
    watcher: Watcher = QUIET,
) -> RunOrMissing:
    """Train, or go on with, or load a run; then ask the audits that are not yet finished."""
    torch.set_num_threads(1)
    if why := _impossible(case):
        return None, Missing(case.name, why)
    watching = QUIET if complete else watcher
    if case.rounds is None:
        classifier = train(case.config, runs=runs, watcher=watching)
    else:
        try:
            classifier = case.rounds.train(case.config, runs=runs, watcher=watching)
        except BadInput as error:  # such as an attack that finds nothing to put in the place of any word
            return None, Missing(case.name, f"not trained: {error}")
    assert classifier.run is not None
    options = _audit_options(case)
    try:
        result = audit(classifier, only=audits, keep=True, watcher=watcher, **options)
    except BadInput as error:  # such as a hierarchical network on texts of one sentence each
        return None, Missing(case.name, f"trained, but not audited: {error}")
    return _measured(case, Run(classifier.run), result), None


def _find(case: RecipeCase, audits: Sequence[str], run: Run | None) -> RunOrMissing:
    """Look for a run and its audit by their configs alone, which needs no data and little time.

    Where some of the audits are not finished, those that are count, and the others are missing.
    """
    if run is None:
        return None, Missing(case.name, _impossible(case) or "not trained")
    wanted = build(AuditOptions, _audit_options(case))
    found: AuditResult | None = None
    for folder in _audits_like(wanted, run):
        result = AuditResult.load(folder)
        if result.about.data == f"{run.metrics().get('dataset')} {wanted.split}" and (
            found is None or len(_lacking(audits, result)) < len(_lacking(audits, found))
        ):
            found = result
    if found is None:
        on = "all texts" if case.texts is None else f"at most {case.texts:,} texts"
        return None, Missing(case.name, f"trained, and not audited on {on}")
    if not (lacking := _lacking(audits, found)):
        return _measured(case, run, found), None
    some = len(lacking) < len(set(audits))
    lack = Missing(case.name, f"trained, and not audited for {', '.join(lacking)}")
    return (_measured(case, run, found) if some else None), lack


def _trained(case: RecipeCase, trained: Mapping[TrainConfig, Run]) -> Run | None:
    if case.rounds is not None:
        return case.rounds.find(case.config, trained)
    return trained.get(case.config)


def _impossible(case: RecipeCase) -> str | None:
    """Say what a case lacks: an attack may need vectors or models that are not there."""
    if case.lacks is not None:
        return case.lacks
    needed = (*([case.rounds.attack] if case.rounds else ()), *case.attacks)
    return next((why for options in dict.fromkeys(needed) if (why := lacking(options))), None)


def _lacking(audits: Sequence[str], result: AuditResult) -> list[str]:
    return [name for name in dict.fromkeys(audits) if name not in result.summaries]


def _audits_like(wanted: AuditOptions, run: Run) -> list[Path]:
    """Find finished audits with these options; where no seeds of twins are named, those with most twins first."""
    found = []
    wanted = wanted.model_copy(update=files_by_content(wanted.model_dump()))  # as they are kept
    for folder in sorted((run.folder / "audits").glob("*/")):
        options = _options(folder) if (folder / RESULT).is_file() else None
        if options == wanted:
            found.append((0.0, folder))
        elif options and options.seeds and options.model_copy(update={"seeds": None}) == wanted:
            found.append((1 / len(options.seeds), folder))
    return [folder for _, folder in sorted(found)]


def _measured(case: RecipeCase, run: Run, result: AuditResult) -> MeasuredRun:
    frames = {
        name: frame.select(
            name for name, kind in frame.schema.items() if name in _BY_CLASS or not isinstance(kind, pl.List)
        )
        for name, frame in result.frames.items()
        if name != PREDICTIONS and name in result.summaries
    }
    notes = [note for summary in result.summaries.values() for note in summary.notes]
    notes += [case.rounds.note] if case.rounds else []
    notes += [f"Audited under attack by {described(options)}." for options in case.attacks]
    return MeasuredRun(
        case.dataset,
        case.model,
        case.seed,
        run.folder,
        run.metrics(),
        result.about.labels,
        result.about.texts,
        (*result.about.notes, *notes),
        frames,
        result.summaries,
        result.folder,
    )


def _audit_options(case: RecipeCase) -> dict[str, Any]:
    return {"limit": case.texts, **case.audit}


def _options(folder: Path) -> AuditOptions | None:
    """What an audit was asked; beside the options, its config may tell which texts and model it was about."""
    try:
        config = Run(folder).config()
        return build(
            AuditOptions, {key: config[key] for key in complete(AuditOptions).model_fields if key in config}
        )
    except BadInput:
        return None


def _complete_runs(runs: Path) -> dict[TrainConfig, Run]:
    """Give complete runs by their configs; what an older version did not know yet has its default."""
    found = {}
    for run in list_runs(runs):
        try:
            if run.complete:
                found[build(TrainConfig, run.config())] = run
        except BadInput:
            continue  # damaged, or of another version: not one of ours
    return found
