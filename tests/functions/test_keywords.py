"""Options are typed as they are declared: what an editor completes is what a function understands."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
from typing import get_type_hints

import pytest

import heedful
from heedful.attacks.options import AttackOptions
from heedful.config import AuditOptions, TrainConfig
from heedful.declared import complete
from heedful.functions import keywords
from heedful.functions.keywords_source import FILE, source


def test_the_typed_options_are_those_of_the_configs():
    due = "options changed: run python -m heedful.functions.keywords_source and ruff format"
    assert ast.dump(ast.parse(FILE.read_text(encoding="utf-8"))) == ast.dump(ast.parse(source())), due


@pytest.mark.parametrize(
    ("typed", "config"),
    [
        (keywords.TrainKeywords, TrainConfig),
        (keywords.AuditKeywords, AuditOptions),
        (keywords.AttackKeywords, AttackOptions),
    ],
)
def test_every_option_has_a_type(typed, config):
    assert set(get_type_hints(typed)) == set(complete(config).model_fields) - {"dataset"}


@pytest.mark.parametrize("name", [n for n in heedful.__all__ if n not in ("__version__", "measures")])
def test_no_function_has_an_argument_that_is_also_an_option(name):
    parameters = inspect.signature(getattr(heedful, name)).parameters
    options = parameters.get("options")
    assert all(parameter.annotation is not inspect.Parameter.empty for parameter in parameters.values())
    if options is not None:
        typed = getattr(keywords, str(options.annotation).removeprefix("Unpack[").removesuffix("]"))
        assert not set(get_type_hints(typed)) & set(parameters)


@pytest.mark.slow
def test_a_type_checker_knows_them(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import heedful\n"
        "model = heedful.train(['fine', 'dull'], ['a', 'b'], encoder='cnn', epochs=2)\n"
        "word: str = model(['fine'])[0].label\n"
        "heedful.audit(model, ['fine'], quick=True, seeds=[1, 2]).verdict == 'show'\n"
        "heedful.attack(model, recipe='pwws', limit=3)\n"
        "heedful.train('sst2', epoch=2)\n"
        "heedful.train('sst2', epochs='two')\n"
        "heedful.audit(model, layers='first')\n",
        encoding="utf-8",
    )
    told = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", str(program)],
        capture_output=True,
        text=True,
        cwd=FILE.parents[3],
        env={**os.environ, "MYPYPATH": str(FILE.parents[2])},
        check=False,
    ).stdout
    wrong = [line for line in told.splitlines() if "program.py" in line and "error" in line]
    assert [line.split(":")[1] for line in wrong] == ["6", "7", "8"], told
