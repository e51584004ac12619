from __future__ import annotations

import re
import subprocess
import sys

import pytest

import heedful
from heedful.attacks.options import AttackOptions
from heedful.config import TrainConfig
from heedful.declared import complete

COMMANDS = (
    "demo",
    "train",
    "study",
    "predict",
    "runs",
    "list",
    "doctor",
    "data list",
    "data show",
    "data get",
    "data make counterfitted",
)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_gives_an_example_and_fits_the_terminal(run, monkeypatch, command, width):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = run(*command.split(), "--help")
    assert shown.code == 0
    assert shown.err == ""
    assert re.search(rf"Examples?\s+heedful {command}", shown.out)
    assert max(map(len, shown.out.splitlines())) <= width
    assert "--help, -h" in shown.out


def test_train_shows_one_flag_for_every_field_and_nothing_else(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    rows = run("train", "--help").out.split("Arguments")[1]
    flags = set(re.findall(r"│ --(?:\[no-\])?([a-z-]+)", rows))
    fields = {name.replace("_", "-") for name in complete(TrainConfig).model_fields} - {"dataset"}
    attack = {f"attack-{name.replace('_', '-')}" for name in complete(AttackOptions).model_fields}
    assert flags == fields | attack | {"config", "for-show", "rounds", "runs", "help"}


def test_panels_follow_the_order_of_work(run):
    shown = run("train", "--help").out
    assert re.findall(r"╭─ (\w+) ─", shown) == [
        "Arguments",
        "Data",
        "Model",
        "Training",
        "Attack",
        "Output",
        "Options",
    ]


def test_help_says_defaults_and_choices(run):
    shown = " ".join(run("train", "--help").out.split())
    assert re.search(r"--encoder NAME .*?\[default: bilstm\]", shown)
    assert re.search(r"--decoder NAME .*?One of linear, mlp\. \[default: linear\]", shown)
    assert re.search(r"--\[no-\]lowercase .*?\[default: yes\]", shown)


@pytest.mark.parametrize("arguments", [(), ("data",), ("data", "make")])
def test_a_group_alone_shows_its_commands(run, arguments):
    shown = run(*arguments)
    assert shown.code == 0
    assert "Commands" in shown.out
    assert "Usage: heedful" in shown.out


def test_version(run):
    assert run("--version") == (0, f"heedful {heedful.__version__}\n", "")


def test_help_loads_no_heavy_library():
    code = (
        "import sys, heedful, heedful.cli\n"
        "try: heedful.cli.main(['train', '--help'])\n"
        "except SystemExit: print('loaded:', *{'torch', 'transformers', 'polars', 'sklearn'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].strip() == "loaded:"
