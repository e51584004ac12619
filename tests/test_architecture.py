"""The walk through the house names files that are there."""

from __future__ import annotations

import re
from pathlib import Path

import heedful

DOCS = Path(__file__).parent.parent / "docs"
SOURCE = Path(heedful.__file__).parent


def test_every_file_of_the_figure_is_there():
    named = re.findall(r"monospace\">([^<]+)<", (DOCS / "architecture.svg").read_text(encoding="utf-8"))
    paths = [path for words in named for path in words.split(", ")]
    assert len(paths) > 30
    assert [path for path in paths if not (SOURCE / path).exists()] == []


def test_every_file_of_the_walk_is_there():
    named = re.findall(r"`([\w/]+\.py|[\w/]+/)`", (DOCS / "architecture.md").read_text(encoding="utf-8"))
    there = {str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py")}
    folders = {f"{path.relative_to(SOURCE)}/" for path in SOURCE.rglob("*") if path.is_dir()}

    def known(name: str) -> bool:
        """By its whole path, or, where the folder was named before, by its end."""
        return any(path == name or path.endswith(f"/{name}") for path in (*there, *folders))

    assert len(named) > 40
    assert [name for name in named if name != "src/heedful/" and not known(name)] == []


def test_no_folder_takes_the_name_of_a_function():
    # Importing heedful.compare.… would put a module in the place of heedful.compare(…).
    functions = {name for name in heedful.__all__ if callable(getattr(heedful, name))}
    assert {"train", "audit", "compare", "explain"} <= functions
    assert functions & {path.stem for path in SOURCE.iterdir()} == set()
