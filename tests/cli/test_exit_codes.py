"""A gate reads the exit code: 1 is a verdict, and nothing else that happens leaves with it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import heedful.loading
from heedful.audits.verdict import EXIT_CODES
from heedful.cli.stopping import SAID
from heedful.errors import BadInput, HeedfulError
from heedful.training.loop import Trainer


def failing(monkeypatch, error):
    def load(*arguments, **options):
        raise error

    monkeypatch.setattr(heedful.loading, "load_run", load)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("a shape is wrong"),
        ZeroDivisionError("division"),
        PermissionError(13, "denied"),
        KeyError("x"),
    ],
)
def test_an_internal_error_has_its_own_code_and_a_file_keeps_its_traceback(run, monkeypatch, error):
    failing(monkeypatch, error)
    shown = run("audit", "somewhere")
    assert shown.code == 70 and 70 not in EXIT_CODES.values()
    assert shown.out == "" and shown.err.count("\n") == 1 and "Traceback" not in shown.err
    assert shown.err.startswith(f"Error: This is an error in heedful ({type(error).__name__}), not yours")
    assert "heedful doctor" in shown.err
    (file,) = re.findall(r"the file (\S+),", shown.err)
    kept = Path(file).read_text()
    Path(file).unlink()
    assert "Traceback" in kept and type(error).__name__ in kept and "test_exit_codes.py" in kept
    assert "command: " in kept and "heedful 0" in kept


class Panic(BaseException):
    """What a library in Rust raises when it panics."""


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (Panic("index out of bounds"), 70, "error in heedful (Panic)"),
        (RecursionError("maximum recursion depth exceeded"), 70, "error in heedful (RecursionError)"),
        (MemoryError(), 4, "There is not enough memory"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"), 4, "not enough memory"),
        (KeyboardInterrupt(), 130, "Stopped: the same command continues"),
    ],
)
def test_whatever_happens_is_one_sentence(run, monkeypatch, tmp_path, error, code, said):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    failing(monkeypatch, error)
    shown = run("audit", "somewhere")
    assert (shown.code, shown.out, shown.err.count("\n")) == (code, "", 1) and said in shown.err
    assert len(list(tmp_path.glob("heedful-error-*.txt"))) == (code == 70)


def test_a_fault_that_no_file_can_hold_is_said_all_the_same(run, monkeypatch):
    monkeypatch.setattr(tempfile, "mkstemp", lambda **_: (_ for _ in ()).throw(OSError(28, "full")))
    failing(monkeypatch, ZeroDivisionError("division"))
    shown = run("audit", "somewhere")
    assert shown.code == 70 and "no file could be written" in shown.err and "Traceback" not in shown.err


@pytest.mark.parametrize("after", [0.05, 0.1, 0.2, 0.4, 0.8])
def test_ctrl_c_while_it_starts_prints_no_traceback(after):
    """The first line is printed when our own code begins; what Python does before that is not ours."""
    begin = (
        "import heedful.cli, sys; print('begun', flush=True); sys.exit(heedful.cli.main(['list', 'audits']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", begin], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert "Traceback" not in said and process.returncode in (0, 130)


def test_ctrl_c_while_a_library_is_loaded_later_raises_nothing_in_it(tmp_path):
    """One in another language aborts the process where an exception meets it."""
    (tmp_path / "fragile.py").write_text(
        "import os, signal, time\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(60)\n"
        "except BaseException:\n    os.abort()\n"
    )
    begin = (
        "from heedful.cli.stopping import quiet_until_ready\nwith quiet_until_ready(): pass\nimport fragile"
    )
    ended = subprocess.run(
        [sys.executable, "-c", begin], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (130, f"Error: {SAID}\n")


def test_what_is_not_utf8_on_a_command_line_is_one_sentence(run):
    shown = run("train", "caf\udce9.csv")
    assert (shown.code, shown.out) == (2, "")
    assert "is not UTF-8: rename the file" in shown.err and shown.err.count("\n") == 1


def test_what_could_not_be_done_and_bad_input_are_no_verdicts(run, monkeypatch):
    for error, code in ((HeedfulError("The loss is not a number."), 4), (BadInput("No such run."), 2)):
        failing(monkeypatch, error)
        shown = run("audit", "somewhere")
        assert (shown.code, shown.err) == (code, f"Error: {error}\n")
        assert code not in EXIT_CODES.values()


def test_training_that_diverges_leaves_with_its_code(run, reviews, monkeypatch):
    monkeypatch.setattr(Trainer, "train_step", lambda self, batch: float("nan"))
    shown = run("train", reviews, "--embedding-size", 8, "--hidden", 4, "--epochs", 1)
    assert shown.code == 4
    assert "not a number" in shown.err and "Traceback" not in shown.err


def test_output_that_nobody_reads_is_no_verdict():
    unread, ours = os.pipe()
    os.close(unread)
    try:
        left = subprocess.run(
            [sys.executable, "-m", "heedful", "list", "audits"],
            check=False,
            stdout=ours,
            stderr=subprocess.PIPE,
        )
    finally:
        os.close(ours)
    assert left.returncode == 141
    assert b"Traceback" not in left.stderr


def test_help_says_what_the_codes_mean(run):
    shown = " ".join(run("--help").out.split())
    for words in (
        "0 success",
        "1 a check failed",
        "2 bad input",
        "3 not enough evidence",
        "70 an error",
        "130 stopped",
    ):
        assert words in shown
