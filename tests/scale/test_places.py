"""Pieces give the same in every place; what dies is done again, and what cannot be done says why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from tests.conftest import Recorder
from tests.patience import soon
from tests.scale import work
from tests.stopped_writes import gone

from heedful import runs
from heedful.errors import BadInput, HeedfulError
from heedful.scale import worker
from heedful.scale.chosen import chosen_engine, spreads, working_on
from heedful.scale.engine import ENGINES, MOST_DEATHS, engine_named
from heedful.scale.engines.processes import Processes, usable_cores
from heedful.scale.piece import Piece
from heedful.scale.share_out import share_out
from heedful.scale.worker import Surroundings, do_elsewhere


def pieces(do, count=5, **config):
    return [Piece(f"piece {x}", do, {"x": x, **config}) for x in range(count)]


def test_processes_see_the_folder_and_settings_of_the_caller(monkeypatch, tmp_path):
    monkeypatch.setenv("HEEDFUL_TEST", "seen")
    with working_on("processes:2"):
        outcomes = share_out(pieces(work.square))
    assert [outcome.value for outcome in outcomes] == [[x**2, str(tmp_path), "seen", 1] for x in range(5)]
    places = {outcome.place for outcome in outcomes}
    assert len(places) <= 2
    assert not any(place.endswith(f" {os.getpid()}") for place in places)


def test_the_same_bits_here_and_elsewhere():
    threads = torch.get_num_threads()
    found = {}
    for on in ("here", "processes:2"):
        with working_on(on):
            found[on] = [outcome.value for outcome in share_out(pieces(work.product, count=3))]
    assert found["here"] == found["processes:2"]
    assert torch.get_num_threads() == threads


def test_a_killed_process_costs_its_piece_alone(tmp_path):
    began = tmp_path / "pieces"
    deaths = tmp_path / "deaths"
    began.mkdir(), deaths.mkdir()
    whole = [
        Piece("dies", work.dies, {"folder": str(deaths), "times": 1}),
        *(Piece("waits", work.waits, {"x": x, "seconds": 0, "folder": str(began)}) for x in range(4)),
    ]
    with working_on("processes:2"):
        outcomes = share_out(whole)
    assert [outcome.value for outcome in outcomes] == [1, 0, 1, 2, 3]
    assert not any(outcome.problem for outcome in outcomes)


def test_a_piece_that_always_kills_is_given_up(tmp_path):
    folder = tmp_path / "deaths"
    folder.mkdir()
    always = Piece("dies", work.dies, {"folder": str(folder), "times": 99})
    with working_on("processes:2"):
        dead, alive = share_out([always, Piece("four", work.square, {"x": 2})])
    assert len(list(folder.iterdir())) == MOST_DEATHS
    assert "killed 3 times" in dead.problem
    assert alive.value[0] == 4


@pytest.mark.parametrize("on", ["here", "processes:2"])
def test_what_cannot_be_done_says_why_and_the_rest_is_done(on):
    told = []
    with working_on(on):
        outcomes = share_out(
            [*pieces(work.refuses, 1), Piece("breaks", work.breaks), Piece("three", work.square, {"x": 3})],
            done=lambda place, outcome: told.append(place),
        )
    assert sorted(told) == [0, 1, 2]
    assert outcomes[0].problem == "There is no 0: give one."
    with pytest.raises(BadInput, match="There is no 0"):
        outcomes[0].taken()
    assert "KeyError: 'nothing'" in outcomes[1].problem
    with pytest.raises(RuntimeError, match=r"work\.py"):
        outcomes[1].taken()
    assert outcomes[2].value[0] == 9


def test_a_piece_that_died_is_no_bad_input(tmp_path):
    with pytest.raises(HeedfulError) as raised:
        from heedful.scale.piece import failed

        failed("It died.").taken()
    assert not isinstance(raised.value, BadInput)


def test_what_is_chosen_lasts_as_long_as_it_should():
    assert chosen_engine() is None
    with working_on("processes:3"):
        assert spreads()
        with working_on("here"):
            assert not spreads()
        assert isinstance(chosen_engine(), Processes)
    assert chosen_engine() is None


def test_a_machine_that_does_not_see_the_folder_does_nothing_there(tmp_path, monkeypatch):
    elsewhere = Surroundings(str(tmp_path / "not here"), {})
    monkeypatch.setattr(runs, "_waits", False)
    for name in worker._THREADS:
        monkeypatch.setenv(name, "1")
    refused = do_elsewhere(Piece("four", work.square, {"x": 2}), elsewhere)
    assert "does not see" in refused.problem
    assert refused.code == 2
    assert do_elsewhere(Piece("four", work.square, {"x": 2}, apart=True), elsewhere).value[0] == 4


def test_pieces_of_a_piece_stay_where_it_is():
    with working_on("processes:2"):
        outcomes = share_out([Piece("outer", nested, {"x": x}) for x in range(2)])
    for outcome in outcomes:
        outer, inner = outcome.value
        assert outer == inner


def nested(config):
    inner = share_out([Piece("inner", work.square, {"x": x}) for x in range(2)])
    return [os.getpid(), int(inner[0].place.split()[1])]


def test_machines_that_differ_are_named():
    watcher = Recorder()
    with working_on("here"):
        share_out(pieces(work.square, 1), watcher=watcher)
    assert watcher.lines == []
    from heedful.scale.piece import Outcome
    from heedful.scale.share_out import _other_machines

    assert "machines differ" in _other_machines([Outcome(1, machine="another make")])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("proceses", "There is no place to work named 'proceses': did you mean processes?"),
        ("cloud", "choose one of here, processes, ray"),
        ("processes:0", "'0' is no number of processes"),
        ("processes:many", "'many' is no number of processes"),
        ("processes:", "Nothing follows the colon"),
        ("here:2", "There is only one process here"),
        ("", "There is no place to work named ''"),
        ("ray:nowhere", "is no address of a Ray cluster"),
        ("ray:host:99999", "is no address of a Ray cluster"),
        ("ray:ray://head:10001", "is no address of a Ray cluster"),
    ],
)
def test_a_place_that_is_none_is_refused(name, said):
    if name.startswith("ray:"):
        pytest.importorskip("ray")
    with pytest.raises(BadInput) as raised:
        engine_named(name)
    assert said in str(raised.value)


def test_every_place_says_what_it_is():
    assert set(ENGINES) == {"here", "processes", "ray"}
    assert Processes().count == usable_cores()
    assert all(ENGINES.descriptions().values())


def test_without_ray_it_is_said_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(BadInput, match=r"pip install 'heedful\[ray\]'"):
        engine_named("ray")


def test_ray_is_told_to_report_to_nobody(monkeypatch):
    pytest.importorskip("ray")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "1")
    engine_named("ray")
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"


def test_processes_end_with_what_gave_the_work(tmp_path):
    """A driver that is killed leaves no process behind."""
    import signal
    import subprocess
    import sys

    program = (
        "from heedful.scale.chosen import working_on; from heedful.scale.piece import Piece\n"
        "from heedful.scale.share_out import share_out; from tests.scale import work\n"
        "if __name__ == '__main__':\n"
        " with working_on('processes:2'):\n"
        f"  share_out([Piece('w', work.waits, dict(x=x, seconds=600, folder={str(tmp_path)!r})) for x in range(2)])\n"
    )
    (tmp_path / "driver.py").write_text(program)
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])}
    driver = subprocess.Popen([sys.executable, str(tmp_path / "driver.py")], env=environment)

    def at_work() -> bool:
        assert driver.poll() is None
        return len(list(tmp_path.glob("*.began"))) == 2

    assert soon(at_work)
    children = [
        int(path.name)
        for path in Path("/proc").iterdir()
        if path.name.isdigit() and _parent(path) == driver.pid and b"spawn_main" in _read(path / "cmdline")
    ]
    assert len(children) == 2
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    assert all(gone(child) for child in children)
    assert not list(tmp_path.glob("*.ended"))


def _parent(process: Path) -> int:
    stat = _read(process / "stat")
    return int(stat.rpartition(b")")[2].split()[1]) if stat else 0


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
