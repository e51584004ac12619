"""Look through: what the server filters, sorts and counts is what a loop over all texts gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

from heedful.explorer.audit_table import AuditTable, Range, Wanted

Ask = Callable[..., Any]
EPS = "counterfactual.eps_max_jsd"


@pytest.fixture(scope="module")
def table(runs: Any) -> AuditTable:
    (folder,) = (runs.folder / runs.plain / "audits").iterdir()
    return AuditTable.read(folder)


@pytest.fixture
def audit(ask: Ask) -> str:
    (found,) = ask("/audits")
    assert found["questions"] == 5
    return f"/audits/{found['id']}"


def test_it_holds_every_measurement_of_every_audit(table: AuditTable, runs: Any) -> None:
    (folder,) = (runs.folder / runs.plain / "audits").iterdir()
    for name in ("sharpness", "permutation", "counterfactual", "flip_set", "single_erasure"):
        kept = pl.read_parquet(folder / "instances" / f"{name}.parquet").sort("row")
        numbers = [c for c, kind in kept.schema.items() if kind.is_numeric() and c not in ("row", "items")]
        assert numbers
        for column in numbers:
            assert table.frame.sort("row")[f"{name}.{column}"].equals(kept[column], check_names=False)


@pytest.mark.parametrize("down", [False, True])
@pytest.mark.parametrize("sort", [EPS, "probability", "items", "predicted", "text", None])
def test_filters_and_order_are_those_of_a_loop(table: AuditTable, sort: str | None, down: bool) -> None:
    middle = float(np.nanquantile(table.frame[EPS].to_numpy(), 0.8))
    word = table.frame["predicted"].mode()[0]
    wanted = Wanted([Range(EPS, -math.inf, middle), Range("items", 7, 7)], [("predicted", word)], " WAS ")
    rows = [
        row
        for row in table.frame.iter_rows(named=True)
        if row[EPS] is not None
        and row[EPS] <= middle
        and row["items"] == 7
        and row["predicted"] == word
        and " was " in row["text"].lower()
    ]
    if sort is not None:
        rows.sort(key=lambda row: row["row"])
        rows.sort(key=lambda row: row[sort], reverse=down)
    count, page = table.page(wanted, sort=sort, down=down, offset=2, limit=5)
    assert count == len(rows) > 5
    assert page["row"].to_list() == [row["row"] for row in rows][2:7]


def test_what_is_not_measured_comes_last_whichever_way(table: AuditTable) -> None:
    frame = table.frame.with_columns(
        holes=pl.when(pl.col("row") % 2 == 0).then(math.nan).otherwise(pl.col("row")).cast(pl.Float64)
    )
    holed = AuditTable(table.material, frame)
    for down in (False, True):
        _, page = holed.page(Wanted(), sort="holes", down=down, offset=0, limit=10**6)
        values = page["holes"].to_list()
        known = [value for value in values if not math.isnan(value)]
        assert known == sorted(known, reverse=down)
        assert all(math.isnan(value) for value in values[len(known) :])


@pytest.mark.parametrize("search", ["Straße", "STRASSE", "éclair", "İ"])
def test_words_of_every_language_are_found_whatever_their_case(table: AuditTable, search: str) -> None:
    frame = table.frame.head(3).with_columns(
        text=pl.Series(["die STRAßE", "straße", "Strasse éclair İstanbul"])
    )
    found = AuditTable(table.material, frame).matching(Wanted(search=search))["text"].to_list()
    assert found == [text for text in frame["text"] if search.lower() in text.lower()] != []


def test_bars_count_every_text_once(table: AuditTable) -> None:
    wanted = Wanted([Range(EPS, 0.0, 0.2), Range("probability", 0.5, 0.9)])
    for column in (EPS, "probability", "items"):
        bars = table.bars(column, wanted)
        assert sum(bars.of) + bars.missing == len(table.frame)
        assert sum(bars.kept) <= len(table.matching(wanted, but=column))
        assert all(kept <= of for kept, of in zip(bars.kept, bars.of, strict=True))
    assert sum(table.bars(EPS, wanted).kept) == len(table.matching(Wanted([Range("probability", 0.5, 0.9)])))


def test_the_server_gives_the_same_page(ask: Ask, audit: str, table: AuditTable) -> None:
    asked = {
        "columns": [EPS, "predicted"],
        "where": [f"{EPS}:0.1:"],
        "is": ["predicted:pos"],
        "sort": EPS,
        "down": True,
        "limit": 3,
    }
    found = ask(f"{audit}/rows", **asked)
    _, page = table.page(
        Wanted([Range(EPS, 0.1, math.inf)], [("predicted", "pos")]), sort=EPS, down=True, offset=0, limit=3
    )
    assert found["columns"] == ["row", "text", EPS, "predicted"]
    assert [row["values"][0] for row in found["rows"]] == page["row"].to_list()
    assert [row["values"][2] for row in found["rows"]] == pytest.approx(page[EPS].to_list())


def test_a_text_has_its_heatmaps_and_measurements(ask: Ask, audit: str, table: AuditTable) -> None:
    row = table.frame["row"].to_list()[3]
    found = ask(f"{audit}/texts/{row}")
    assert "".join(found["parts"]) == found["text"]
    titles = [each["title"] for each in found["maps"]]
    assert titles == ["The model’s attention", "Another heatmap, nearly the same answer"]
    for each in found["maps"]:
        assert sum(each["weights"]) == pytest.approx(1, abs=1e-4)
    assert found["values"][EPS] == pytest.approx(table.frame.filter(pl.col("row") == row)[EPS].item())


def test_what_is_underlined_is_said_and_a_set_of_nearly_all_words_is_not_underlined(
    ask: Ask, audit: str, table: AuditTable
) -> None:
    kept = table.material.rows("flip_set", table.frame["row"].to_list())
    seen = set()
    for row, members, least in kept.select("row", "members", "minimum_fraction").rows():
        found = ask(f"{audit}/texts/{row}")
        items = len(found["maps"][0]["weights"])
        if least is None or math.isnan(least):
            kind, says, marks = "never", "No erasure of items changes the decision.", []
        elif len(members) >= 0.75 * items:
            kind, marks = "nearly all", []
            says = f"The smallest set whose erasure changes the decision holds nearly all of the text: {len(members)} of {items} items."
        else:
            kind, marks = "some", sorted(members)
            says = f"Underlined: the smallest set whose erasure changes the decision, {len(members)} of {items} items."
        assert (found["marks"], found["marks_says"]) == (marks, says)
        seen.add(kind)
    assert seen == {"never", "nearly all", "some"}


@pytest.mark.parametrize(
    ("what", "query", "status", "says"),
    [
        ("/rows", {"where": "items"}, 422, "no range"),
        ("/rows", {"where": "items:a:b"}, 422, "no number"),
        ("/rows", {"where": "items:nan:"}, 422, "none"),
        ("/rows", {"where": "itmes:1:2"}, 422, "did you mean items?"),
        ("/rows", {"where": "predicted:1:2"}, 422, "no column"),
        ("/rows", {"is": "pos"}, 422, "COLUMN:WORD"),
        ("/rows", {"is": "items:7"}, 422, "no column"),
        ("/rows", {"sort": "nothing"}, 422, "no column"),
        ("/rows", {"columns": "weights"}, 422, "no column"),
        ("/rows", {"limit": 0}, 422, "limit"),
        ("/bars", {"column": "text"}, 422, "no column"),
        ("/texts/-1", {}, 422, "row"),
        ("/texts/999999", {}, 404, "no text 999999"),
        ("/texts/99999999999999999999", {}, 422, "row"),
        ("/texts/one", {}, 422, "row"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(
    ask: Ask, audit: str, what: str, query: Any, status: int, says: str
) -> None:
    found = ask(f"{audit}{what}", status=status, **query)
    assert says in found["error"]


@pytest.mark.parametrize("name", ["nothing", "..", "%2e%2e", "..%2f..", "%00"])
def test_no_other_folder_is_an_audit(client: Any, runs: Any, name: str) -> None:
    assert client.get(f"/api/models/{runs.plain}/audits/{name}/rows").status_code in (404, 405)
