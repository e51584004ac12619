"""Pages of docs are made from numbers and findings alone, and are what these make."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(DOCS))
    return importlib.import_module("make_results")


@pytest.mark.parametrize("page", ["results", "studies"])
def test_a_page_is_what_its_numbers_and_findings_make(pages: ModuleType, page: str) -> None:
    assert getattr(pages, page)() == (DOCS / f"{page}.md").read_text(encoding="utf-8")


def test_the_page_of_flat_is_what_its_runs_make(pages: ModuleType) -> None:
    page = pages.paper_page(pages.RECIPES.get("flat"))
    assert page is not None
    made = pages.markdown(page, Path("flat-figures"))
    assert made == (DOCS / "flat.md").read_text(encoding="utf-8")


def test_what_was_never_measured_says_so(pages: ModuleType, monkeypatch, tmp_path: Path) -> None:
    frame = pl.read_parquet(pages.TRAINED)
    few = frame.filter(pl.col("dataset") == "sst2", pl.col("seed").is_null() | (pl.col("seed") < 2))
    few.write_parquet(tmp_path / "trained.parquet")
    monkeypatch.setattr(pages, "MEASURED", tmp_path)
    monkeypatch.setattr(pages, "TRAINED", tmp_path / "trained.parquet")
    text = pages.results()
    assert "(0.857, 0.840); 1 of 3 seeds not measured yet |" in text
    assert "| mr | f1 | 0.75 | not measured yet |  |  |  | `heedful train mr " in text
    assert "Not measured yet: `heedful reproduce attefa`." in text
    assert "| Not measured yet. | `heedful study heads --bases 3 --seeds 10,50` |" in text


def test_links_of_findings_lead_from_the_page(pages: ModuleType) -> None:
    assert "](../" in (DOCS / "findings" / "seat.md").read_text(encoding="utf-8")
    included = pages.finding("seat")
    assert "](../" not in included and "](seat-figures/frontier-sst2-bilstm.svg)" in included
    assert pages.finding("nothing") == ""


def test_docs_hold_few_and_small_files_of_numbers() -> None:
    sizes = [path.stat().st_size for path in (DOCS / "measured").rglob("*.parquet")]
    assert max(sizes) < 1_000_000 and sum(sizes) < 6_000_000
