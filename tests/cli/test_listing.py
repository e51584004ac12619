"""Commands that show what there is: list, data, runs, doctor."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from heedful.cli import doctor as doctor_command


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("encoders", "bilstm"),
        ("encoders", "hf:NAME-OR-PATH"),
        ("objectives", "vanilla"),
        ("presets", "jain-wallace"),
        ("datasets", "sst2"),
        ("assets", "glove-840b-300d"),
    ],
)
def test_a_list_gives_each_name_a_description(run, kind, name):
    shown = run("list", kind)
    assert shown.code == 0
    (line,) = [line for line in shown.out.splitlines() if line.split()[0] == name]
    assert len(line.split()) > 2


def dataset_row(shown, name):
    (line,) = [line for line in shown.out.splitlines() if line.startswith(name + " ")]
    return line.split()


def test_data_list_says_what_is_at_hand(run, monkeypatch):
    bare = run("data", "list")
    assert dataset_row(bare, "sst2")[1] == "no"
    assert dataset_row(bare, "mock_1")[1] == "generated"
    assert dataset_row(bare, "imdb")[1:3] == ["data", "get"]
    Path("mine/sst2").mkdir(parents=True)
    Path("mine/sst2/train.csv").write_text("text,label\nfine,positive\n")
    monkeypatch.setenv("HEEDFUL_DATA", "mine")
    assert dataset_row(run("data", "list"), "sst2")[1] == "yes"


@pytest.mark.parametrize("width", [80, 130])
def test_data_list_fits_the_terminal_with_names_whole(run, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = run("data", "list")
    assert max(map(len, shown.out.splitlines())) <= width
    assert dataset_row(shown, "tweeteval_emotion_binary")
    assert ("jain-wallace" in shown.out) == (width == 130)


def test_data_show_tells_how_to_get_it(run):
    shown = run("data", "show", "sst2").out
    assert "Stanford Sentiment Treebank" in shown
    assert "classes: negative, positive" in shown
    assert "here: no" in shown
    assert "pip install 'heedful[hub]'" in shown


def test_runs_tells_complete_unfinished_and_damaged_apart(run, trained):
    for name in ("complete", "unfinished", "cut", "hollow"):
        shutil.copytree(trained, Path("runs") / name)
    Path("runs/unfinished/metrics.json").unlink()
    Path("runs/cut/metrics.json").write_text('{"epoch"')
    Path("runs/hollow/metrics.json").write_text("{}")
    states = {
        "complete": "complete",
        "unfinished": "unfinished",
        "cut": "damaged",
        "hollow": "damaged",
    }
    shown = run("runs")
    assert {line.split()[0]: line.split()[1] for line in shown.out.splitlines()[1:]} == states
    rows = [json.loads(line) for line in run("runs", "--json").out.splitlines()]
    assert {Path(row["run"]).name: row["state"] for row in rows} == states
    assert {row["metrics"] is not None for row in rows if row["state"] == "complete"} == {True}


def test_runs_in_a_narrow_terminal_breaks_names_and_keeps_numbers(run, trained, monkeypatch):
    monkeypatch.setenv("COLUMNS", "55")
    lines = run("runs", trained.parent).out.splitlines()
    assert max(map(len, lines)) <= 55
    assert lines[1].split()[1] == "complete"
    assert "".join(line.split()[0] for line in lines[1:]) == trained.name


def test_no_runs_yet(run):
    assert "There are no runs in runs yet" in run("runs").out
    assert run("runs", "--json").out == ""


def test_doctor_is_content_with_a_good_machine(run, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(2**40, 0, 2**40))
    shown = run("doctor")
    assert shown.code == 0
    assert "✗" not in shown.out
    assert f"transformers {version('transformers')}" in " ".join(shown.out.split())
    assert os.listdir() == []  # noqa: PTH208 nothing is left behind


def test_doctor_fails_where_runs_cannot_be_written(run):
    Path("runs").write_text("a file in the way")
    shown = run("doctor")
    assert shown.code == 1
    assert f"{Path('runs').resolve()} cannot be written" in shown.out


def test_doctor_fails_without_a_needed_package(run, monkeypatch):
    def missing(package):
        raise doctor_command.PackageNotFoundError(package)

    monkeypatch.setattr(doctor_command, "version", missing)
    shown = run("doctor")
    assert shown.code == 1
    assert "missing. Install with pip install heedful." in shown.out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device here that is always full")
def test_output_that_cannot_be_written_is_one_sentence():
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "heedful", "--version"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "Error: The disk is full: free some space and run the same command again.\n"
