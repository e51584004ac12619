"""Small work for every place: pieces that count, wait or die, and a corpus that is generated."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

SMALL = {"dataset": "mock_1", "epochs": 1, "limit": 120, "hidden": 4, "embedding_size": 4}


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def spec(tmp_path: Path) -> Callable[..., Path]:
    """Give a function that writes a sweep."""

    def write(name: str = "small.yaml", **content: object) -> Path:
        whole = {"command": "train", "options": dict(SMALL), "grid": {"seed": [0, 1, 2]}, **content}
        path = tmp_path / name
        path.write_text(yaml.safe_dump({key: value for key, value in whole.items() if value is not None}))
        return path

    return write


def bits(runs: Path) -> dict[str, str]:
    """Give a digest of everything in runs that must not depend on where they were made."""
    kept = [*runs.glob("*/model.safetensors"), *runs.glob("*/metrics.json"), *runs.rglob("*.parquet")]
    return {
        str(path.relative_to(runs)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in kept
        if "sweeps" not in path.parts
    }


def leftovers(folder: Path) -> list[Path]:
    """Name files that a killed process should not have left."""
    return [
        p for p in folder.rglob("*") if p.name.startswith(".partial-") or p.name == "checkpoint.safetensors"
    ]
