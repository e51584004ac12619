"""What tutorials and the README tell to type works as it stands there: every block is run, in order, in an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.models.huggingface.conftest import make_network, make_tokenizer

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs" / "index.md", *sorted((ROOT / "docs" / "tutorials").glob("*.md"))]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.S | re.M)
_NEEDS = re.compile(r"<!-- needs (.*?) -->")
GOOD = ("great", "good", "funny", "lovely", "fine")
BAD = ("dull", "slow", "grim", "boring", "stale")
FILLERS = ("film", "the", "plot", "of", "scene", "a", "music", "end", "and", "story")
NOT_RUN = {"make demo"}
"""Told in a page, and tried by the whole check in a fresh clone."""
VERDICTS = (0, 1, 3)


def blocks(page: Path) -> list[tuple[str, str]]:
    return _BLOCK.findall(page.read_text(encoding="utf-8"))


def make_reviews(folder: Path) -> None:
    lines = ["text,label"]
    for row in range(400):
        words = (GOOD if row % 2 else BAD)[row // 2 % 5]
        filler = [FILLERS[(row * 7 + k * k) % 10] for k in range(5 + row % 6)]
        filler.insert(row % len(filler), words)
        lines.append(f"{' '.join(filler)} .,{'pos' if row % 2 else 'neg'}")
    (folder / "reviews.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def make_classifier(folder: Path) -> None:
    named = {"num_labels": 2, "id2label": {0: "neg", 1: "pos"}, "label2id": {"neg": 0, "pos": 1}}
    make_network("Bert", **named).save_pretrained(folder / "my-classifier")
    make_tokenizer().save_pretrained(folder / "my-classifier")


def make_synonyms(folder: Path) -> None:
    lines = [
        " ".join((word, *(other for other in group if other != word)))
        for group in (GOOD, BAD)
        for word in group
    ]
    (folder / "synonyms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


NEEDED = {"reviews.csv": make_reviews, "my-classifier/": make_classifier, "synonyms.txt": make_synonyms}


@pytest.fixture
def shell(tmp_path):
    """Give a function that runs a block of shell as a user would, with heedful on the path."""
    script = tmp_path / ".bin" / "heedful"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m heedful "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"

    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env=os.environ | {"PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_of_a_page_runs(page, tmp_path, monkeypatch, shell):
    monkeypatch.chdir(tmp_path)
    for names in _NEEDS.findall(page.read_text(encoding="utf-8")):
        for name in names.split():
            NEEDED[name](tmp_path)
    names: dict[str, object] = {}
    assert blocks(page)
    for language, code in blocks(page):
        if language == "python":
            exec(compile(code, f"{page.name}", "exec"), names)
        elif language == "yaml":
            steps = yaml.safe_load(code)["jobs"]["audit"]["steps"]
            said = [step["run"] for step in steps if "run" in step and not step["run"].startswith("pip ")]
            assert said
            for command in said:
                assert shell(command).returncode in VERDICTS, command
        else:
            assert language == "sh"
            for command in code.splitlines():
                if command in NOT_RUN:
                    continue
                done = shell(command)
                allowed = VERDICTS if command.startswith("heedful audit") else (0,)
                assert done.returncode in allowed, f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
