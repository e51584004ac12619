"""From nothing to a page: rounds of attack and training, audits, and all of it found again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from heedful.data.attacked import AttackedTexts
from heedful.papers.attacked_training import AttackChoices
from heedful.papers.flat.methods import named
from heedful.papers.measure_recipe import measure_recipe
from heedful.papers.outcome import make_page
from heedful.papers.paper_page import markdown
from heedful.runs import list_runs

AUDITS = ["robustness", "consistency", "sharpness"]
PWWS = {"encoders": ("LSTM",), "attacks": ("pwws",)}


def test_rounds_are_trained_audited_and_found_again(recipe, choices, tmp_path: Path, recorder):
    chosen = [c for c in recipe.cases(encoders=["lstm"], attacks=choices) if c.model in named("base", "adv", "FLAT", **PWWS)]  # fmt: skip
    assert [case.rounds is not None for case in chosen] == [False, True, True]
    runs = tmp_path / "runs"
    first = measure_recipe(chosen, AUDITS, runs=runs, watcher=recorder)
    assert not first.missing
    assert [run.model for run in first.runs] == list(named("base", "adv", "FLAT", **PWWS))
    assert len(list_runs(runs)) == 1 + 2 + 2  # the base is one, whatever begins with it
    for run in first.runs[1:]:
        assert len(AttackedTexts.read(run.folder / "attacked.parquet")) == 60
        assert any("2 rounds of training, at most 60 training texts attacked" in note for note in run.notes)

    found = measure_recipe(chosen, AUDITS, runs=runs, only_finished=True)
    assert not found.missing
    assert [run.folder for run in found.runs] == [run.folder for run in first.runs]
    for ours, theirs in zip(found.runs, first.runs, strict=True):
        for audit in AUDITS:
            assert ours.frames[audit].equals(theirs.frames[audit], null_equal=True)
    before = sorted(runs.iterdir())
    measure_recipe(chosen, AUDITS, runs=runs)
    assert sorted(runs.iterdir()) == before

    text = markdown(make_page(recipe, found, recipe.experiments))
    assert "| LSTM-FLAT | 1 |" in text
    assert "importance, frequency |" in text  # Table 9, from the model itself
    assert "at most 60 training texts attacked by pwws (synonyms synonyms.txt)" in text
    words = {row.split(" | ")[0]: row.split(" | ")[2] for row in text.split("\n| ") if row.startswith("fa-")}
    assert len(words) == len(recipe.claims)
    assert words["fa-1"] not in ("not measured", "too few texts")
    assert words["fa-9"] == "not measured"


def test_other_choices_are_other_runs(recipe, choices, tmp_path: Path):
    def last(**changed):
        cases = recipe.cases(encoders=["lstm"], attacks=replace(choices, **changed))
        return [case for case in cases if case.model in named("FLAT", **PWWS)]

    runs = tmp_path / "runs"
    measure_recipe(last(rounds=1), AUDITS[:1], runs=runs)
    assert measure_recipe(last(rounds=1), AUDITS[:1], runs=runs, only_finished=True).runs
    for changed in ({}, {"rounds": 1, "texts": 50}, {"rounds": 1, "known_words": True}):
        ((_, why),) = measure_recipe(last(**changed), AUDITS[:1], runs=runs, only_finished=True).missing
        assert why == "not trained"


def test_a_case_without_its_resource_is_listed_with_a_sentence(recipe, tmp_path: Path):
    cases = [
        case
        for case in recipe.cases(encoders=["lstm"], attacks=AttackChoices())
        if case.model in named("base", "adv", encoders=("LSTM",), attacks=("textfooler",))
    ]
    for only_finished in (False, True):
        results = measure_recipe(cases, AUDITS[:1], runs=tmp_path / "runs", only_finished=only_finished)
        assert not results.runs
        assert len(results.missing) == 2
        assert all("textfooler needs counter-fitted vectors" in why for _, why in results.missing)
    assert not (tmp_path / "runs").exists()
