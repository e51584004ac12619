"""heedful sweep, as a user meets it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from tests.scale.conftest import SMALL, bits

from heedful.cli.app import main
from heedful.cli.console import console, error_console


@pytest.fixture
def run(capsys):
    def run(*arguments):
        console.cache_clear()
        error_console.cache_clear()
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        return left.value.code, *capsys.readouterr()

    return run


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_processes_and_one_process_give_the_same_bits_and_table(run, spec):
    small = spec(
        grid={"encoder": ["average", "none"], "seed": [0, 1]}, then={"audit": {"only": ["permutation"]}}
    )
    tables = {}
    for on in ("here", "processes:2"):
        folder = on.partition(":")[0]
        code, out, err = run(
            "sweep", small, "--on", on, "--runs", folder, "-o", f"{folder}-sweep", "--format", "csv"
        )
        assert code == 0, err
        assert sum(line.startswith("[") and "done" in line for line in err.splitlines()) == 4
        tables[folder] = rows_of(out)
        assert out == Path(f"{folder}-sweep/table.csv").read_text()
    assert bits(Path("here")) == bits(Path("processes"))
    assert len([name for name in bits(Path("here")) if name.endswith("permutation.parquet")]) == 4
    for row in (*tables["here"], *tables["processes"]):
        row.pop("run")
    assert tables["here"] == tables["processes"]
    assert [(row["encoder"], row["seed"]) for row in tables["here"]] == [
        ("average", "0"), ("average", "1"), ("none", "0"), ("none", "1"),
    ]  # fmt: skip
    assert all(float(row["audit.permutation.permutation_change"]) >= 0 for row in tables["here"])
    assert {row["state"] for row in tables["here"]} == {"done"}


def test_a_long_path_is_whole_in_the_file(run, spec, tmp_path):
    deep = tmp_path / ("deep" * 30)
    code, out, _ = run("sweep", spec(grid={"seed": [0]}), "--runs", deep, "-o", "kept", "--format", "csv")
    assert code == 0
    assert Path(rows_of(out)[0]["run"]).parent == deep


def test_what_is_done_is_not_done_again_and_a_sweep_may_grow(run, spec):
    assert run("sweep", spec(), "-o", "kept")[0] == 0
    entries = {path: path.stat().st_mtime_ns for path in Path("kept/pieces").iterdir()}
    code, _, err = run("sweep", spec(grid={"seed": [0, 1, 2, 3]}), "-o", "kept")
    assert code == 0
    assert "3 of 4 pieces are done already (kept)." in err
    assert "[4/4] seed 3: done" in err
    assert {path: path.stat().st_mtime_ns for path in entries} == entries
    assert len(list(Path("kept/pieces").iterdir())) == 4


def test_status_says_how_far_it_is_and_does_nothing(run, spec):
    code, out, err = run("sweep", spec(), "--status")
    assert code == 0
    assert "3 pieces: 0 done, 0 failed, 3 to do. Nobody is at work." in err
    assert out.count("to do") == 3
    assert not Path("runs").exists()
    run("sweep", spec())
    code, out, err = run("sweep", spec(grid={"seed": [0, 1, 2, 3]}), "--status", "--format", "json")
    assert "4 pieces: 3 done, 0 failed, 1 to do. Nobody is at work." in err
    found = json.loads(out)
    assert [piece["state"] for piece in found] == ["done", "done", "done", "to do"]
    assert [piece["options"]["seed"] for piece in found] == [0, 1, 2, 3]


def test_a_piece_that_fails_is_named_and_tried_again(run, spec):
    Path("data.csv").write_text(
        "text,label\n" + "".join(f"film {i} was fine,good\nbook {i} was poor,bad\n" for i in range(20))
    )
    both = spec(options={**SMALL, "dataset": "data.csv"}, grid={"text_column": ["text", "body"]})
    code, out, err = run("sweep", both, "-o", "kept", "--format", "md")
    assert code == 4
    assert "[2/2] text_column body: failed: " in err or "[1/2] text_column body: failed: " in err
    assert "failed: " in out and "done" in out
    assert "1 done, 1 failed, 0 to do" in run("sweep", both, "-o", "kept", "--status")[2]
    code, _, err = run("sweep", both, "-o", "kept")
    assert code == 4
    assert "1 of 2 pieces are done already" in err
    Path("data.csv").write_text(Path("data.csv").read_text().replace("text,label", "body,label"))
    assert run("sweep", both, "-o", "kept")[0] == 0


def test_an_address_keeps_pieces_and_runs(run, spec, tmp_path):
    address = f"local://{tmp_path}/far"
    code, _, err = run("sweep", spec(), "--on", "processes:2", "-o", address)
    assert code == 0, err
    run("sweep", spec(), "--runs", "near")
    assert bits(Path("far/runs")) == bits(Path("near"))
    assert f"{address}/runs/mock_1-" in Path("far/table.csv").read_text()
    assert not Path("runs").exists()
    assert "3 of 3 pieces are done already" in run("sweep", spec(), "-o", address)[2]
    assert "3 done, 0 failed, 0 to do.\n" in run("sweep", spec(), "-o", address, "--status")[2]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"grid": {"encodr": ["cnn"]}}, "There is no option 'encodr': did you mean encoder?"),
        ({"grid": {"encoder": ["cnnn"]}}, "There is no encoder named 'cnnn': did you mean cnn?"),
        ({"command": "trian"}, "There is no command to sweep named 'trian': did you mean train?"),
        ({"grid": {"epochs": [1, 1.5]}}, "piece 2 (epochs 1.5): Option epochs must be a whole number, not 1.5."),
        ({"grid": {"epochs": [1, 8], "seed": [0]}, "options": {"dataset": "mock_1", "epochs": 3}}, None),
        ({"list": [{"seed": 0}, {"encoder": "bilstm", "seed": 0}], "grid": None}, "are the same"),
        ({"command": "reproduce", "options": {"recipe": "seat"}, "grid": {"seeds": [1]}, "then": {"audit": {}}}, "then is for train"),
        ({"then": {"audit": {"onli": ["rationale"]}}}, "There is no option 'onli'"),
        ({"then": {"audit": {"only": ["rational"]}}}, "did you mean rationale?"),
        ({"then": {"attack": {"recipe": "pwsw"}}}, "did you mean pwws?"),
        ({"command": "audit", "options": None, "grid": {"seed": [1]}}, "Option run is missing"),
        ({"command": "audit", "options": {"run": 3}, "grid": {"seed": [1]}}, "Option run cannot be 3"),
        ({"command": "reproduce", "options": {"recipe": "seet"}, "grid": {"seeds": [1]}}, "did you mean seat?"),
        ({"command": "reproduce", "options": {"recipe": "seat"}, "grid": {"table": [99]}}, "named '99'"),
        ({"command": "study", "options": {"name": "heads"}, "grid": {"seeds": [99]}}, "99 twins cannot be trained"),
        ({"command": "panel", "options": {"corpus": "pronoun"}, "grid": {"member": ["cnn-seed9"]}}, "did you mean"),
    ],
)  # fmt: skip
def test_bad_sweeps_are_refused_before_anything_is_done(run, spec, content, said):
    path = spec(**content)
    if said is None:
        assert run("sweep", path, "--status")[0] == 0
        return
    code, _, err = run("sweep", path)
    assert code == 2
    assert said in " ".join(err.split())
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--on", "prozesses"], "There is no place to work named 'prozesses': did you mean processes?"),
        (["--on", "ray:127.0.0.1:1"], "No Ray cluster can be reached at 127.0.0.1:1 (connection refused)"),
        (["--format", "cvs"], "There is no format 'cvs': did you mean csv?"),
        (["-o", "small.yaml/x"], "Cannot write"),
        (["-o", "nosuch://x"], "nosuch://x cannot be opened"),
    ],
)
def test_bad_places_are_refused(run, spec, arguments, said):
    if "ray" in arguments[-1]:
        pytest.importorskip("ray")
    code, _, err = run("sweep", spec(), *arguments)
    assert code == 2
    assert said in " ".join(err.split())
    assert not list(Path("runs").glob("*/config.yaml"))


def test_other_commands_are_swept_too(run, spec, tmp_path):
    run("sweep", spec(grid={"seed": [0]}))
    (trained,) = (path.parent for path in Path("runs").glob("*/metrics.json"))
    audits = spec(
        "audits.yaml",
        command="audit",
        options={"run": str(trained), "only": ["permutation"]},
        grid={"permutations": [3, 4]},
    )
    code, out, err = run("sweep", audits, "--format", "csv")
    assert code == 0, err
    assert [row["permutations"] for row in rows_of(out)] == ["3", "4"]
    assert len(list((trained / "audits").iterdir())) == 2
