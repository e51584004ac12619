"""Papers: what recipes make of the numbers that were kept, and of the runs that are there."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from heedful.explorer.paper_shelf import PaperShelf
from heedful.papers.outcome import make_page
from heedful.papers.parts import kept
from heedful.papers.recipe import RECIPES
from heedful.papers.results import Results

MEASURED = Path(__file__).parents[2] / "docs" / "measured"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> PaperShelf:
    return PaperShelf(runs=tmp_path_factory.mktemp("nothing"), measured=MEASURED)


def test_every_paper_is_there_with_something(shelf: PaperShelf) -> None:
    assert set(shelf.names()) == set(RECIPES)
    assert len(shelf.names()) == 5
    for name in shelf.names():
        found = shelf.find(name)
        assert found.trouble == ()
        page = found.page(None, None)
        assert any(table.rows for section in page.sections for table in section.tables)


def test_a_place_shows_the_tables_and_figures_that_the_recipe_makes_of_it(shelf: PaperShelf) -> None:
    found, recipe = shelf.find("seat"), RECIPES.get("seat")
    parts = [part for part in kept("seat", MEASURED) if part.place == ("mr", "bilstm")]
    wanted = make_page(recipe, Results(), recipe.experiments, parts)
    page = found.page("mr", "bilstm")
    tables = {
        table.title: [list(row) for row in table.rows]
        for s in wanted.sections
        for table in s.tables
        if table.rows
    }
    shown = {
        table.title: [list(row) for row in table.rows]
        for s in page.sections
        for table in s.tables
        if table.rows
    }
    assert shown == tables
    pictures = [picture.name for section in page.sections for picture in section.pictures]
    assert pictures == [picture.name for section in wanted.sections for picture in section.pictures] != []
    places = [(place.dataset, place.encoder) for place in found.places]
    assert ("mr", "bilstm") in places
    assert len(places) == len(kept("seat", MEASURED))


def test_what_was_not_measured_says_how_to(shelf: PaperShelf) -> None:
    page = shelf.find("seat").page("mr", "no-such-encoder")
    assert "heedful reproduce seat" in " ".join(page.lead)


def test_numbers_that_come_later_are_seen(tmp_path: Path) -> None:
    measured = tmp_path / "measured"
    measured.mkdir()
    shelf = PaperShelf(runs=tmp_path / "runs", measured=measured)
    assert shelf.find("seat").places == []
    shutil.copy(MEASURED / "seat-mr-rnn.parquet", measured)
    assert [(place.dataset, place.encoder) for place in shelf.find("seat").places] == [("mr", "rnn")]


def test_a_damaged_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "seat-mr-rnn.parquet").write_bytes(b"nothing")
    (sentence,) = PaperShelf(runs=tmp_path / "runs", measured=tmp_path).find("seat").trouble
    assert "seat-mr-rnn.parquet" in sentence


def test_papers_over_http(client: Any) -> None:
    assert [paper["name"] for paper in client.get("/api/papers").json()] == sorted(RECIPES)
    assert client.get("/api/papers/seat").json()["title"]
    found = client.get("/api/papers/nothing")
    assert (found.status_code, list(found.json())) == (404, ["error"])
    assert client.get("/papers/seat").status_code == 200
    assert client.get("/papers/nothing").status_code == 404
