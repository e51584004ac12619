"""A new user's folder: empty, with a small file of reviews, and the command at hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

import heedful
from heedful.cli.app import main
from heedful.cli.console import console, error_console

GOOD = ("great", "warm", "funny", "lovely")
BAD = ("dull", "slow", "grim", "boring")
SMALL = {"embedding_size": 8, "hidden": 4, "epochs": 1}


class Result(NamedTuple):
    code: object
    out: str
    err: str


Command = Callable[..., Result]


@pytest.fixture(autouse=True)
def _new_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEEDFUL_CACHE", str(tmp_path / "cache"))
    for name in ("COLUMNS", "FORCE_COLOR", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Command:
    """Give a function that runs `heedful …` in this process."""

    def run(*arguments: object) -> Result:
        console.cache_clear()
        error_console.cache_clear()
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        return Result(left.value.code, *capsys.readouterr())

    return run


def write_reviews(path: Path, rows: int = 60) -> Path:
    lines = ["text,label"]
    for i in range(rows):
        words = GOOD if i % 2 else BAD
        lines.append(f"film {i} was {words[i % 4]} and {words[(i // 4) % 4]} .,{'pos' if i % 2 else 'neg'}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    return write_reviews(tmp_path / "reviews.csv")


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete run, to be read only."""
    folder = tmp_path_factory.mktemp("trained")
    return _train(write_reviews(folder / "reviews.csv"), folder)


@pytest.fixture(scope="session")
def trained_qa(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("qa")
    places = ("home", "school")
    rows = [
        {"document": f"Mary {i} went {places[i % 2]}.", "question": "Where is Mary?", "answer": places[i % 2]}
        for i in range(60)
    ]
    return _train(_write_rows(folder / "stories.jsonl", rows), folder)


@pytest.fixture(scope="session")
def trained_hierarchical(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hierarchical")
    rows = [
        {"text": f"Film {i}. It was {('dull', 'great')[i % 2]}. We left.", "label": ("neg", "pos")[i % 2]}
        for i in range(60)
    ]
    return _train(_write_rows(folder / "reviews.jsonl", rows), folder, hierarchical=True, encoder="bigru")


@pytest.fixture(scope="session")
def trained_without_attention(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mean")
    return _train(write_reviews(folder / "reviews.csv"), folder, encoder="average", pooling="mean")


def _write_rows(path: Path, rows: list[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _train(data: Path, folder: Path, **options: object) -> Path:
    model = heedful.train(str(data), runs=folder / "runs", progress=False, **(SMALL | options))
    assert model.run is not None
    return model.run
