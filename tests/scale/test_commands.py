"""Recipes, twins and the panel give elsewhere what they give here."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import Recorder
from tests.scale.conftest import SMALL, bits

from heedful.papers.attacked_training import AttackChoices
from heedful.papers.case_piece import as_data, from_data
from heedful.papers.measure_recipe import measure_recipe
from heedful.papers.recipe import RECIPES, RecipeCase
from heedful.scale.chosen import working_on
from heedful.training.train import resolve, train
from heedful.training.twins import train_twins


@pytest.mark.parametrize("name", list(RECIPES))
def test_a_case_is_the_same_after_its_journey(name):
    recipe = RECIPES.get(name)
    choices = AttackChoices(similarity=False, known_words=True) if recipe.attacks else None
    cases = recipe.cases(seeds=2, texts=100, attacks=choices)
    assert cases
    for case in cases:
        back = from_data(as_data(case))
        assert back == case
        assert as_data(back) == as_data(case)


def cases(seeds, **audit):
    return [
        RecipeCase(
            "mock_1", "average", seed, resolve({**SMALL, "encoder": "average", "seed": seed}), 20, audit
        )
        for seed in seeds
    ]


def measured(on: str, folder: str, asked):
    watcher = Recorder()
    with working_on(on):
        return measure_recipe(asked, ["permutation"], runs=Path(folder), watcher=watcher), watcher.lines


def test_a_recipe_elsewhere_is_the_recipe_here():
    (here, _), (there, lines) = (measured(on, on[:4], cases((0, 1, 2))) for on in ("here", "processes:2"))
    assert bits(Path("here")) == bits(Path("proc"))
    assert [run.seed for run in there.runs] == [0, 1, 2]
    for one, other in zip(here.runs, there.runs, strict=True):
        assert one.frames["permutation"].equals(other.frames["permutation"])
    assert sum("finished (" in line for line in lines) == 3


def test_a_case_that_cannot_be_done_is_missing_and_the_others_are_there():
    asked = cases((0, 1))
    broken = RecipeCase("mock_1", "average", 5, resolve({**SMALL, "encoder": "average", "max_length": 1}), 20)
    found, _ = measured("processes:2", "runs", [asked[0], broken, asked[1]])
    assert [run.seed for run in found.runs] == [0, 1]
    ((what, why),) = found.missing
    assert what == "mock_1 average seed 5"
    assert why


def test_twins_elsewhere_are_the_twins_here():
    for folder in ("here", "proc"):
        base = train(resolve({**SMALL, "encoder": "average"}), runs=Path(folder)).run
        told: list[int] = []
        with working_on("here" if folder == "here" else "processes:2"):
            twins = train_twins(
                base,
                seeds=(10, 50),
                runs=base / "twins",
                epochs=2,
                done=lambda twin, told=told: told.append(twin.seed),
            )
        assert [twin.seed for twin in twins] == [10, 50] == sorted(told)
    digests = [
        {name: bits for name, bits in bits_of(Path(folder)).items() if name.endswith(".safetensors")}
        for folder in ("here", "proc")
    ]
    assert digests[0] == digests[1]
    assert len(digests[0]) == 2


def bits_of(folder: Path):
    (twins,) = folder.glob("*/twins")
    return bits(twins)
