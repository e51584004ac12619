"""The page as a reader has it: in a browser, with a mouse, with keys, on a telephone."""

from __future__ import annotations

import csv
import io
import re
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest

CARD = ".card"


def cards(page) -> list[str]:
    return page.locator(f"{CARD} > h3").all_inner_texts()


def choose(page, name: str, label: str) -> None:
    page.locator(f"[data-choice={name}]").select_option(label=label)


def unfold_filters(page) -> None:
    page.locator(".filters > summary").click()


def test_filters_and_orders(visit, report) -> None:
    page = visit(report).page
    assert len(cards(page)) == 3
    unfold_filters(page)
    choose(page, "class", "pos")
    assert all("predicted pos" in head for head in cards(page))
    count = int(re.search(r"of (\d+) matching", page.locator("[data-count]").inner_text())[1])  # type: ignore[index]
    assert count == 30
    page.locator("[data-more]").click()
    assert len(cards(page)) == 13
    choose(page, "sure", "above 0.9")
    shown = [float(re.search(r"predicted pos ([\d.]+)", head)[1]) for head in cards(page)]  # type: ignore[index]
    assert shown
    assert min(shown) >= 0.9
    choose(page, "right", "wrong")
    assert all("labelled neg" in head for head in cards(page))


def test_worst_first_and_best_first(visit, report) -> None:
    page = visit(report).page
    title = "how different another heatmap can be"
    values = {}
    for end in ("worst", "best"):
        choose(page, "order", f"{end}: {title}")
        values[end] = [float(head.rpartition(" ")[2]) for head in cards(page)]
    assert values["worst"] == sorted(values["worst"], reverse=True)
    assert values["best"] == sorted(values["best"])
    assert values["worst"][0] > values["best"][0]


def test_lengths(visit, report) -> None:
    page = visit(report).page
    unfold_filters(page)
    page.locator("[data-choice=length]").select_option(index=1)
    most = int(re.search(r"\d+", page.locator("[data-choice=length] option").nth(1).inner_text())[0])  # type: ignore[index]
    assert cards(page)
    assert all(int(re.search(r"(\d+) items", head)[1]) <= most for head in cards(page))  # type: ignore[index]


def test_the_heatmap_of_a_known_text_has_the_known_weights(visit, result, tmp_path) -> None:
    found = result(["stale 😀 jokes"], weights=[[0.25, 0.0625, 0.6875]])
    page = visit(found.report(tmp_path / "a.html")).page
    own, other = page.locator(".heat").all()
    assert own.inner_text() == "stale 😀 jokes"
    # Shades go by the square root: 0.25 is half of 20 levels.
    assert own.locator("span").evaluate_all("all => all.map(w => w.className)") == ["w10", "w5", "w17"]
    assert other.locator("span").evaluate_all("all => all.map(w => w.className)") == ["w0", "w0", "w20"]
    own.locator("span").nth(2).hover()
    tip = page.locator("#tip").inner_text()
    assert "“jokes”" in tip
    assert "The model's attention: 0.688" in tip
    assert "Another heatmap, nearly the same answer: 1.000" in tip
    page.mouse.move(0, 0)
    unfold_filters(page)
    choose(page, "shade", "by each text's largest")
    assert page.locator(".heat").first.locator("span").last.get_attribute("class") == "w20"


def test_marks_and_both_predictions(visit, result, tmp_path) -> None:
    page = visit(result(["one two three", "four five six"]).report(tmp_path / "a.html")).page
    choose(page, "order", "in the order of the data")
    first, second = page.locator(CARD).all()
    assert "No erasure of items changes the decision." in first.inner_text()
    assert "1 of 3 items: four." in second.inner_text()
    assert second.locator(".heat").first.locator(".marked").all_inner_texts() == ["four"]
    assert [text.split()[-1] for text in second.locator("h4").all_inner_texts()] == ["0.990", "0.990"]


def test_weights_can_be_read_without_a_mouse(visit, report) -> None:
    page = visit(report).page
    page.locator(".heat").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    words = page.locator(".heat").first.locator("span").all_inner_texts()
    assert words[1] in page.locator("#tip").inner_text()
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()


KINDS = ["verdict", "comparison", "few", "findings"]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_needs_sideways_scrolling_on_a_telephone(visit, pages, kind) -> None:
    page = visit(pages[kind], width=380, scheme="light").page
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    widths = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert widths == [380, 380]
    wide = "all => all.filter(box => box.scrollWidth > box.clientWidth).length"
    assert page.locator(".evidence .scroll, .instead .scroll").evaluate_all(wide) == 0


def test_tables_and_figures_can_be_taken_along(visit, report, tmp_path) -> None:
    page = visit(report).page
    page.locator("#a1-counterfactual > summary").click()
    with page.expect_download() as wait:
        page.get_by_label("Download the table counterfactual as CSV").click()
    wait.value.save_as(tmp_path / "table.csv")
    rows = list(csv.reader(io.StringIO((tmp_path / "table.csv").read_text(encoding="utf-8"))))
    assert rows[0] == ["measure", "mean", "95 % interval", "count"]
    assert float(rows[1][1]) == pytest.approx(0.345, abs=0.1)
    assert len(rows[1][1]) > 6  # in full, not as it is rounded on the page
    with page.expect_download() as wait:
        page.get_by_label("Download the figure counterfactual-1 as SVG").click()
    assert wait.value.suggested_filename == "counterfactual-1.svg"
    wait.value.save_as(tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").read_text(encoding="utf-8").startswith("<svg xmlns=")
    assert page.locator("figure").count() == page.get_by_text("SVG", exact=True).count()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (380, "dark")])
def test_no_serious_fault_for_readers_who_do_not_see(visit, pages, kind, width, scheme) -> None:
    where = find_spec("axe_playwright_python")
    if where is None or where.origin is None:
        pytest.skip("axe-core is not here: pip install axe-playwright-python")
    page = visit(pages[kind], width=width, scheme=scheme).page
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    page.evaluate(Path(where.origin).with_name("axe.min.js").read_text(encoding="utf-8"))
    faults = page.evaluate("axe.run({ resultTypes: ['violations'] }).then((done) => done.violations)")
    serious = [
        (fault["id"], fault["nodes"][0]["html"][:200])
        for fault in faults
        if fault["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_of_sentences_no_more_is_drawn_and_named_than_of_words(visit, result, tmp_path) -> None:
    """Items may be sentences: what is cut is counted in letters, and not every picked one is written out."""
    sentence = "this is a sentence of some fifty letters or so ."
    found = result([f"{sentence} " * 60] * 2, names=["flip_set"], item=r"[^.]+\.")
    members = pl.Series([[*range(30)]] * 2)
    found.frames["flip_set"] = found.frames["flip_set"].with_columns(
        members=members, minimum_fraction=pl.lit(0.5)
    )
    page = visit(found.report(tmp_path / "a.html")).page
    card = page.locator(".card").first
    drawn = card.locator(".heat").first.locator("span").count()
    assert 15 < drawn < 30
    assert card.locator(".flips u").count() == 2
    assert card.locator(".flips").inner_text().endswith(", …")
    card.get_by_role("button", name="Show all 60 items").click()
    assert page.locator(".card").first.locator(".heat").first.locator("span").count() == 60
