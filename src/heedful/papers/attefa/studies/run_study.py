"""Train bases for every value and ask them the imitation audit, then more twins for a curve; what is finished is not done again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from heedful.audits.audit import Number
from heedful.data.corpora.synthetic import is_synthetic
from heedful.errors import BadInput
from heedful.measures.imitation import attefa_spread
from heedful.papers.attefa.recipe import VECTORS
from heedful.papers.attefa.studies.curve import CurvePoint
from heedful.papers.attefa.studies.following import follow
from heedful.papers.attefa.studies.study import Setting, Study
from heedful.papers.attefa.twinned import twinned
from heedful.papers.measure_recipe import measure_recipe
from heedful.papers.recipe import RecipeCase
from heedful.papers.results import MeasuredRun, Missing
from heedful.progress import QUIET, Watcher

if TYPE_CHECKING:
    from heedful.output.terminal import Screen
    from heedful.papers.paper_page import Page

_MOST_WORDS = 2
QUICK_TEXTS = 2000
AUDIT = "imitation"


@dataclass(frozen=True)
class StudyRow:
    """What one value of the control gives, on average over its bases."""

    corpus: str
    value: str
    number: float | None
    dataset: str
    f1: float
    """Of the bases."""
    largest_weight: float
    """Of the bases, on average over texts."""
    attefa: float
    attefa_low: float
    """NaN where two bases, or two twins of one base, allow no interval."""
    attefa_high: float
    attefa_each: tuple[float, ...]
    """Base by base."""
    corrected: float
    corrected_low: float
    corrected_high: float
    corrected_each: tuple[float, ...]
    elsewhere: float
    """Share of texts where a twin's top item is another than the base's."""
    instead: str
    """What twins attend to most often."""
    twins: int
    """Of each base."""
    texts: int

    @property
    def bases(self) -> int:
        """How many there are."""
        return len(self.attefa_each)


@dataclass(frozen=True, repr=False)
class Studied:
    """A study that was done, in the order of its grid, and what is missing."""

    study: Study
    rows: tuple[StudyRow, ...]
    missing: tuple[Missing, ...]
    notes: tuple[str, ...]
    points: tuple[CurvePoint, ...] = ()
    """Of the curves, for a study of twins."""
    intervals: str = ""
    """What its intervals speak of, where they were measured in another way than now."""

    @property
    def corpora(self) -> list[str]:
        """Those that were measured."""
        return list(dict.fromkeys(row.corpus for row in self.rows))

    def of(self, corpus: str) -> list[StudyRow]:
        """The grid on one corpus."""
        return [row for row in self.rows if row.corpus == corpus]

    @property
    def lines(self) -> dict[str, list[CurvePoint]]:
        """Every curve by its name, in the order of λ."""
        return {
            name: [p for p in self.points if p.line == name]
            for name in dict.fromkeys(p.line for p in self.points)
        }

    def to_frame(self) -> pl.DataFrame:
        """One row per value, or per point of a curve."""
        shown = self.points if self.study.twins else self.rows
        return pl.DataFrame([vars(row) for row in shown], infer_schema_length=None)

    def __repr__(self) -> str:
        return f"Studied: {self.study.name}, {len(self.rows)} values on {', '.join(self.corpora)}; show() prints it"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return self.page()._repr_html_()

    def page(self) -> Page:
        """Give it as a page of tables and sentences."""
        from heedful.papers.attefa.studies.study_files import make_page

        return make_page(self)

    def show(self, screen: Screen | None = None) -> None:
        """Print it."""
        self.page().show(screen)

    def save(self, folder: str | Path) -> Path:
        """Write table.md, figure.svg and rows.parquet into a folder."""
        from heedful.papers.attefa.studies.study_files import write

        write(self, Path(folder))
        return Path(folder)


def run_study(
    study: Study,
    *,
    runs: Path,
    corpora: Sequence[str] | None = None,
    seeds: tuple[int, ...] | None = None,
    bases: int = 1,
    quick: bool = False,
    only_finished: bool = False,
    watcher: Watcher = QUIET,
    **options: Any,
) -> Studied:
    """Go through the grid; `options` are of every base, and `seeds` those of the twins (None: all nine)."""
    if study.twins and bases > 1:
        raise BadInput(f"The twins of {study.name} follow one base: leave out --bases.")
    grid = [(corpus, setting) for corpus in corpora or study.corpora for setting in study.settings(corpus)]
    cases = [
        _case(study, setting, seed, seeds=seeds, quick=quick, options=options)
        for seed in range(bases)  # whole grids, one after the other: an interrupted study has some answer
        for _, setting in grid
    ]
    results = measure_recipe(cases, [AUDIT], runs=runs, only_finished=only_finished, watcher=watcher)
    rows: list[StudyRow] = []
    points: list[CurvePoint] = []
    missing = list(results.missing)
    notes = [note for run in results.runs for note in (*run.metrics["notes"], *run.notes)]
    for (corpus, setting), case in zip(grid, cases, strict=False):
        if found := results.of(case.dataset, case.model, AUDIT):
            rows.append(_row(corpus, setting, found, case.config.encoder))
            if study.twins:
                followed = follow(
                    found[0],
                    study.twins,
                    encoder=case.config.encoder,
                    seeds=seeds,
                    quick=quick,
                    only_finished=only_finished,
                    watcher=watcher,
                )
                points += followed.points
                missing += followed.missing
                notes += followed.notes
    shown = dict.fromkeys(note for note in notes if not note.startswith("Epochs"))
    return Studied(study, tuple(rows), tuple(missing), tuple(shown), tuple(points))


def _case(
    study: Study,
    setting: Setting,
    seed: int,
    *,
    seeds: tuple[int, ...] | None,
    quick: bool,
    options: dict[str, Any],
) -> RecipeCase:
    from heedful.training.train import resolve

    vectors = VECTORS["mock" if is_synthetic(setting.dataset) else "real"]
    given = {
        "dataset": setting.dataset,
        "preset": "attefa",
        "vectors": vectors,
        "open_vocabulary": is_synthetic(setting.dataset) and options.get("vectors", vectors) is not None,
        "seed": seed,
        **options,
        **setting.options,
    }
    given |= {"limit": QUICK_TEXTS} if quick else {}
    config = resolve({name: value for name, value in given.items() if value is not None})
    audit = {"seeds": seeds, **({"quick": True} if quick else {})}
    model = f"{study.control} {setting.label or config.encoder}"
    return RecipeCase(setting.dataset, model, seed, config, None, audit)


def _row(corpus: str, setting: Setting, bases: Sequence[MeasuredRun], encoder: str) -> StudyRow:
    rows = [base.frames[AUDIT] for base in bases]
    largest = [base.summaries["sharpness"].number("largest_weight") for base in bases]
    elsewhere = [base.summaries[AUDIT].number("elsewhere") for base in bases]
    return StudyRow(
        corpus,
        setting.label or encoder,
        setting.number,
        setting.dataset,
        fmean(base.metrics["test"]["f1"] for base in bases),
        fmean(map(_estimate, largest)),
        *_over(bases, corrected=False),
        *_over(bases, corrected=True),
        fmean(map(_estimate, elsewhere)),
        _instead(pl.concat([frame["twin_top"] for frame in rows])),
        sum(name.startswith("tvd_") for name in rows[0].columns),
        len(rows[0]),
    )


def _over(bases: Sequence[MeasuredRun], *, corrected: bool) -> tuple[float, float, float, tuple[float, ...]]:
    """Average a score over bases, which the interval speaks of, with texts; of one base, over its twins."""
    drawn = [twinned(base).scores(corrected=corrected, seed=0) for base in bases]
    means = np.stack([scores.mean(0) for scores in drawn])
    found = attefa_spread(means if len(bases) > 1 else drawn[0])
    return *found, tuple(means[:, 0].tolist())


def _estimate(number: Number) -> float:
    assert number.estimate is not None
    return number.estimate


def _instead(top: pl.Series) -> str:
    """Name the most frequent top items of twins.

    >>> _instead(pl.Series(["something", "good", "something", "something"]))
    '“something” 75 %, “good” 25 %'
    """
    counts = top.rename("word").value_counts(sort=True).sort("count", "word", descending=[True, False])
    return ", ".join(
        f"“{word}” {count / len(top) * 100:.0f} %" for word, count in counts.head(_MOST_WORDS).iter_rows()
    )
