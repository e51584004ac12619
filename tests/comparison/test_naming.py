"""Names of runs say the least that sets them apart, and a note says the rest."""

from __future__ import annotations

import pytest

from heedful.comparison.naming import describe, group_by_method, hidden, names
from heedful.config import TrainConfig
from heedful.declared import complete
from heedful.runs import Run


@pytest.fixture
def made(tmp_path):
    def make(*runs: dict[str, object]) -> list:
        found = []
        for place, options in enumerate(runs):
            run = Run(tmp_path / f"run{len(list(tmp_path.iterdir()))}-{place}")
            config = complete(TrainConfig)(**{"dataset": "sst2", **options})
            run.begin(config.model_dump(mode="json"), seed=config.seed, threads=1)
            found.append(describe(run.folder))
        return found

    return make


def named(runs: list) -> list[str]:
    return names(runs, [[place] for place in range(len(runs))])


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ([{}, {"objective": "seat"}], ["vanilla", "seat"]),
        ([{"seed": 0}, {"seed": 4}], ["vanilla, seed 0", "vanilla, seed 4"]),
        ([{"encoder": "cnn"}, {"encoder": "bilstm"}], ["cnn", "bilstm"]),
        ([{"encoder": "cnn"}, {"objective": "seat"}], ["cnn, vanilla", "bilstm, seat"]),
        ([{}, {"objective": "steady", "stability": 30}], ["vanilla", "steady"]),
        ([{"objective": "steady", "stability": s} for s in (1, 30)], ["stability 1", "stability 30"]),
        (
            [{}, *({"objective": "steady", "stability": s} for s in (None, 30))],
            ["vanilla", "steady", "steady, stability 30"],
        ),
        ([{"hidden": 8}, {"hidden": 9, "seed": 1}], ["hidden 8, seed 0", "hidden 9, seed 1"]),
        ([{"lowercase": False}, {}], ["no lowercase", "lowercase"]),
    ],
)
def test_what_differs_is_the_name(made, runs, said):
    assert named(made(*runs)) == said


def test_what_nothing_sets_apart_goes_by_its_folder(made):
    runs = made({}, {}, {"objective": "seat"})
    assert named(runs) == [runs[0].folder.name, runs[1].folder.name, "seat"]


def test_a_model_without_a_config_goes_by_its_folder(made, tmp_path):
    bare = describe(tmp_path / "somebody's")
    assert named([*made({}), bare]) == ["vanilla", "somebody's"]
    assert bare.seed is None
    assert group_by_method([bare, describe(tmp_path / "another")]) == [[0], [1]]


def test_seeds_of_a_method_stand_together_in_the_order_of_their_first(made):
    runs = made({"seed": 1}, {"objective": "seat", "seed": 0}, {"seed": 0}, {"objective": "seat", "seed": 1})
    groups = group_by_method(runs)
    assert groups == [[0, 2], [1, 3]]
    assert names(runs, groups) == ["vanilla, 2 seeds", "seat, 2 seeds"]


def test_what_an_objective_does_not_read_makes_no_other_method(made):
    assert group_by_method(made({"stability": 3.0}, {"seed": 1, "threads": 2})) == [[0, 1]]
    assert group_by_method(made({"hidden": 3}, {"seed": 1})) == [[0], [1]]


def test_a_base_of_the_same_seed_makes_no_other_method(made):
    based = [
        {"objective": "seat", "seed": seed, "base": f"runs/sst2-bilstm-vanilla-seed{seed}-0123456{seed}"}
        for seed in (0, 1)
    ]
    assert group_by_method(made(*based)) == [[0, 1]]


def test_the_same_seed_twice_is_no_method_of_two_seeds(made):
    assert group_by_method(made({}, {})) == [[0], [1]]


def test_a_difference_that_no_name_shows_is_told(made):
    runs = made({"learning_rate": 0.01}, {"objective": "seat", "radius": 0.5})
    assert hidden(runs, named(runs)) == ["learning rate"]
    runs = made({"vectors": "glove"}, {"objective": "seat"})
    assert hidden(runs, named(runs)) == ["vectors"]
    runs = made({"learning_rate": 0.01}, {"learning_rate": 0.02})
    assert hidden(runs, named(runs)) == []
    runs = made({"epochs": 8}, {"epochs": 9}, {"objective": "seat", "epochs": 7})
    assert hidden(runs[:2], named(runs[:2])) == []
    assert hidden(runs, named(runs)) == ["epochs"]
