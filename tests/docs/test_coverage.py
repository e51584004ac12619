"""docs/coverage.md names every table and figure once, docs/claims.md every claim, and both are what recipes and numbers make."""

from __future__ import annotations

import importlib
import re
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from heedful.cli.seeds import seeds_asked
from heedful.papers.recipe import RECIPES
from heedful.papers.results import Results
from heedful.training.twins import SEEDS

DOCS = Path(__file__).parents[2] / "docs"
TABLES, FIGURES = 30, 32


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(DOCS))
    return importlib.import_module("make_coverage")


def test_the_page_is_what_recipes_and_numbers_make(pages: ModuleType) -> None:
    assert pages.coverage() == (DOCS / "coverage.md").read_text(encoding="utf-8")


def test_the_ledger_is_what_recipes_and_numbers_make(pages: ModuleType) -> None:
    assert pages.ledger() == (DOCS / "claims.md").read_text(encoding="utf-8")


def test_every_table_and_figure_of_the_papers_is_named(pages: ModuleType) -> None:
    papers = pages.PAPERS.values()
    assert (sum(len(p.tables) for p in papers), sum(len(p.figures) for p in papers)) == (TABLES, FIGURES)
    assert set(pages.PAPERS) == set(RECIPES)
    for name, published in pages.PAPERS.items():
        for kind, numbers in (("table", published.tables), ("figure", published.figures)):
            own = {e.number for e in RECIPES.get(name).experiments if e.kind == kind}
            without = {number for paper, what, number in pages.WITHOUT if (paper, what) == (name, kind)}
            assert set(numbers) - without <= own, f"{name} has no {kind} {set(numbers) - without - own}"
            assert not without & own, (
                f"{name}: {kind} {without & own} has a command, and coverage says that it has none"
            )


def test_every_command_of_the_page_is_understood(pages: ModuleType) -> None:
    text = (DOCS / "coverage.md").read_text(encoding="utf-8")
    commands = re.findall(r"`heedful reproduce ([\w-]+) --(table|figure) (\d+)", text)
    assert len(commands) >= TABLES + FIGURES - len(pages.WITHOUT)
    for recipe, kind, number in commands:
        assert RECIPES.get(recipe).find(kind, number).number == int(number)


def test_every_claim_is_in_the_ledger_once() -> None:
    text = (DOCS / "claims.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| ([a-z]{2}-\d+) \|", text, re.MULTILINE)
    assert sorted(named) == sorted(claim.id for name in RECIPES for claim in RECIPES.get(name).claims)


def test_a_state_counts_runs_and_corpora(pages: ModuleType, monkeypatch, tmp_path: Path) -> None:
    recipe = RECIPES.get("jain-wallace")
    figure = recipe.find("figure", "3")
    nothing = pages.kept_paper(recipe, tmp_path)
    assert (nothing.page, nothing.again, nothing.stands) == (None, None, None)
    assert pages._covered(recipe, figure, nothing)[3:] == (pages.NOT_YET, "0 of 18 runs")
    kept = nothing._replace(whole=pages.kept_paper(recipe, DOCS / "measured").whole)
    assert (
        pages._covered(recipe, figure, kept).state == pages.NOT_YET
    )  # the page that stands does not have it
    old = pages._covered(recipe, recipe.find("table", "2"), kept)
    assert (old.state, old.detail) == (pages.PARTLY, "29 of 54 runs")
    complete = kept._replace(whole=replace(kept.whole, missing=()))
    assert pages._covered(recipe, recipe.find("table", "2"), complete)[3:] == (pages.DONE, "54 of 54 runs")
    assert isinstance(kept.results, Results)


def test_what_is_missing_says_which_audits_are_there(pages: ModuleType) -> None:
    assert pages._is_there(None, ("agreement",))
    assert not pages._is_there("not trained", ("agreement",))
    part = "trained, and not audited for permutation, counterfactual"
    assert pages._is_there(part, ("agreement",)) and not pages._is_there(part, ("agreement", "permutation"))


def test_commands_of_measured_parts_and_studies_name_the_seeds_that_they_were_asked_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    asked = importlib.import_module("asked")
    for part in asked.FLAT_PARTS:
        (given,) = [flag.removeprefix("--seeds=") for flag in part.flags if flag.startswith("--seeds=")]
        assert seeds_asked(given, range) == tuple(range(part.seeds))
    for question in asked.QUESTIONS:
        (given,) = re.findall(r"--seeds (\S+)", question.command)
        assert seeds_asked(given, range) == SEEDS[: question.asked["seeds"]]
