"""The documentation site: every link leads somewhere, every page of the reference knows all there is."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from heedful.audits.audit import AUDITS
from heedful.cli.app import app

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build it as `make docs` does: whatever mkdocs warns of is a failure."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_there_and_loads_nothing_from_elsewhere(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 25
    for page in pages:
        html = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|link|img)[^>]+?(?:src|href)=\"?(https?://[^\" >]+)", html)
        assert not loaded, page


def test_the_reference_has_every_audit_and_every_command(site):
    audits = (site / "reference" / "audits.html").read_text(encoding="utf-8")
    assert all(f'id="{name}"' in audits or f"id={name}" in audits for name in AUDITS)
    commands = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    names = [found.name or found.callback.__name__ for found in app.registered_commands if found.callback]
    assert all(f"heedful {name}" in commands for name in names)


def test_a_link_to_nowhere_is_found(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "site"))
    hooks = importlib.import_module("hooks")

    class File:
        src_uri = "limits.md"

    class Page:
        file = File()

    class Files:
        def get_file_from_path(self, path):
            return path if path == "panel.md" else None

    def turned(text):
        return hooks.on_page_markdown(text, Page(), None, Files())

    assert turned("[a](panel.md)") == "[a](panel.md)"
    assert turned("[a](nowhere.md)") == "[a](nowhere.md)"  # left for the strict build to refuse
    assert turned("[code](../src/heedful/intake/limits.py)") == "code (`src/heedful/intake/limits.py`)"
    assert turned("[`code`](../src/heedful/intake/limits.py)") == "`code`"
