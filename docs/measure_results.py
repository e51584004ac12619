"""Measure what docs/results.md tells: run each command as a user would, and keep the numbers in docs/measured.

    HEEDFUL_DATA=… python docs/measure_results.py [name …]     (papers and studies: heedful reproduce, heedful study, then this)

Complete runs are not done again and interrupted ones go on, so the script may be stopped at any time. With names it
trains only those rows. Numbers of what there are no runs of at hand stay as they are. Then: python docs/make_results.py
"""

from __future__ import annotations

import json
import shlex
import statistics
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
from asked import DOCS, MEASURED, QUESTIONS, TRAINED, TRAININGS, Question, Training, cases
from kept_studies import keep as keep_study

from heedful.audits.running.result import write_frame
from heedful.checking import build
from heedful.cli.app import main as heedful
from heedful.config import TrainConfig
from heedful.papers.attefa.studies.run_study import run_study
from heedful.papers.attefa.studies.study import STUDIES
from heedful.papers.corpus_counts import count_corpora, join_counts, keep_counts, kept_counts
from heedful.papers.kept_runs import keep_runs
from heedful.papers.measure_recipe import measure_recipe
from heedful.papers.measured_numbers import TRAINING, MeasuredNumber, Numbers
from heedful.papers.origin import environment
from heedful.papers.outcome import make_page, split, whole
from heedful.papers.paper_page import save_page
from heedful.papers.parts import COLUMNS, keep, kept_whole
from heedful.papers.recipe import RECIPES
from heedful.runs import Run, list_runs
from heedful.training.train import resolve
from heedful.training.twins import some_seeds

RUNS = Path("runs")


def train(name: str, flags: str) -> None:
    """Run one command."""
    print(f"== {name}", flush=True)
    try:
        heedful(["train", *shlex.split(flags), "--runs", str(RUNS)])
    except SystemExit as done:
        if done.code:
            print(f"{name} failed with exit code {done.code}", flush=True)


def find_run(flags: str) -> Run | None:
    """Find the complete run of a command, if there is one."""
    dataset, *given = shlex.split(flags)
    options = {
        flag.removeprefix("--").replace("-", "_"): value
        for flag, value in zip(given[::2], given[1::2], strict=True)
    }
    wanted = resolve({"dataset": dataset, **options})
    complete = (run for run in list_runs(RUNS) if run.complete)
    return next((run for run in complete if build(TrainConfig, run.config()) == wanted), None)


def trained(row: Training) -> pl.DataFrame | None:
    """Give the numbers of a training: one row for each run and measure, and what its first run notes."""
    found = {seed: find_run(f"{row.flags} --seed {seed}") for seed in range(row.seeds)}
    runs = {seed: run for seed, run in found.items() if run is not None}
    if not runs:
        return None
    frames, minutes = [], []
    for seed, run in runs.items():
        metrics = run.metrics()
        log = (run.folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
        minutes.append(json.loads(log[-1])["seconds"] / 60)
        sizes = {f"{split} texts": metrics["sizes"][split] for split in ("train", "dev", "test")}
        values = {
            row.metric: metrics["test"][row.metric],
            "epoch": metrics["epoch"],
            **sizes,
            "minutes": minutes[-1],
        }
        numbers = [
            MeasuredNumber(row.name, "", TRAINING, name, float(value), seed=seed)
            for name, value in values.items()
        ]
        origin = {**environment(run.folder), "command": f"{row.command} --seed {seed}"}
        frames.append(
            Numbers(tuple(numbers))
            .to_frame()
            .with_columns(pl.lit(v, dtype=pl.String).alias(k) for k, v in origin.items())
        )
    notes = next(iter(runs.values())).metrics()["notes"]
    mean = MeasuredNumber(row.name, "", TRAINING, "minutes", statistics.mean(minutes), seeds=len(runs))
    about = [mean, *(MeasuredNumber(row.name, "", TRAINING, "note", float("nan")) for _ in notes)]
    frames.append(
        Numbers(tuple(about)).to_frame().with_columns(pl.Series("note", [None, *notes], dtype=pl.String))
    )
    return pl.concat([pl.DataFrame(schema=COLUMNS), *frames], how="diagonal")


def keep_trained() -> None:
    """Put the numbers of the runs at hand in place of those that were kept."""
    before = pl.read_parquet(TRAINED) if TRAINED.exists() else pl.DataFrame(schema=COLUMNS)
    frames = [
        frame if (frame := trained(row)) is not None else before.filter(pl.col("dataset") == row.name)
        for row in TRAININGS
    ]
    write_frame(TRAINED, pl.concat(frames))


def count(name: str) -> Numbers:
    """Count the corpora of a paper that are at hand, and keep these counts beside those of others."""
    recipe = RECIPES.get(name)
    if not (asked := recipe.corpora(recipe.experiments)):
        return Numbers()
    counted, _ = count_corpora(asked, lenient=True)
    counts = join_counts(list(recipe.datasets), kept_counts(name, MEASURED), counted)
    keep_counts(name, counts, MEASURED)
    return counts


def keep_paper(name: str) -> None:
    """Keep what is trained and audited of a paper, and count its corpora; of one whose runs cannot be kept, write its page too.

    A page of more runs than are at hand stays as it was written.
    """
    recipe = RECIPES.get(name)
    audits = list(dict.fromkeys(experiment.audit for experiment in recipe.experiments if experiment.audit))
    results = measure_recipe(cases(recipe), audits, runs=RUNS, only_finished=True)
    results = replace(results, corpora=count(name))
    before = kept_whole(name, MEASURED)
    if recipe.besides:
        keep_runs(recipe, results, MEASURED)
    elif recipe.joins:
        keep(split(recipe, results), MEASURED)
    elif len(results.runs) > 0 and (before is None or len(results.runs) >= before.runs):
        keep([whole(recipe, results)], MEASURED)
        save_page(make_page(recipe, results, recipe.experiments), DOCS / f"{name}.md")


def ask(question: Question) -> None:
    """Keep a study that is done."""
    study, asked = STUDIES.get(question.study), question.asked
    done = run_study(
        study,
        runs=RUNS,
        corpora=[asked["dataset"]] if "dataset" in asked else None,
        seeds=some_seeds(asked["seeds"]),
        bases=asked.get("bases", 1),
        quick="quick" in asked,
        only_finished=True,
        encoder=asked.get("encoder", study.encoder),
    )
    if done.rows and (done.points or not study.twins):
        keep_study(done, question.figure, MEASURED, command=question.command)


if __name__ == "__main__":
    chosen = sys.argv[1:] or [row.name for row in TRAININGS]
    for row in TRAININGS:
        for seed in range(row.seeds):
            if row.name in chosen:
                train(f"{row.name} seed {seed}", f"{row.flags} --seed {seed}")
    keep_trained()
    for name in RECIPES:
        keep_paper(name)
    for question in QUESTIONS:
        ask(question)
