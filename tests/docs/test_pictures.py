"""The pictures of the README and the docs are those of today's pages."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
COMMANDS = {
    "report.png": "python docs/make_picture.py RUN",
    "explorer.png": 'python docs/make_explorer_picture.py RUN "text"',
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_picture_is_drawn_anew_when_what_it_shows_is_changed(name, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    sources = importlib.import_module("picture_sources")
    assert (DOCS / name).is_file() and name in (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert sources.kept().get(name) == sources.digest(name), f"draw it anew: {COMMANDS[name]}"
