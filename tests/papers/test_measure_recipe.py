"""From nothing to a page: train, audit, find again. On a small file of planted words, with a recipe made for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from heedful.papers.jain_wallace.recipe import JAIN_WALLACE, described
from heedful.papers.measure_recipe import measure_recipe
from heedful.papers.outcome import make_page
from heedful.papers.paper_page import markdown
from heedful.papers.recipe import Dataset, Recipe

AUDITS = ["agreement", "permutation", "counterfactual"]
TINY = {"epochs": 1, "hidden": 4, "embedding_size": 8, "vectors": None, "test_fraction": 0.4}
WORDS = (("dull", "slow", "grim"), ("great", "warm", "funny"))


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    """The experiments of a paper, on another dataset."""
    lines = ["text,label"]
    for i in range(120):
        first, second = WORDS[i % 2][i % 3], WORDS[i % 2][i // 3 % 3]
        lines.append(f"film {i} was {first} and {second} throughout,{('negative', 'positive')[i % 2]}")
    data = tmp_path / "films.csv"
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def own(runs):
        return described([replace(run, dataset="sst2") for run in runs])

    return replace(JAIN_WALLACE, datasets={str(data): Dataset(40, TINY)}, described=own)


def test_trains_audits_and_finds_again(recipe, tmp_path: Path, recorder):
    cases, runs = recipe.cases(encoders=["bilstm", "average"]), tmp_path / "runs"
    first = measure_recipe(cases, AUDITS[:1], runs=runs, watcher=recorder)
    assert [(run.model, run.texts) for run in first.runs] == [("bilstm", 40), ("average", 40)]
    assert [line.split("films.csv ")[1].split(" texts")[0] for line in recorder.cases] == [
        "bilstm seed 0: trained and audited (agreement), 40",
        "average seed 0: trained and audited (agreement), 40",
    ]
    folders = sorted(runs.iterdir())

    found = measure_recipe(cases, AUDITS[:1], runs=runs, only_finished=True)
    assert not found.missing
    for ours, theirs in zip(found.runs, first.runs, strict=True):
        assert ours.frames["agreement"].equals(theirs.frames["agreement"], null_equal=True)

    lacking = measure_recipe(cases, AUDITS, runs=runs, only_finished=True)
    assert [set(run.frames) for run in lacking.runs] == [
        {"sharpness", "agreement"}
    ] * 2  # what there is counts
    assert not measure_recipe(cases, AUDITS[1:], runs=runs, only_finished=True).runs
    assert lacking.missing[0].why == "trained, and not audited for permutation, counterfactual"
    more = recipe.cases(encoders=["bilstm", "cnn"], texts=30)
    unlike = measure_recipe(more, AUDITS[:1], runs=runs, only_finished=True)
    assert [why for _, why in unlike.missing] == [
        "trained, and not audited on at most 30 texts",
        "not trained",
    ]

    everything = measure_recipe(cases, AUDITS, runs=runs)
    assert sorted(runs.iterdir()) == folders  # nothing is trained twice
    assert set(everything.runs[0].frames) == {"sharpness", *AUDITS}
    text = markdown(make_page(recipe, everything, recipe.experiments))
    assert "films.csv | positive | average |" in text
    decided = {
        row.split(" | ")[0]: row.split(" | ")[2] for row in text.split("\n| ") if row.startswith("jw-")
    }
    assert decided["jw-1"] != "not measured"  # agreement
    assert decided["jw-9"] != "not measured"  # counterfactual


def test_what_cannot_be_audited_is_named_and_the_rest_goes_on(recipe, tmp_path: Path):
    # The texts are one sentence each, so that a hierarchical network has nothing to attend over.
    flat, other = recipe.cases(encoders=["average", "cnn"])
    whole = other.config.model_copy(update={"hierarchical": True})
    results = measure_recipe([replace(other, config=whole), flat], AUDITS[:1], runs=tmp_path / "runs")
    assert [run.model for run in results.runs] == ["average"]
    ((what, why),) = results.missing
    assert what.endswith("films.csv cnn seed 0")
    assert why.startswith("trained, but not audited: No text of films test has two sentences or more")
