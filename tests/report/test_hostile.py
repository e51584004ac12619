"""Texts of others are shown as text, whatever they hold: nothing in them runs, and nothing breaks."""

from __future__ import annotations

import json

import pytest

HOSTILE = {
    "script": "</script><script>alert(1)</script> <!--<script> tail",
    "attribute": "\"><img src=x onerror=alert(1)> ' onmouseover=alert(1) {{ 7*7 }} ${alert(1)}",
    "link": "<a href=javascript:alert(1)>x</a> <svg/onload=alert(1)> <iframe src=//evil.example>",
    "right to left": "שלום \u202eevil\u202c עולם \u2067mixed\u2069 abc",
    "emoji": "👩\u200d👩\u200d👧 🏳️\u200d🌈 é ok 😀",
    "combining": "Z" + "\u0310\u0352\u0344" * 30 + " a\u0301 b",
    "controls": "nul \x00 bell \x07 escape \x1b[2J line\u2028paragraph\u2029 end",
    "noncharacters": "a \ufffe b \uffff c \U0010ffff d",
    "entities": "&lt;b&gt; &amp;amp; &#x3c;script&#x3e; x",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_text_is_a_text(visit, result, tmp_path, kind) -> None:
    text = HOSTILE[kind]
    page = visit(result([text, "a plain one"]).report(tmp_path / "a.html")).page
    page.locator("[data-choice=order]").select_option(label="in the order of the data")
    shown = page.locator(".heat").first.evaluate("p => p.textContent")
    expected = "".join(chr(0x2400 + ord(c)) if ord(c) < 32 else c for c in text)
    for unfit in "\ufffe\uffff":
        expected = expected.replace(unfit, "\ufffd")
    assert shown == expected
    for word in page.locator(".heat").first.locator("span").all()[:20]:
        word.hover(force=True)
    assert page.locator("img, iframe, a[href^='javascript']").count() == 0
    assert page.evaluate("document.scripts.length") == 2


def test_names_are_text_too(visit, result, tmp_path) -> None:
    """Labels, models, notes and options reach the page by other ways than texts do."""
    evil = "</title></style></script><script>alert(1)</script><img src=x onerror=alert(2)>\"'"
    found = result(labels=(evil, "=cmd|' /C calc'!A0"), model=evil)
    found.about = found.about.model_copy(update={"notes": (evil,), "data": evil})
    folder = found.save(tmp_path / "audit")
    (folder / "config.yaml").write_text(json.dumps({evil: evil}))
    (folder / "environment.json").write_text(
        json.dumps({"command": [evil, "\ud800"], "versions": {evil: evil}, "commit": evil})
    )
    from heedful.reports.material import Material
    from heedful.reports.page import write_report

    page = visit(write_report([Material.read(folder), Material.of(found)], tmp_path / "a.html")).page
    assert page.locator("img").count() == 0
    assert page.evaluate("document.scripts.length") == 3
    page.locator("#a1-provenance summary").click()
    assert evil in page.locator("#a1-provenance").inner_text()
    assert page.locator("figure svg script, figure svg img").count() == 0


def test_a_book_is_cut_until_it_is_asked_for(visit, result, tmp_path) -> None:
    book = " ".join(f"w{i}" for i in range(10_000))
    path = result([book, "short one"]).report(tmp_path / "a.html")
    assert path.stat().st_size < 3_000_000
    page = visit(path, width=380).page
    page.locator("[data-choice=order]").select_option(label="in the order of the data")
    assert page.locator(".heat").first.locator("span").count() == 120
    page.get_by_role("button", name="Show all 10,000 items").click()
    assert page.locator(".heat").first.locator("span").count() == 10_000
    assert page.evaluate("document.documentElement.scrollWidth") == 380
