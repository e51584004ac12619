"""Runs are found by their folder, their name, or the beginning of one name."""

from __future__ import annotations

import pytest

from heedful.errors import BadInput
from heedful.runs import Run, find_run


@pytest.fixture
def runs(tmp_path):
    for name in ("mr-bilstm-1234", "mr-cnn-5678", "sst2-cnn-9abc"):
        Run(tmp_path / name).begin({"seed": 0}, seed=0, threads=1)
    return tmp_path


@pytest.mark.parametrize("name", ["sst2-cnn-9abc", "sst2", "s"])
def test_a_name_or_its_beginning_is_enough(runs, name):
    assert find_run(name, runs=runs) == runs / "sst2-cnn-9abc"


def test_a_folder_is_itself_wherever_it_is(runs, tmp_path):
    assert find_run(tmp_path / "mr-cnn-5678") == tmp_path / "mr-cnn-5678"


def test_a_beginning_of_several_is_refused_with_their_names(runs):
    with pytest.raises(BadInput, match="2 runs begin with 'mr': choose one of mr-bilstm-1234, mr-cnn-5678"):
        find_run("mr", runs=runs)


def test_what_is_the_beginning_of_none_gets_a_suggestion(runs):
    with pytest.raises(BadInput, match="no run 'sst3-cnn-9abc': did you mean sst2-cnn-9abc"):
        find_run("sst3-cnn-9abc", runs=runs)
