"""What is kept of a paper: its runs, its parts or only what decided its claims, and the pages that follow from these."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from asked import cases

from heedful.papers.claims import Judged, judge_all, judge_samples
from heedful.papers.corpus_counts import kept_counts
from heedful.papers.judged import judged_from
from heedful.papers.kept_runs import join_runs, kept_runs
from heedful.papers.outcome import claims, make_page
from heedful.papers.paper_page import Page, Section
from heedful.papers.parts import PagePart, kept, kept_whole
from heedful.papers.recipe import Recipe
from heedful.papers.results import Missing, Results


class KeptPaper(NamedTuple):
    """Everything that a folder holds of one paper."""

    recipe: Recipe
    results: Results
    """Runs, the counts of corpora, and which runs are missing."""
    parts: list[PagePart]
    whole: PagePart | None
    """What decided claims of runs that are gone."""

    @property
    def stands(self) -> PagePart | None:
        """What the paper's page was written from before, as long as it is of more runs than those that are kept."""
        return self.whole if self.whole and self.whole.runs > len(self.results.runs) else None

    @property
    def page(self) -> Page | None:
        """The paper's page; of one that stands as it was written its lead, claims and what is missing."""
        if (stands := self.stands) is None:
            return self._made
        decided = claims(self.recipe, self.judged)
        lacks = Section("Missing", lines=[f"{what}: {why}" for what, why in stands.missing])
        return Page(f"{self.recipe.title}: reproduced", stands.notes, [decided, lacks])

    @property
    def again(self) -> Page | None:
        """What was measured again beside a page that stands as it was written."""
        page = self._made if self.stands else None
        return page and replace(page, title=page.title.replace(": reproduced", ": measured again"))

    @property
    def judged(self) -> list[Judged]:
        """What decides each claim."""
        if (stands := self.stands) is not None:
            return judged_from(self.recipe.claims, stands.numbers)
        return self.judged_again

    @property
    def judged_again(self) -> list[Judged]:
        """What decides each claim, of the runs and parts that are kept."""
        if self.recipe.joins:
            return [
                judge_samples(claim, [sample for part in self.parts for sample in part.samples(claim.id)])
                for claim in self.recipe.claims
            ]
        return judge_all(self.recipe.claims, self.results)

    @property
    def _made(self) -> Page | None:
        if not (self.results.runs or self.parts or (self.stands and self.results.corpora.rows)):
            return None
        return make_page(self.recipe, self.results, self.recipe.experiments, self.parts)


def kept_paper(recipe: Recipe, folder: Path) -> KeptPaper:
    """Read what a folder holds of a paper."""
    missing = tuple(Missing(case.name, "not measured") for case in cases(recipe))
    results = Results(missing=missing, corpora=kept_counts(recipe.name, folder))
    if recipe.besides is not None:
        results = join_runs(recipe, results, kept_runs(recipe, folder))
    parts = kept(recipe.name, folder) if recipe.joins else []
    return KeptPaper(recipe, results, parts, None if recipe.joins else kept_whole(recipe.name, folder))
