"""What was measured of every paper: the runs of a folder, and the numbers that were kept of runs elsewhere.

Everything goes through the recipes, so that whatever a recipe draws is here too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from heedful.errors import HeedfulError
from heedful.explorer.faults import NotHere
from heedful.papers.judged import judged_from
from heedful.papers.kept_runs import join_runs, kept_runs
from heedful.papers.measure_recipe import measure_recipe
from heedful.papers.outcome import claims, make_page
from heedful.papers.paper_page import Page
from heedful.papers.parts import PagePart, kept, kept_whole
from heedful.papers.recipe import RECIPES, Recipe
from heedful.papers.results import Results


class Place(NamedTuple):
    """A dataset and an encoder of which something was measured."""

    dataset: str
    encoder: str
    runs: int


@dataclass(frozen=True)
class MeasuredPaper:
    """A paper's recipe, and all that was measured of it."""

    recipe: Recipe
    results: Results
    parts: Sequence[PagePart]
    whole: PagePart | None
    """What decided its claims, where the runs are elsewhere."""
    trouble: tuple[str, ...] = ()
    """What could not be read."""

    @cached_property
    def places(self) -> list[Place]:
        """Every dataset and encoder of which there are numbers, in the order of the paper."""
        encoders = {trained.name: trained.encoder for trained in self.recipe.models}
        counts = dict.fromkeys(self.recipe.places, 0)
        for run in self.results.runs:
            counts[run.dataset, encoders[run.model]] = counts.get((run.dataset, encoders[run.model]), 0) + 1
        for part in self.parts:
            counts[part.place] = counts.get(part.place, 0) + part.runs
        return [Place(*place, count) for place, count in counts.items() if count]

    def page(self, dataset: str | None, encoder: str | None) -> Page:
        """Write the page of what was measured, of all of it or of a dataset, an encoder or both."""
        models = {m.name for m in self.recipe.models if encoder is None or m.encoder == encoder}
        runs = tuple(r for r in self.results.runs if (dataset in (None, r.dataset)) and r.model in models)
        parts = [p for p in self.parts if dataset in (None, p.dataset) and encoder in (None, p.encoder)]
        if not (runs or parts):
            return self._decided()
        shown = [
            experiment
            for experiment in self.recipe.experiments
            if (experiment.datasets is None or dataset in (None, *experiment.datasets))
            and (experiment.models is None or models & set(experiment.models))
        ]
        page = make_page(self.recipe, replace(self.results, runs=runs, missing=()), shown, parts)
        full = [s for s in page.sections if any(t.rows for t in s.tables) or s.pictures or s.lines]
        return replace(page, sections=full)

    def _decided(self) -> Page:
        """Write the page of the claims alone."""
        if self.whole is None:
            sentence = f"Nothing was measured of it here: heedful reproduce {self.recipe.name} measures it."
            return Page(self.recipe.title, [sentence])
        judged = judged_from(self.recipe.claims, self.whole.numbers)
        lead = [
            *self.whole.notes,
            "What decided its claims was kept, and its runs are elsewhere: "
            f"heedful reproduce {self.recipe.name} measures its tables and figures.",
        ]
        return Page(self.recipe.title, lead, [claims(self.recipe, judged)])


class PaperShelf:
    """All papers, each read when somebody first asks, and again when there is more."""

    def __init__(self, *, runs: Path, measured: Path | None = None) -> None:
        self._runs, self._measured = runs, measured
        self._read: dict[str, tuple[object, MeasuredPaper]] = {}
        self._lock = Lock()

    @property
    def measured(self) -> Path | None:
        """The folder of numbers that were kept of runs elsewhere."""
        return self._measured

    def names(self) -> list[str]:
        """Every paper by its name."""
        return list(RECIPES)

    def find(self, name: str) -> MeasuredPaper:
        """Give a paper with all that was measured of it."""
        if name not in RECIPES:
            raise NotHere(f"There is no paper {name[:100]!r}: choose one of {', '.join(RECIPES)}.")
        stamp = self._stamp()
        with self._lock:
            known = self._read.get(name)
            if known is None or known[0] != stamp:
                known = (stamp, self._gather(RECIPES.get(name)))
                self._read[name] = known
            return known[1]

    def _stamp(self) -> object:
        """Change when a run is finished or audited, or numbers are kept."""
        found = [*self._runs.glob("*/metrics.json"), *self._runs.glob("*/audits/*/audit.json")]
        if self._measured is not None:
            found += [*self._measured.glob("*.parquet"), *self._measured.glob("*/*/*.parquet")]
        return sorted((str(path), path.stat().st_mtime_ns) for path in found if path.exists())

    def _gather(self, recipe: Recipe) -> MeasuredPaper:
        trouble: list[str] = []
        results, parts, whole = Results(), list[PagePart](), None
        audits = list(dict.fromkeys(experiment.audit for experiment in recipe.experiments))
        try:
            if self._runs.is_dir():
                cases = recipe.cases(seeds=None)
                results = measure_recipe(cases, audits, runs=self._runs, only_finished=True)
        except HeedfulError as error:
            trouble.append(str(error))
        if self._measured is not None:
            try:
                if recipe.besides:
                    results = join_runs(recipe, results, kept_runs(recipe, self._measured))
                elif recipe.joins:
                    parts = kept(recipe.name, self._measured)
                whole = kept_whole(recipe.name, self._measured) if not recipe.joins else None
            except HeedfulError as error:
                trouble.append(str(error))
        return MeasuredPaper(recipe, results, parts, whole, tuple(trouble))
