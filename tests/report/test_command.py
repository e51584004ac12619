"""heedful report: which audit it takes, what it prints, and what it refuses without harm."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
import yaml
from tests.report.conftest import PASSES, policy_of, texts_of

from heedful.cli.app import main
from heedful.cli.console import console, error_console
from heedful.reports.finding import audits_of


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


OF_ALL = {
    # From the one that is taken to the one that comes last: by wholeness, whose scores, sampling, texts and age.
    "whole": {},
    "older": {"age": -1},
    "fewer": {"texts": 50, "age": 1},
    "limited": {"limit": 60, "age": 2},
    "quick": {"quick": True, "texts": 40, "age": 3},
    "other": {"source": "gradient", "age": 4},
    "partial": {"partial": True, "age": 5},
}


@pytest.fixture
def audits(result, tmp_path) -> Path:
    """A run with audits that differ in age, source, haste and in what was asked; the newest ones tell least."""
    folder = tmp_path / "runs" / "mine" / "audits"
    (tmp_path / "mine.yaml").write_text(
        yaml.safe_dump(policy_of(PASSES).model_dump(mode="json")), encoding="utf-8"
    )
    for name, kind in OF_ALL.items():
        made = result(
            texts_of(kind.get("texts", 60)),
            names=["sharpness"],
            policy=policy_of(PASSES),
            partial=kind.get("partial", False),
        )
        options = {key: kind[key] for key in ("source", "limit", "quick") if key in kind}
        made.about = made.about.model_copy(
            update={
                "data": name,
                "options": made.about.options | options,
                "source": options.get("source", "attention"),
            }
        )
        made.save(folder / name)
        when = 1_000_000 + kind.get("age", 0)
        os.utime(folder / name / "audit.json", (when, when))
    return folder


def test_the_audit_that_tells_most_is_taken_and_named(run, audits) -> None:
    code, out, err = run("report", "mine", "-o", "a.html", "--policy", "mine.yaml")
    assert (code, out) == (0, "Report: a.html\n")
    assert "texts of <bdi>whole</bdi>" in Path("a.html").read_text(encoding="utf-8")
    assert err == (
        "Taken: runs/mine/audits/whole (60 texts of whole, 1 question), one of 7 audits of this run, "
        "judged by the policy by hand, from mine.yaml (version 2).\n"
    )
    assert run("report", audits / "quick")[:2] == (0, f"Report: {audits / 'quick' / 'report.html'}\n")


def test_in_which_order_audits_are_taken(audits) -> None:
    assert [folder.name for folder in audits_of(audits.parent)] == list(OF_ALL)


def test_a_report_of_some_questions_says_at_the_top_that_it_is_no_verdict(run, audits) -> None:
    code, _, err = run("report", audits / "partial", "-o", "a.html")
    assert code == 0
    assert "1 question: a partial audit)" in err
    page = Path("a.html").read_text(encoding="utf-8")
    assert re.search(r"<title>[^<]*findings[^<]*not a verdict", page)
    assert page.index("and not a verdict.</h1>") < page.index("What was found")


def test_a_model_card_needs_a_whole_audit(run, audits, result, tmp_path) -> None:
    few = result(texts_of(20), names=["sharpness"], policy=policy_of(PASSES)).save(tmp_path / "few")
    for folder, said in (
        (audits / "partial", "(only sharpness was asked)"),
        (few, "(it is of 20 texts, and the policy asks for 30)"),
    ):
        code, out, err = run("report", folder, "--format", "card", "--policy", "mine.yaml")
        assert (code, out) == (2, "")
        assert err.startswith(
            f"Error: {folder} is a partial audit {said}, and a model card needs a whole one"
        )
        assert err.count("\n") == 1
        code, out, _ = run("report", folder, "--format", "card", "--partial")
        assert code == 0
        assert "This is a partial audit:" in out
    assert run("report", "mine", audits / "partial", "--format", "card")[0] == 2  # one of several is enough


def test_tables_are_printed_or_written(run, audits) -> None:
    assert json.loads(run("report", "mine", "--format", "json")[1])[0]["about"]["data"] == "whole"
    assert run("report", "mine", "--format", "latex")[1].startswith("% toy-run")
    assert run("report", "mine", "--format", "card", "-o", "card.md", "--policy", "mine.yaml")[0] == 0
    assert Path("card.md").read_text(encoding="utf-8").startswith("## Attention as explanation")


def test_one_policy_judges_all_whatever_they_were_judged_by_before(run, audits) -> None:
    for words, name in (((), "default (version 2)"), (("--policy", "mine.yaml"), "by hand, from mine.yaml")):
        code, out, err = run("report", "mine", audits / "fewer", "--format", "json", *words)
        assert code == 0 and err.count(f"judged by the policy {name}") == 2
        assert all(found["verdict"]["policy"].startswith(name) for found in json.loads(out))


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
