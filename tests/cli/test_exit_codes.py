"""A gate reads the exit code: 1 is a verdict, and nothing else that happens leaves with it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import heedful.loading
from heedful.audits.verdict import EXIT_CODES
from heedful.errors import BadInput, HeedfulError
from heedful.training.loop import Trainer


def failing(monkeypatch, error):
    def load(*arguments, **options):
        raise error

    monkeypatch.setattr(heedful.loading, "load", load)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("a shape is wrong"),
        ZeroDivisionError("division"),
        PermissionError(13, "denied"),
        KeyError("x"),
    ],
)
def test_an_internal_error_has_its_own_code_and_keeps_its_traceback(run, monkeypatch, error):
    failing(monkeypatch, error)
    shown = run("audit", "somewhere")
    assert shown.code == 70 and 70 not in EXIT_CODES.values()
    assert (
        "Traceback" in shown.err and type(error).__name__ in shown.err and "test_exit_codes.py" in shown.err
    )
    last = shown.err.splitlines()[-1]
    assert last.startswith("Error: This is an error in heedful") and "heedful doctor" in last
    assert shown.out == ""


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
