"""Killed at any moment, the same command finishes the run, and it equals an undisturbed one bit for bit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.patience import soon
from tests.stopped_writes import begin, stopped

import heedful
from heedful import storage
from heedful.errors import BadInput
from heedful.runs import Run
from heedful.training.loop import Trainer

OPTIONS = {
    "embedding_size": 8,
    "hidden": 4,
    "epochs": 3,
    "patience": None,
    "batch_size": 16,
    "decoder_dropout": 0.5,
}
_SECOND_CHECKPOINT = 7
"""At which step of its writing a run is there: after config, environment, a line of its log, a checkpoint, and another line."""
COMPARED = ("model.safetensors", "metrics.json", "model.json", "vocabulary.json", "config.yaml")


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("data") / "numbers.csv"
    words = ["one", "two", "three", "four", "five"]
    rows = [f"{' '.join(words[i // 5**k % 5] for k in range(3 + i % 5))} {i},{i % 2}" for i in range(300)]
    path.write_text("text,label\n" + "\n".join(rows))
    return path


@pytest.fixture(scope="module")
def undisturbed(data, tmp_path_factory) -> Path:
    run = heedful.train(str(data), runs=tmp_path_factory.mktemp("undisturbed"), progress=False, **OPTIONS).run
    assert run is not None
    return run


def _killed_in_child(data: Path, runs: Path, sabotage) -> bool:
    """Train in a forked process that the sabotage may kill; say whether it was."""
    child = os.fork()
    if child == 0:
        try:
            sabotage()
            heedful.train(str(data), runs=runs, progress=False, **OPTIONS)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def _assert_same(run: Path, other: Path) -> None:
    for name in COMPARED:
        assert (run / name).read_bytes() == (other / name).read_bytes(), name
    assert not list(run.glob(".partial-*"))
    assert not (run / "checkpoint.safetensors").exists()


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("step", [1, 20, 35, 45], ids=lambda step: f"step {step}")
def test_killed_in_the_middle_of_an_epoch(data, undisturbed, tmp_path, step):
    def sabotage():
        done, train_step = 0, Trainer.train_step

        def mortal(self, batch):
            nonlocal done
            done += 1
            if done == step:
                _die()
            return train_step(self, batch)

        Trainer.train_step = mortal

    assert _killed_in_child(data, tmp_path, sabotage)
    _assert_same(heedful.train(str(data), runs=tmp_path, progress=False, **OPTIONS).run, undisturbed)


def test_killed_in_the_middle_of_every_write(data, undisturbed, tmp_path):
    """Each write in turn is cut after half its bytes; every next attempt gets one write further."""
    attempts = 0
    for number in range(1, 100):
        runs = tmp_path / str(number)

        def sabotage(number=number):
            count, fdopen = 0, os.fdopen

            def half(handle, *args, **kwargs):
                nonlocal count
                count += 1
                file = fdopen(handle, *args, **kwargs)
                if count < number:
                    return file

                class Half:
                    def __enter__(self):
                        return self

                    def __exit__(self, *_):
                        pass

                    def write(self, content):
                        file.write(content[: len(content) // 2])
                        file.flush()
                        _die()

                return Half()

            storage.os.fdopen = half

        if not _killed_in_child(data, runs, sabotage):
            break
        attempts += 1
        _assert_same(heedful.train(str(data), runs=runs, progress=False, **OPTIONS).run, undisturbed)
    assert (
        attempts >= 10
    )  # config, environment, a log line and a checkpoint per epoch, the model, the metrics


def test_a_command_killed_from_outside_goes_on(data, undisturbed, tmp_path):
    """The real command in a real subprocess, killed in the midst of its second checkpoint."""
    flags = [
        part
        for key, value in OPTIONS.items()
        if value is not None
        for part in (f"--{key.replace('_', '-')}", str(value))
    ]
    runs, still = tmp_path / "runs", tmp_path / "still"
    command = ["train", data, "--patience", "3", "--runs", runs, *flags]
    process = begin(command, at=_SECOND_CHECKPOINT, folder=still, log=tmp_path / "said.log")
    assert stopped(process, still) == process.pid
    process.kill()
    process.wait()
    (folder,) = runs.iterdir()
    assert (folder / "checkpoint.safetensors").is_file()
    assert not Run(folder).complete
    assert not list(folder.glob("model*"))
    again = [sys.executable, "-m", "heedful", *map(str, command)]
    assert subprocess.run(again, capture_output=True, check=False).returncode == 0
    # Patience of three epochs never ends a run of three: all but the config is the undisturbed run's.
    for name in ("model.safetensors", "metrics.json"):
        assert (folder / name).read_bytes() == (undisturbed / name).read_bytes()
    assert '"event": "resumed"' in (folder / "log.jsonl").read_text()


def test_two_processes_cannot_work_on_the_same_run(data, undisturbed, tmp_path):
    run = Run(tmp_path / undisturbed.name)
    with run.locked(), pytest.raises(BadInput, match="Another process is working on"):
        heedful.train(str(data), runs=tmp_path, progress=False, **OPTIONS)
    assert heedful.train(str(data), runs=tmp_path, progress=False, **OPTIONS).run == run.folder


TWINS = """
import sys
from pathlib import Path
from heedful.training.twins import train_twins
if __name__ == "__main__":
    base, runs = map(Path, sys.argv[1:])
    train_twins(base, seeds=(1,), runs=runs, epochs=10_000, patience=None)
"""


@pytest.mark.slow
def test_twins_end_with_who_started_them(undisturbed, tmp_path):
    """Else the same command, given again, would find its own twin at work."""
    script, runs = tmp_path / "twins.py", tmp_path / "runs"
    script.write_text(TWINS)
    parent = subprocess.Popen([sys.executable, script, undisturbed, runs])
    try:
        assert soon(lambda: list(runs.glob("*/log.jsonl")))
        (log,) = runs.glob("*/log.jsonl")
        with pytest.raises(BadInput, match="Another process"), Run(log.parent).locked():
            pass
    finally:
        parent.kill()
        parent.wait()

    def free() -> bool:
        try:
            with Run(log.parent).locked():
                return True
        except BadInput:
            return False

    assert soon(free)
