"""An audit in a terminal of 80 columns and 40 lines: the verdict and the next step are what a person sees."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import write_reviews

FUNCTION = """
WORDS = {"great": 2, "warm": 1.5, "funny": 1, "lovely": 2, "dull": -2, "slow": -1, "grim": -1.5, "boring": -2}

def predict(texts):
    sums = [sum(WORDS.get(word, 0) for word in text.split()) for text in texts]
    return [[1 / (1 + 2.7 ** s), 1 - 1 / (1 + 2.7 ** s)] for s in sums]
"""
VERDICT = re.compile(
    r"(You may show|[Ss]how|Not enough evidence to show|These are findings on) (this model’s|the scores|these scores)"
)


@pytest.fixture
def words(request, trained, trained_hierarchical, trained_without_attention, tmp_path, monkeypatch):
    """The words after `heedful audit` for a model of each kind."""
    write_reviews(tmp_path / "reviews.csv", 240)
    match request.param:
        case "attention":
            return [shutil.copytree(trained, tmp_path / "run"), "--permutations", "5"]
        case "sentences":
            return [shutil.copytree(trained_hierarchical, tmp_path / "run"), "--permutations", "5"]
        case "no attention":
            folder = shutil.copytree(trained_without_attention, tmp_path / "run")
            return [folder, "reviews.csv", "--source", "leave_one_out"]
        case "function":
            Path("film_model.py").write_text(FUNCTION)
            monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
            monkeypatch.delitem(sys.modules, "film_model", raising=False)
            return ["predict:film_model:predict", "reviews.csv", "--label-names", "neg,pos"]
        case "transformer":
            folder = request.getfixturevalue("real_classifier")
            return [folder, "reviews.csv", "--label-names", "neg,pos", "--limit", "60"]
        case "earlier policy":
            return [
                shutil.copytree(trained, tmp_path / "run"),
                "reviews.csv",
                "--policy",
                "version-1",
                "--permutations",
                "5",
            ]
        case _:
            return [shutil.copytree(trained, tmp_path / "run"), "--only", "permutation"]


KINDS = [
    "attention",
    "sentences",
    "no attention",
    "function",
    "transformer",
    "earlier policy",
    "some questions",
]


@pytest.mark.parametrize("words", KINDS, indirect=True)
def test_it_fits_and_the_verdict_and_the_next_step_stand_last(run, words, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    narrow = run("audit", *words)
    monkeypatch.delenv("COLUMNS")
    redirected = run("audit", *words)
    assert narrow.code in (0, 1, 3) and redirected.code == narrow.code, narrow.err
    for out in (narrow.out, redirected.out):
        lines = out.splitlines()
        # A path or a command is one line to copy, and a terminal breaks it.
        assert sum(max(1, -(-len(line) // 80)) for line in lines) <= 40
        verdict = next(place for place, line in enumerate(lines) if VERDICT.search(line))
        after = "\n".join(lines[verdict:])
        assert "Next: " in after and "Report: " not in after and "✓" not in after
    # The same is told, whatever the width.
    assert " ".join(narrow.out.split()) == " ".join(redirected.out.split())
    assert (
        max(
            map(
                len,
                [
                    line
                    for line in narrow.out.splitlines()
                    if not line.startswith(("Audit:", "Report:", "  heedful"))
                ],
            )
        )
        <= 80
    )


@pytest.mark.parametrize("columns", ["40", "200"])
def test_other_widths(run, trained, tmp_path, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    shown = run("audit", shutil.copytree(trained, tmp_path / "run"), "--permutations", "5")
    said = shown.out.splitlines()
    assert "Next: " in "\n".join(said[-8:])
    assert max(len(line) for line in said if not line.startswith(("Audit:", "Report:", "  heedful"))) <= int(
        columns
    )
