"""Train a base for every value and ask it the imitation audit, then more twins for a curve; what is finished is not done again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console

from heedful.audits.audit import Number
from heedful.data.synthetic import is_synthetic
from heedful.papers.attefa import VECTORS
from heedful.papers.measuring import Say, measure
from heedful.papers.recipe import Case
from heedful.papers.results import Measured, Missing
from heedful.studies.curve import Point
from heedful.studies.following import follow
from heedful.studies.study import Setting, Study

_MOST_WORDS = 2
QUICK_TEXTS = 2000
AUDIT = "imitation"


@dataclass(frozen=True)
class Row:
    """What one value of the control gives."""

    corpus: str
    value: str
    number: float | None
    dataset: str
    f1: float
    """Of the base."""
    largest_weight: float
    """Of the base, on average over texts."""
    attefa: float
    attefa_low: float
    attefa_high: float
    corrected: float
    corrected_low: float
    corrected_high: float
    elsewhere: float
    """Share of texts where a twin's top item is another than the base's."""
    instead: str
    """What twins attend to most often."""
    twins: int
    texts: int


@dataclass(frozen=True)
class Studied:
    """A study that was done, in the order of its grid, and what is missing."""

    study: Study
    rows: tuple[Row, ...]
    missing: tuple[Missing, ...]
    notes: tuple[str, ...]
    points: tuple[Point, ...] = ()
    """Of the curves, for a study of twins."""

    @property
    def corpora(self) -> list[str]:
        """Those that were measured."""
        return list(dict.fromkeys(row.corpus for row in self.rows))

    def of(self, corpus: str) -> list[Row]:
        """The grid on one corpus."""
        return [row for row in self.rows if row.corpus == corpus]

    @property
    def lines(self) -> dict[str, list[Point]]:
        """Every curve by its name, in the order of λ."""
        return {
            name: [p for p in self.points if p.line == name]
            for name in dict.fromkeys(p.line for p in self.points)
        }

    def to_frame(self) -> pl.DataFrame:
        """One row per value, or per point of a curve."""
        shown = self.points if self.study.twins else self.rows
        return pl.DataFrame([vars(row) for row in shown], infer_schema_length=None)


def run_study(
    study: Study,
    *,
    runs: Path,
    corpora: Sequence[str] | None = None,
    seeds: tuple[int, ...] | None = None,
    quick: bool = False,
    only_finished: bool = False,
    console: Console | None = None,
    say: Say = lambda line: None,
    **options: Any,
) -> Studied:
    """Go through the grid; `options` are of every base, and `seeds` those of the twins (None: all nine)."""
    grid = [(corpus, setting) for corpus in corpora or study.corpora for setting in study.settings(corpus)]
    cases = [_case(study, setting, seeds=seeds, quick=quick, options=options) for _, setting in grid]
    results = measure(cases, [AUDIT], runs=runs, only_finished=only_finished, console=console, say=say)
    rows: list[Row] = []
    points: list[Point] = []
    missing = list(results.missing)
    notes = [note for run in results.runs for note in (*run.metrics["notes"], *run.notes)]
    for (corpus, setting), case in zip(grid, cases, strict=True):
        for run in results.of(case.dataset, case.model, AUDIT):
            rows.append(_row(corpus, setting, run, case.config.encoder))
            if study.twins:
                followed = follow(
                    run, study.twins, encoder=case.config.encoder, seeds=seeds, quick=quick,
                    only_finished=only_finished, console=console or Console(quiet=True), say=say,
                )  # fmt: skip
                points += followed.points
                missing += followed.missing
                notes += followed.notes
    told = dict.fromkeys(note for note in notes if not note.startswith("Epochs"))
    return Studied(study, tuple(rows), tuple(missing), tuple(told), tuple(points))


def _case(
    study: Study, setting: Setting, *, seeds: tuple[int, ...] | None, quick: bool, options: dict[str, Any]
) -> Case:
    from heedful.training.train import resolve

    vectors = VECTORS["mock" if is_synthetic(setting.dataset) else "real"]
    given = {
        "dataset": setting.dataset,
        "preset": "attefa",
        "vectors": vectors,
        "open_vocabulary": is_synthetic(setting.dataset) and options.get("vectors", vectors) is not None,
        "seed": 0,
        **options,
        **setting.options,
    }
    given |= {"limit": QUICK_TEXTS} if quick else {}
    config = resolve({name: value for name, value in given.items() if value is not None})
    audit = {"seeds": seeds, **({"quick": True} if quick else {})}
    model = f"{study.control} {setting.label or config.encoder}"
    return Case(setting.dataset, model, 0, config, None, audit)


def _row(corpus: str, setting: Setting, run: Measured, encoder: str) -> Row:
    summary, rows = run.summaries[AUDIT], run.frames[AUDIT]
    return Row(
        corpus, setting.label or encoder, setting.number, setting.dataset, run.metrics["test"]["f1"],
        _estimate(run.summaries["sharpness"].number("largest_weight"))[0],
        *_estimate(summary.number("attefa")), *_estimate(summary.number("attefa_corrected")),
        _estimate(summary.number("elsewhere"))[0], _instead(rows["twin_top"]),
        sum(name.startswith("tvd_") for name in rows.columns), len(rows),
    )  # fmt: skip


def _estimate(number: Number) -> tuple[float, float, float]:
    assert number.estimate is not None and number.low is not None and number.high is not None
    return number.estimate, number.low, number.high


def _instead(top: pl.Series) -> str:
    """Name the most frequent top items of twins.

    >>> _instead(pl.Series(["something", "good", "something", "something"]))
    '“something” 75 %, “good” 25 %'
    """
    counts = top.rename("word").value_counts(sort=True).sort("count", "word", descending=[True, False])
    return ", ".join(
        f"“{word}” {count / len(top) * 100:.0f} %" for word, count in counts.head(_MOST_WORDS).iter_rows()
    )
