"""One word for one option in all commands; what an option was once called is understood, with a sentence."""

from __future__ import annotations

import json

import pytest

from heedful.cli.app import app

ONCE = ("--datasets", "--dataset", "--corpora", "--texts", "--file")


def commands():
    import typer

    return typer.main.get_command(app).commands


@pytest.mark.parametrize(
    "name", ["train", "audit", "attack", "compare", "panel", "reproduce", "study", "predict", "explain"]
)
def test_data_are_called_data_everywhere(name):
    parameters = commands()[name].params
    shown = [p for p in parameters if not getattr(p, "hidden", False)]
    words = [opt for p in shown for opt in p.opts] + [
        p.metavar for p in shown if p.param_type_name == "argument"
    ]
    assert "--data" in words or "DATA" in words
    assert not set(ONCE) & set(words)


@pytest.mark.parametrize(
    "name", ["predict", "explain", "audit", "attack", "runs", "report", "compare", "reproduce"]
)
def test_formats_are_called_format_everywhere(name):
    assert any("--format" in p.opts for p in commands()[name].params)


def test_a_file_is_data(run, trained, reviews):
    new = run("predict", trained, "--data", reviews, "--format", "json")
    once = run("predict", trained, "--file", reviews, "--json")
    assert new.code == once.code == 0 and new.out == once.out and new.err == ""
    assert once.err == "--file is called --data now; both are understood.\n"
    assert json.loads(new.out.splitlines()[0])["label"] in ("neg", "pos")
    both = run("predict", trained, "--data", reviews, "--file", reviews)
    assert both.code == 2 and "Both --data and --file are given" in both.err


def test_runs_and_audits_as_json(run, trained, reviews):
    found = run("runs", trained.parent, "--format", "json")
    assert (
        json.loads(found.out)["state"] == "complete"
        and found.out == run("runs", trained.parent, "--json").out
    )
    asked = ("audit", trained, reviews, "--only", "sharpness", "-o", "audit", "--format")
    assert json.loads(run(*asked, "json").out)["about"]["texts"] == 60
    refused = run(*asked, "yaml")
    assert refused.code == 2 and "yaml" in refused.err


def test_the_panel_takes_both_words(run):
    for words in (("--data", "mock_1"), ("--corpora", "mock_1")):
        refused = run("panel", *words)
        assert refused.code == 2 and refused.err.endswith("say what is measured, and where: add --measure.\n")
    assert "--texts is called --limit now" in run("panel", "--texts", "300", "--data", "x").err
