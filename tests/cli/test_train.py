from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
import typer
import yaml

import heedful
from heedful.config import TrainConfig
from heedful.training.epochs import Epochs
from heedful.training.train import resolve

SMALL = ("--embedding-size", "8", "--hidden", "4", "--epochs", "2")


def the_run() -> Path:
    (folder,) = Path("runs").iterdir()
    return folder


@pytest.fixture
def config_of(run, monkeypatch):
    """Give the config that a command line comes to, without training."""
    seen: list[TrainConfig] = []

    def note(config, **_):
        seen.append(config)
        raise typer.Exit

    monkeypatch.setattr("heedful.training.train.train", note)

    def config_of(*arguments: object) -> TrainConfig:
        assert run("train", *arguments) == (0, "", "")
        return seen.pop()

    return config_of


def test_python_yaml_and_flags_come_to_the_same(config_of):
    options = {
        "dataset": "reviews.csv",
        "encoder": "cnn",
        "widths": [1, 2],
        "label_names": ["no", "yes"],
        "learning_rate": 5e-4,
        "patience": None,
        "lowercase": False,
        "hierarchical": True,
        "vectors": "v.txt",
    }
    Path("options.yaml").write_text(yaml.safe_dump(options))
    flags = "reviews.csv --encoder cnn --widths 1,2 --label-names no,yes --learning-rate 5e-4 --patience none"
    from_flags = config_of(*flags.split(), "--no-lowercase", "--hierarchical", "--vectors", "v.txt")
    assert from_flags == config_of("--config", "options.yaml") == resolve(options)


def test_flags_win_over_yaml_and_yaml_over_the_preset(config_of):
    Path("options.yaml").write_text("preset: jain-wallace\nhidden: 64\nbatch_size: 16\namsgrad: true\n")
    config = config_of("reviews.csv", "--config", "options.yaml", "--hidden", "7", "--no-amsgrad")
    assert (config.hidden, config.batch_size, config.amsgrad) == (7, 16, False)
    assert config.class_weights  # from the preset
    assert config.heads == 1  # from nobody


def test_an_empty_yaml_file_changes_nothing(config_of):
    Path("empty.yaml").write_text("# nothing yet\n")
    assert config_of("reviews.csv", "--config", "empty.yaml") == config_of("reviews.csv")


def test_the_encoder_named_none_is_not_nothing(config_of):
    assert config_of("reviews.csv", "--encoder", "none").encoder == "none"


def test_a_run_says_what_it_reached_and_keeps_what_it_did(run, reviews):
    result = run("train", reviews, *SMALL)
    assert result.code == 0
    assert f"Run: {the_run().relative_to('.')}\n" in result.out
    assert re.search(r"^test +\d\.\d{3} +\d\.\d{3}", result.out, re.MULTILINE)
    assert re.search(r"Note: dev is \d+ texts", result.out)
    assert len(re.findall(r"epoch +\d+  loss", result.err)) == 2
    assert yaml.safe_load((the_run() / "config.yaml").read_text())["hidden"] == 4
    assert not list(the_run().glob("*partial*"))


def test_a_complete_run_asked_for_again_does_nothing_and_says_so(run, reviews):
    first = run("train", reviews, *SMALL)
    before = {path: path.stat().st_mtime_ns for path in the_run().iterdir()}
    again = run("train", reviews, *SMALL)
    assert again.code == 0
    assert again.err == f"{the_run()} is complete: loading it. Another --seed makes another run.\n"
    assert again.out == first.out
    assert {path: path.stat().st_mtime_ns for path in the_run().iterdir()} == before


def test_output_to_a_pipe_has_whole_paths_and_no_colour(run, reviews, monkeypatch):
    monkeypatch.delenv("NO_COLOR")
    folder = Path("runs [of] " + "very " * 30 + "long name")
    result = run("train", reviews, *SMALL, "--runs", folder)
    (made,) = folder.iterdir()
    assert f"Run: {made}\n" in result.out
    assert str(made) in result.err.splitlines()[0]
    assert "\x1b" not in result.out + result.err


def test_ctrl_c_stops_and_the_same_command_goes_on(run, reviews, monkeypatch):
    whole = heedful.train(str(reviews), runs="whole", progress=False, embedding_size=8, hidden=4, epochs=2)

    def interrupt(self, epoch, loss, metric, score, *, best):
        if epoch == 1:
            signal.raise_signal(signal.SIGINT)

    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    try:
        with monkeypatch.context() as patch:
            patch.setattr(Epochs, "end_epoch", interrupt)
            stopped = run("train", reviews, *SMALL)
    finally:
        signal.signal(signal.SIGINT, usual)
    assert stopped.code == 130
    assert stopped.err.endswith("Error: Stopped: the same command continues from what is finished.\n")
    assert "Traceback" not in stopped.err
    assert "unfinished" in run("runs").out
    refused = run("predict", the_run(), "great")
    assert refused.code == 2
    assert f"{the_run()} is unfinished" in refused.err

    # The very words that the refusal recommends.
    recommended = re.search(r"heedful (train .*) continues it", refused.err)[1]
    assert run(*recommended.split()).code == 0
    events = [json.loads(line)["event"] for line in (the_run() / "log.jsonl").read_text().splitlines()]
    assert "resumed" in events
    files = ("model.safetensors", "metrics.json")
    assert all((the_run() / name).read_bytes() == (whole.run / name).read_bytes() for name in files)


def test_a_full_disk_is_one_sentence_and_the_same_command_finishes_later(run, reviews, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        refused = run("train", reviews, *SMALL)
    assert refused.code == 2
    assert re.fullmatch(r"Error: The disk is full: \S+ was not written\. Free some space .*\n", refused.err)
    assert [path.name for path in the_run().iterdir()] == [".lock"]
    assert run("train", reviews, *SMALL).code == 0


@pytest.fixture
def tiny_disk(tmp_path):
    folder = tmp_path / "tiny"
    folder.mkdir()

    def mount(*options: str) -> None:
        done = subprocess.run(["mount", *options, str(folder)], capture_output=True, check=False)
        if done.returncode:
            pytest.skip("no disk of a chosen size can be mounted here")

    mount("-t", "tmpfs", "-o", "size=16k", "none")
    yield folder, mount
    subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_really_full(run, reviews, tiny_disk):
    folder, mount = tiny_disk
    refused = run("train", reviews, *SMALL, "--runs", folder)
    assert refused.code == 2
    assert "Error: The disk is full" in refused.err.splitlines()[-1]
    assert not list(folder.rglob(".partial*"))
    mount("-o", "remount,size=1m")
    assert run("train", reviews, *SMALL, "--runs", folder).code == 0


def test_a_disk_that_cannot_be_written(run, reviews, trained, tiny_disk):
    folder, mount = tiny_disk
    mount("-o", "remount,ro")
    for arguments in (
        ("train", reviews, "--runs", folder),
        ("predict", trained, "x", "-o", folder / "x.jsonl"),
    ):
        refused = run(*arguments)
        assert refused.code == 2
        assert re.match(rf"Error: Cannot write {folder}\S* \(read-only file system\)", refused.err)
