"""The same comparison as Markdown, LaTeX, CSV, JSON and text, and as a figure."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import polars as pl
import pytest

from heedful.audits.audit import Measure
from heedful.comparison.compared_numbers import ComparedNumber
from heedful.comparison.comparison import Comparison, Entry, Value
from heedful.comparison.sheets import sheets
from heedful.comparison.stability_frontier import draw
from heedful.errors import BadInput

COLUMNS = (
    ComparedNumber("predictions", "f1", Measure("F1", better="higher")),
    ComparedNumber("sharpness", "sharpness", Measure("JSD to uniform", better="higher")),
    ComparedNumber("embedding_stability", "sharpness", Measure("JSD to uniform", better="higher")),
    ComparedNumber("embedding_stability", "jsd", Measure("JSD", better="lower")),
    ComparedNumber("rationale", "beats_random", Measure("share", better="higher")),
)


def entry(name: str, f1: float, sharp: float, jsd: float, *, keeps: bool = True, **jsd_is: object) -> Entry:
    def value(x: float, **more: object) -> Value:
        return Value(x, x * 0.9, x * 1.1, **more)  # type: ignore[arg-type]

    apart = (
        {}
        if name == "base"
        else {"difference": jsd - 2e-4, "difference_low": jsd - 3e-4, "difference_high": jsd - 1e-4}
    )
    values = {
        COLUMNS[0].key: value(f1),
        COLUMNS[1].key: value(sharp),
        COLUMNS[2].key: value(sharp),
        COLUMNS[3].key: value(jsd, **apart, **jsd_is),
        COLUMNS[4].key: Value(0.5, None, None, difference=0.25),
    }
    return Entry(name, name, (Path("runs") / name,), (0,), values, keeps, True)


@pytest.fixture
def comparison() -> Comparison:
    entries = (
        entry("base", 0.85, 0.36, 2e-4),
        entry("a_b & 50%|<b>", 0.84, 0.35, 4e-5, mark="best"),
        entry("flat", 0.84, 0.001, 5e-9, keeps=False, warning=True),
    )
    return Comparison(entries, entries, COLUMNS, "base", "sst2 test", 500, {}, ("A note.",))


def table_with(text: str, *words: str) -> list[list[str]]:
    """Cells of the Markdown table whose heading holds the words."""
    for block in text.split("\n\n"):
        lines = block.splitlines()
        if lines[0].startswith("|") and all(word in lines[0] for word in words):
            return [[cell.strip() for cell in line.split(" | ")] for line in lines[2:]]
    raise AssertionError(f"no table with {words}")


def test_markdown_marks_the_best_and_warns_of_the_flat(comparison):
    text = comparison.write("md")
    base, best, flat = table_with(text, "JSD ↓")
    assert base[2] == "2.0e-04 (1.8e-04 to 2.2e-04) |"
    assert best[0] == r"| a_b & 50%\|\<b\>"
    assert best[2] == "**4.0e-05** (3.6e-05 to 4.4e-05) |"
    assert flat[1] == "0.0010 (0.0009 to 0.0011)"  # sharpness, beside
    assert flat[2] == "5.0e-09 ⚠ (4.5e-09 to 5.5e-09) |"
    assert [row[-1] for row in table_with(text, "keeps")] == ["reference |", "yes |", "no: less sharp |"]
    assert "- A note." in text
    assert "- base: runs/base" in text


def test_every_steadiness_stands_beside_sharpness(comparison):
    for sheet in sheets(comparison):
        assert any("sharpness" in heading for heading in sheet.headings)


def test_differences_and_what_has_no_interval(comparison):
    apart = [sheet for sheet in sheets(comparison) if sheet.below]
    assert [row[0].text for row in apart[0].rows] == ["a_b & 50%|<b>", "flat"]
    jsd = apart[1].rows[0][2]
    assert jsd.text + jsd.interval == "-1.6e-04 (-2.6e-04 to -6.0e-05)"
    assert apart[1].rows[1][2].warning
    beats = apart[2].rows[0][2]
    assert beats.text + beats.interval == "+0.2500 (–)"


def test_latex_is_whole_and_escapes_names(comparison):
    text = comparison.write("latex")
    assert r"a\_b \& 50\%\textbar{}\textless{}b\textgreater{} &" in text
    assert r"\textbf{4.0e-05} (3.6e-05 to 4.4e-05)" in text
    assert r"5.0e-09$^\dagger$" in text
    body = [line for line in text.splitlines() if not line.startswith("%")]
    for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}"):
        assert body.count(rule) == text.count(r"\begin{tabular}") == 6
    assert not any(c in "\n".join(body) for c in "↑↓−–⚠°")


def test_a_name_with_a_newline_is_one_row_on_the_screen_too(comparison):
    family = "👩\u200d👩\u200d👧"
    entries = (replace(comparison.entries[0], name=f"{family}\nb\x1b[2J"), *comparison.entries[1:])
    text = replace(comparison, entries=entries, reference=entries[0].name).write("text")
    assert f"\n{family} b\ufffd[2J  " in text
    assert "\x1b" not in text


def test_csv_is_one_line_for_each_row_and_number(comparison):
    frame = pl.read_csv(StringIO(comparison.write("csv")))
    assert frame.columns[:12] == [
        "run",
        "method",
        "seed",
        "audit",
        "number",
        "estimate",
        "low",
        "high",
        "difference",
        "difference_low",
        "difference_high",
        "best",
    ]
    assert len(frame) == 3 * len(COLUMNS)
    best = frame.filter(pl.col("best") == "best")
    assert best["method"].to_list() == ["a_b & 50%|<b>"]
    assert frame.filter(pl.col("warning"))["estimate"].to_list() == [5e-9]


def test_json_can_be_read_again(comparison):
    found = json.loads(comparison.write("json"))
    assert found["reference"] == "base"
    assert [e["comparable"] for e in found["entries"]] == [True, True, False]
    assert found["entries"][1]["numbers"][3]["mark"] == "best"


def test_a_file_is_written_in_the_format_of_its_name(comparison, tmp_path):
    for name, form in (
        ("t.md", "md"),
        ("t.tex", "latex"),
        ("t.csv", "csv"),
        ("t.txt", "text"),
        ("t.json", "json"),
    ):
        assert comparison.save(tmp_path / name).read_text() == comparison.write(form)
    with pytest.raises(BadInput, match="does not say its format"):
        comparison.save(tmp_path / "table")


def test_the_figure_has_a_point_for_every_run_and_starts_at_zero(comparison, tmp_path):
    spec = draw(comparison)
    (points,) = [layer for layer in spec["layer"] if layer["mark"]["type"] == "point"]
    assert [point["method"] for point in spec["datasets"][points["data"]["name"]]] == [
        "base",
        "a_b & 50%|<b>",
        "flat",
    ]
    assert points["encoding"]["x"]["scale"]["domain"][0] == 0
    low, high = points["encoding"]["y"]["scale"]["domain"]
    assert points["encoding"]["y"]["scale"]["type"] == "log"
    assert low <= 4.5e-9 and high >= 2.2e-4
    assert points["encoding"]["size"]["field"] == "f1"
    (lost,) = [layer for layer in spec["layer"] if layer["mark"]["type"] == "rect"]
    assert spec["datasets"][lost["data"]["name"]][0]["to"] == pytest.approx(0.9 * 0.36)
    assert comparison.figure(tmp_path / "f.svg").read_text().startswith("<svg")
    assert comparison.figure(tmp_path / "f.png").read_bytes()[1:4] == b"PNG"
    with pytest.raises(BadInput, match=r"can be \.svg or \.png"):
        comparison.figure(tmp_path / "f.gif")


FORMULAS = ['=HYPERLINK("http://x.example")', "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1"]


@pytest.mark.parametrize("name", FORMULAS)
def test_no_name_is_a_formula_in_a_spreadsheet(comparison: Comparison, name: str):
    entries = (replace(comparison.entries[0], method=name), *comparison.entries[1:])
    read = pl.read_csv(StringIO(replace(comparison, entries=entries).write("csv")))
    plain = comparison.to_frame()
    assert read["method"][0] == f"'{name}"
    assert read["difference"].to_list() == plain["difference"].to_list()  # numbers stay numbers
    assert read["run"].to_list() == plain["run"].to_list()
