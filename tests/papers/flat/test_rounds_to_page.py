"""From nothing to a page: rounds of attack and training, audits, and all of it found again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.papers.flat.conftest import SYNONYMS

from heedful.data.attacked import AttackedTexts
from heedful.explainers.explain import explain
from heedful.models.classifier import Classifier
from heedful.output.charts import as_svg
from heedful.papers.attacked_training import AttackChoices
from heedful.papers.flat.methods import named
from heedful.papers.flat.word_importance import synonym_gaps, word_counts
from heedful.papers.flat.word_tables import figure_3, pictures
from heedful.papers.measure_recipe import measure_recipe
from heedful.papers.outcome import make_page
from heedful.papers.paper_page import markdown
from heedful.papers.results import Results
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


def test_words_are_read_from_the_model_itself(recipe, choices, tmp_path: Path):
    cases = recipe.cases(encoders=["lstm"], attacks=replace(choices, rounds=1, texts=None))
    wanted = named("FLAT", encoders=("LSTM",), attacks=("pwws",))
    (measured,) = measure_recipe(
        [case for case in cases if case.model in wanted], AUDITS[:1], runs=tmp_path / "runs"
    ).runs
    counts = word_counts(measured)
    assert counts is not None
    classifier = Classifier.from_pretrained(measured.folder)
    # Importance is what the explainer gives in any text.
    (told,) = explain(classifier, ["a dull plot"], "word_mask")
    of = dict(zip(counts.words, counts.importance, strict=True))
    words = {told.text[item.start : item.end]: item.weight for item in told.items}
    assert [words["dull"], words["plot"]] == pytest.approx([of["dull"], of["plot"]], abs=1e-6)

    texts = AttackedTexts.read(measured.folder / "attacked.parquet")
    place = counts.words.index("dull")
    assert counts.frequency[place] == sum(text.split().count("dull") for text in texts.originals)
    replaced = [text[a:b] for text, row in zip(texts.originals, texts.changes, strict=True) for (a, b), _ in row]  # fmt: skip
    assert replaced and counts.substitutions.sum() == len(replaced)
    assert counts.substitutions[place] == replaced.count("dull")

    gaps = synonym_gaps(measured)
    assert gaps is not None
    known = {word: other for word, other in SYNONYMS.items() if {word, other} <= set(of)}
    assert sorted(gaps) == pytest.approx(sorted(abs(of[a] - of[b]) for a, b in known.items()))

    results = Results((replace(measured, dataset="sst2"),))
    (table,) = figure_3(results)
    assert [row[0] for row in table.rows] == list(wanted) * 4
    assert table.rows[0][1] in ("negative", "positive") and "treat (" in table.rows[0][3]
    drawn = pictures(results)
    assert len(drawn) == 3
    assert as_svg(drawn[0].spec).startswith("<svg")


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


def test_an_attack_that_finds_nothing_is_listed_and_the_rest_goes_on(recipe, choices, tmp_path: Path):
    path = tmp_path / "nothing.txt"
    path.write_text("zebra zorse\n", encoding="utf-8")
    cases = recipe.cases(encoders=["lstm"], attacks=replace(choices, synonyms=str(path)))
    wanted = named("adv", "FLAT", encoders=("LSTM",), attacks=("pwws",))
    results = measure_recipe(
        [case for case in cases if case.model in wanted], AUDITS[:1], runs=tmp_path / "runs"
    )
    assert not results.runs and len(results.missing) == 2
    assert all(
        why.startswith("not trained: The attack pwws finds no candidate") for _, why in results.missing
    )
