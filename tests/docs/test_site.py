"""The documentation site: every link leads somewhere, every page of the reference knows all there is."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest
from mkdocs.structure.files import InclusionLevel

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


def test_every_link_and_picture_leads_to_a_page_and_a_place_on_it(site):
    """The strict build lets links pass to files that it leaves out."""
    pages = {page.resolve(): page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    places = {page: set(re.findall(r"""\sid=["']?([^"' >]+)""", html)) for page, html in pages.items()}
    broken, followed = [], 0
    for page, html in pages.items():
        if page.name == "404.html":
            continue  # it is shown at any address, and names its links from the root
        for link in re.findall(r"""<(?:a|img|link|script)\s[^>]*?(?:href|src)=["']?([^"' >]+)""", html):
            path, _, place = unescape(link).partition("#")
            if re.match(r"[a-z]+:", path):
                continue
            target = (page.parent / unquote(path)).resolve() if path else page
            followed += 1
            if not target.is_file() or (place and unquote(place) not in places.get(target, ())):
                broken.append((page.name, link))
    assert broken == []
    assert followed > 1000


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

    class Found:
        def __init__(self, inclusion):
            self.inclusion = inclusion

    kept = {
        "panel.md": Found(InclusionLevel.INCLUDED),
        "measured/README.md": Found(InclusionLevel.EXCLUDED),
    }

    class Files:
        def get_file_from_path(self, path):
            return kept.get(path)

    def turned(text):
        return hooks.on_page_markdown(text, Page(), None, Files())

    assert turned("[a](panel.md)") == "[a](panel.md)"
    assert turned("[a](nowhere.md)") == "[a](nowhere.md)"  # left for the strict build to refuse
    assert turned("[numbers](measured/README.md)") == "numbers (`docs/measured/README.md`)"
    assert turned("[code](../src/heedful/intake/limits.py)") == "code (`src/heedful/intake/limits.py`)"
    assert turned("[`code`](../src/heedful/intake/limits.py)") == "`code`"


@pytest.mark.parametrize("name", ["seat", "attefa"])
def test_papers_begin_with_their_claims_and_lose_nothing(monkeypatch, name):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "site"))
    order = importlib.import_module("paper_order")
    page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    turned = order.in_reading_order(page)
    headings = re.findall(r"^## (.*)$", turned, re.M)
    assert headings == ["Claims", "What differs from the paper", "The data behind it"]
    told, _, behind = turned.partition("## What differs from the paper")
    assert told.count("![") == (name == "seat")
    lost = set(filter(None, page.splitlines()[1:])) - set(turned.splitlines())
    assert turned.splitlines()[0] == page.splitlines()[0].removesuffix(": reproduced")
    assert {line.removeprefix("#") for line in turned.splitlines()} >= lost
    assert all(line.startswith("##") for line in lost) and lost
    assert "### Models" in behind


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_of_pages_beside_the_code_lead_somewhere(name):
    """A code host shows these as they are."""
    linked = re.findall(r"\]\(([^)\s#]+)", (ROOT / name).read_text(encoding="utf-8"))
    inside = [link for link in linked if "://" not in link]
    assert inside
    assert [link for link in inside if not (ROOT / link).exists()] == []
