"""How long the report is: screens of a desk and of a telephone before anything is unfolded, and pages on paper."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.report.conftest import WORDS, make_result, policy_of

from heedful.audits.audit import AUDITS
from heedful.audits.policy import read_policy

SCREEN = 800
ASKED = [name for name in AUDITS if not AUDITS.get(name).only_named]
LONG = [" ".join(WORDS[(i + j) % len(WORDS)] for j in range(150 + i)) for i in range(120)]

REVIEWS = [
    " ".join(f"{' '.join(WORDS * (2 + (i + k) % 4))} ." for k in range(12 + i % 9)) for i in range(120)
]
"""Of many sentences, each of which is one item."""


@pytest.fixture(scope="module")
def real_sizes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports on all questions that are always asked: by the default policy, by the earlier one, and of long texts."""
    folder = tmp_path_factory.mktemp("sizes")
    film = [f"{i} {text}" for i, text in enumerate([" ".join(WORDS * 3)] * 120)]
    made = {
        "default": make_result(film, names=ASKED, policy=read_policy()),
        "version-1": make_result(film, names=ASKED, policy=read_policy("version-1")),
        "long texts": make_result(LONG, names=ASKED, policy=read_policy()),
        "all questions": make_result(film, names=list(AUDITS), policy=read_policy()),
        "few": make_result(film[:60], names=ASKED, policy=read_policy(), first=("The model guesses.",)),
        "findings": make_result(film, names=ASKED[:4], policy=policy_of(*read_policy().rules), partial=True),
    }
    # Three texts of eighty words, each drawn twice, of classes with long names, below two remarks.
    middling = [f"{i} {' '.join((WORDS * 80)[:79])}" for i in range(120)]
    remarks = ("No heatmap explains a guess, and this model is right no more often than one.",) * 2
    named = tuple(f"a class whose name is much longer than anybody needs, number {i}" for i in range(2))
    made["crowded"] = make_result(middling, names=ASKED, policy=read_policy(), labels=named, first=remarks)
    made["sentences"] = make_result(REVIEWS, names=ASKED, policy=read_policy(), item=r"[^.]+\.")
    return {name: found.report(folder / f"{name}.html") for name, found in made.items()}


KINDS = ["crowded", "sentences", "default", "all questions", "version-1", "long texts", "few", "findings"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("width", "screens"), [(1280, 5), (380, 11)])
def test_screens_before_anything_is_unfolded(visit, real_sizes, kind, width, screens) -> None:
    page = visit(real_sizes[kind], width=width).page
    assert page.locator("details[open]").count() == 0
    assert page.evaluate("document.documentElement.scrollHeight") <= screens * SCREEN


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_pages_on_paper(visit, real_sizes, kind, paper) -> None:
    page = visit(real_sizes[kind]).page
    printed = page.pdf(format=paper)
    assert pages_of(printed) <= 8


def pages_of(pdf: bytes) -> int:
    """How many pages a PDF of Chromium has: it writes each as a plain object."""
    found = len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))
    assert found == max(int(count) for count in re.findall(rb"/Type\s*/Pages\s*/Count (\d+)", pdf))
    return found


def test_paper_has_what_a_reader_must_know(visit, real_sizes) -> None:
    """Nothing that limits a verdict is hidden in a fold that paper cannot open."""
    page = visit(real_sizes["default"]).page
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    said = page.locator("main").inner_text()
    for part in ("How far to trust this", "Serrano, S. and Smith", "Questions that were not asked", "policy"):
        assert part in said
    caveats = page.locator(".caveats li")
    assert caveats.count() > 20 and all(li.is_visible() for li in caveats.all())
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0
