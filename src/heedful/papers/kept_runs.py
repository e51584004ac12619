"""Runs without their models and texts: the numbers of every audited text, to keep and to put together.

Where a recipe's tables and claims compare models text by text, means are not enough. What is kept of a run are the rows
of its audits, without anything that was written in the texts. docs/measured/README.md tells what the files hold.
"""

from __future__ import annotations

import io
import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import polars as pl

from heedful.errors import BadInput
from heedful.intake.frames import read_frame
from heedful.intake.json_text import parse_json
from heedful.papers.origin import ORIGIN, environment
from heedful.papers.recipe import Recipe, RecipeCase
from heedful.papers.results import MeasuredRun, Missing, Results
from heedful.storage import write_bytes

_RUNS = "runs"
"""The file that tells of the runs themselves; every other is of one audit, or of what a recipe reads besides."""
_KEY = ("model", "seed")
_DIGITS = 6
_WORDS = ("predicted", "status")
"""Columns that hold words and not text."""
_METRICS = ("dev", "test", "sizes", "epoch", "notes", "dataset")
_SCHEMA = pl.Schema(
    {
        "model": pl.String(),
        "seed": pl.Int64(),
        "texts": pl.Int64(),
        "labels": pl.List(pl.String()),
        "notes": pl.List(pl.String()),
        "metrics": pl.String(),
        **ORIGIN,
    }
)


def keep_runs(recipe: Recipe, results: Results, folder: Path) -> list[Path]:
    """Write runs into a folder for each dataset and encoder, beside those that are there already."""
    assert recipe.besides is not None
    encoders = {model.name: model.encoder for model in recipe.models}
    places = dict.fromkeys((run.dataset, encoders[run.model]) for run in results.runs)
    written = []
    for dataset, encoder in places:
        here = [r for r in results.runs if (r.dataset, encoders[r.model]) == (dataset, encoder)]
        ours = [replace(run, frames={**_numbers(run.frames), **recipe.besides(run)}) for run in here]
        own = folder / recipe.name / f"{PurePath(dataset).stem}-{encoder.replace(':', '-')}"
        written += _write(own, _best([*_read(own, dataset), *ours]))
    return written


def kept_runs(recipe: Recipe, folder: Path) -> list[MeasuredRun]:
    """Read all runs of a recipe that a folder holds."""
    found = []
    for dataset in recipe.datasets:
        for encoder in recipe.encoders:
            own = folder / recipe.name / f"{PurePath(dataset).stem}-{encoder.replace(':', '-')}"
            found += _read(own, dataset)
    return found


def join_runs(recipe: Recipe, results: Results, others: Sequence[MeasuredRun]) -> Results:
    """Put what was measured here and elsewhere together, in the order of the recipe."""
    datasets, models = list(recipe.datasets), [model.name for model in recipe.models]
    runs = [run for run in _best([*others, *results.runs]) if run.model in models]
    runs.sort(key=lambda run: (datasets.index(run.dataset), models.index(run.model), run.seed))
    done = {f"{run.dataset} {run.model} seed {run.seed}" for run in runs}
    missing = tuple(Missing(*lack) for lack in results.missing if lack.what not in done)
    return replace(results, runs=tuple(runs), missing=missing)


def not_kept(
    cases: Sequence[RecipeCase], audits: Sequence[str], others: Sequence[MeasuredRun]
) -> list[RecipeCase]:
    """Leave out the cases of which all that is asked was measured elsewhere, on as many texts."""
    found = {(run.dataset, run.model, run.seed): run for run in others}

    def measured(case: RecipeCase) -> bool:
        run = found.get((case.dataset, case.model, case.seed))
        whole = run is not None and set(case.audits or audits) <= run.frames.keys()
        return run is not None and whole and run.texts >= min(case.texts or 0, run.metrics["sizes"]["test"])

    return [case for case in cases if not measured(case)]


def _best(runs: Iterable[MeasuredRun]) -> list[MeasuredRun]:
    """Of several of the same model and seed the one with most numbers, the later of equals."""
    found: dict[tuple[str, str, int], MeasuredRun] = {}
    for run in runs:
        key = (run.dataset, run.model, run.seed)
        if key not in found or _amount(run) >= _amount(found[key]):
            found[key] = run
    return list(found.values())


def _amount(run: MeasuredRun) -> int:
    return run.texts * sum("row" in frame.columns for frame in run.frames.values())


def _numbers(frames: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Rows of audits without texts, rounded to what a page can show and more."""
    return {
        name: frame.select(
            pl.col(column).round_sig_figs(_DIGITS).cast(pl.Float32) if kind.is_float() else pl.col(column)
            for column, kind in frame.schema.items()
            if kind.is_numeric() or kind == pl.Boolean or column in _WORDS
        )
        for name, frame in frames.items()
    }


def _write(folder: Path, runs: Sequence[MeasuredRun]) -> list[Path]:
    about = pl.DataFrame([_about(run) for run in runs], schema=_SCHEMA, orient="row")
    files = {_RUNS: about.sort(_KEY)}
    for name in sorted({name for run in runs for name in run.frames}):
        parts = [
            run.frames[name].select(
                pl.lit(run.model).alias("model"), pl.lit(run.seed, dtype=pl.Int64).alias("seed"), pl.all()
            )
            for run in sorted(runs, key=lambda run: (run.model, run.seed))
            if name in run.frames
        ]
        files[name] = pl.concat(parts, how="diagonal_relaxed")
    written = []
    for name, frame in files.items():
        content = io.BytesIO()
        frame.write_parquet(content, compression_level=19)
        write_bytes(folder / f"{name}.parquet", content.getvalue())
        written.append(folder / f"{name}.parquet")
    return written


def _about(run: MeasuredRun) -> dict[str, Any]:
    metrics = {name: run.metrics[name] for name in _METRICS if name in run.metrics}
    known = run.metrics.get("origin") or _origin(run)
    return {
        "model": run.model,
        "seed": run.seed,
        "texts": run.texts,
        "labels": list(run.labels),
        "notes": list(run.notes),
        "metrics": json.dumps(metrics, ensure_ascii=False),
        **{name: known.get(name) for name in ORIGIN},
    }


def _origin(run: MeasuredRun) -> dict[str, str | None]:
    """Where it was measured; of files the names alone, since no other machine has these folders."""
    known = dict((environment(run.audited) if run.audited else {}) or environment(run.folder))
    if command := known.get("command"):
        known["command"] = shlex.join(
            PurePath(word).name if PurePath(word).is_absolute() else word for word in shlex.split(command)
        )
    return known


def _read(folder: Path, dataset: str) -> list[MeasuredRun]:
    if not (folder / f"{_RUNS}.parquet").is_file():
        return []
    try:
        frames = {path.stem: read_frame(path) for path in sorted(folder.glob("*.parquet"))}
        about = frames.pop(_RUNS).select(list(_SCHEMA))
        return [_run(folder, dataset, row, frames) for row in about.iter_rows(named=True)]
    except (pl.exceptions.PolarsError, OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{folder} does not hold the runs of a paper: a file in it is damaged, or of another version of heedful. Delete the folder, or measure it again."
        ) from error


def _run(
    folder: Path, dataset: str, row: Mapping[str, Any], frames: Mapping[str, pl.DataFrame]
) -> MeasuredRun:
    own = {
        name: part.drop(*_KEY)
        for name, frame in frames.items()
        if len(part := frame.filter(pl.col("model") == row["model"], pl.col("seed") == row["seed"]))
    }
    metrics = {**parse_json(row["metrics"], finite=False), "origin": {name: row[name] for name in ORIGIN}}
    return MeasuredRun(
        dataset,
        row["model"],
        row["seed"],
        folder,
        metrics,
        tuple(row["labels"]),
        row["texts"],
        tuple(row["notes"]),
        {
            name: part.select(column for column in part.columns if part[column].null_count() < len(part))
            for name, part in own.items()
        },
    )
