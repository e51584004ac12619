"""Outputs of notebooks in a real browser: themes, narrow windows, nothing that runs, nothing that a checker of access finds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from heedful.output.notebook import heatmap, html_table, listed, output, paragraph, unfolded
from heedful.output.tables import Cell, Table

EVIL = "</style></div><script>window.ran = 1</script><img src=x onerror='window.ran = 2'>"
WIDE = Table(
    ["what", *(f"a number {n}" for n in range(9))],
    [[EVIL, *(Cell("0.834", " (0.81 to 0.86)") for _ in range(9))]],
    "Numbers",
)
OUTPUT = output(
    paragraph("May attention be shown?", "h-fine"),
    heatmap(f"{EVIL} fine", [(0, 3, 0.4), (4, 9, -1.0), (len(EVIL) + 1, len(EVIL) + 5, 1.0)]),
    listed([EVIL]),
    html_table(WIDE),
    unfolded(EVIL, paragraph(EVIL)),
)
LIGHT, DARK = "rgb(255, 255, 255)", "rgb(27, 30, 35)"


@pytest.fixture
def show(browser) -> Iterator[Any]:
    pages = []

    def show(*, html: str = "", body: str = "", machine: str = "light", width: int = 1280) -> Any:
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=machine)
        pages.append(page)
        page.set_content(
            f"<!doctype html><html lang=en {html}><title>A notebook</title><body {body}><main><h1>It</h1>{OUTPUT}</main>"
        )
        return page

    yield show
    for page in pages:
        page.close()


def grounds(page: Any) -> tuple[str, str]:
    """The ground of the output, and of the word with most weight."""
    read = "e => getComputedStyle(e).backgroundColor"
    return page.locator(".heedful-output").evaluate(read), page.locator(".w20").evaluate(read)


@pytest.mark.parametrize(
    ("html", "body", "machine", "dark"),
    [
        ("", "", "light", False),
        ("", "", "dark", True),
        ("", 'data-jp-theme-light="false"', "light", True),
        ("", 'data-jp-theme-light="true"', "dark", False),
        ("theme=dark", "", "light", True),
        ("theme=light", "", "dark", False),
        ("", 'class="vscode-dark"', "light", True),
        ("", 'class="vscode-light"', "dark", False),
    ],
)
def test_colours_follow_the_notebook_and_else_the_machine(show, html, body, machine, dark):
    expected = (DARK, "rgb(222, 240, 252)") if dark else (LIGHT, "rgb(8, 48, 97)")
    assert grounds(show(html=html, body=body, machine=machine)) == expected


@pytest.mark.parametrize("width", [380, 1280])
def test_nothing_runs_and_nothing_is_wider_than_the_window(show, width):
    page = show(width=width)
    page.locator("summary").click()
    assert page.evaluate("[window.ran, document.scripts.length, document.images.length]") == [None, 0, 0]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".h-heat").inner_text().startswith(EVIL)


@pytest.mark.parametrize("machine", ["light", "dark"])
def test_a_checker_of_access_finds_nothing(show, machine):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    found = axe.Axe().run(show(machine=machine, width=380)).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
