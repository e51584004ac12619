"""heedful report: which audit it takes, what it prints, and what it refuses without harm."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from heedful.cli.app import main
from heedful.cli.console import console, error_console


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*words):
        console.cache_clear()
        error_console.cache_clear()
        with pytest.raises(SystemExit) as left:
            main([str(word) for word in words])
        shown = capsys.readouterr()
        return left.value.code, shown.out, shown.err

    return run


@pytest.fixture
def audits(result, tmp_path) -> Path:
    """A run with audits that differ in age, source and haste."""
    folder = tmp_path / "runs" / "mine" / "audits"
    for age, (name, options) in enumerate(
        {"whole": {}, "older": {}, "quick": {"quick": True}, "other": {"source": "gradient"}}.items()
    ):
        made = result(names=["sharpness"])
        made.about = made.about.model_copy(
            update={
                "data": name,
                "options": made.about.options | options,
                "source": options.get("source", "attention"),
            }
        )
        made.save(folder / name)
        when = 1_000_000 + (-age if name == "older" else age)
        os.utime(folder / name / "audit.json", (when, when))
    return folder


def test_the_newest_whole_audit_of_attention_is_taken(run, audits) -> None:
    code, out, _ = run("report", "mine", "-o", "a.html")
    assert (code, out) == (0, "Report: a.html\n")
    assert "texts of <bdi>whole</bdi>" in Path("a.html").read_text(encoding="utf-8")
    assert run("report", audits / "quick")[:2] == (0, f"Report: {audits / 'quick' / 'report.html'}\n")


def test_tables_are_printed_or_written(run, audits) -> None:
    assert json.loads(run("report", "mine", "--format", "json")[1])[0]["about"]["data"] == "whole"
    assert run("report", "mine", "--format", "latex")[1].startswith("% toy-run")
    assert run("report", "mine", "--format", "card", "-o", "card.md")[0] == 0
    assert Path("card.md").read_text(encoding="utf-8").startswith("## Attention as explanation")


def test_several_runs(run, audits) -> None:
    assert run("report", "mine", audits / "quick", "-o", "both.html")[0] == 0
    assert "Side by side" in Path("both.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("report mien -o a.html", "There is no run 'mien': did you mean mine?"),
        ("report empty -o a.html", "was not audited yet: run heedful audit"),
        ("report damaged -o a.html", "audit.json is damaged"),
        ("report mine --format pdf", "There is no format 'pdf': choose one of"),
        ("report mine -o a.html/b.html", "Cannot write a.html (file exists)"),
        ("report mine -o runs", "Cannot write runs"),
    ],
)
def test_bad_input_is_one_sentence_and_harms_nothing(run, audits, words, said) -> None:
    (audits.parent / "config.yaml").write_text("objective: vanilla\n")
    Path("empty").mkdir()
    Path("damaged/audits/x").mkdir(parents=True)
    Path("damaged/audits/x/audit.json").write_text('{"verdict": ')
    Path("a.html").write_text("the old report")
    code, out, err = run(*words.split())
    assert (code, out) == (2, "")
    assert err.startswith("Error: ")
    assert err.count("\n") == 1
    assert said in err
    assert Path("a.html").read_text() == "the old report"
    assert not list(Path().glob("**/.partial-*"))


def test_help(run, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run("report", "--help")
    assert code == 0
    assert "heedful report RUN -o audit.html" in out
    assert max(map(len, out.splitlines())) <= 80
