"""heedful study: what it refuses, and a tiny grid from nothing to three files."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

import heedful.training.objectives.imitation
import heedful.training.twins
from heedful.papers.attefa.studies.answer import answer
from heedful.papers.attefa.studies.run_study import Studied, StudyRow
from heedful.papers.attefa.studies.study import STUDIES, Setting, Study

BAD = {
    "temprature": "There is no study named 'temprature': did you mean temperature?",
    "placement --dataset sst2": "Words can only be planted in a Mock corpus, not in sst2",
    "strength --dataset mock_2_weak": "not in mock_2_weak",
    "heads --seeds 0": "--seeds",
    "heads --seeds 10": "choose from 1 to 9",
    "heads --encoder bilstn": "did you mean bilstm?",
    "heads --dataset sst2": "$HEEDFUL_DATA/sst2/",
    "heads --only-finished": "None of the 9 runs is trained and audited (mock_5 heads 1 seed 0: not trained)",
}


@pytest.mark.parametrize(("words", "said"), BAD.items())
def test_bad_input_is_one_sentence(run, words, said):
    result = run("study", *words.split())
    assert result.code == 2
    assert result.out == ""
    assert said in result.err.splitlines()[-1]
    assert list(Path().iterdir()) == []


def test_studies_are_listed_with_their_questions(run):
    lines = run("list", "studies").out.splitlines()
    assert [line.split()[0] for line in lines] == ["curve", "heads", "placement", "strength", "temperature"]
    assert all(line.rstrip().endswith("?") for line in lines)


@pytest.mark.parametrize(
    ("name", "datasets"),
    [
        ("placement", ["mock_5", "mock_5_start", "mock_5_middle", "mock_5_end"]),
        ("strength", ["mock_2", "mock_2_strong", "mock_2_weak"]),
        ("heads", ["mock_5"] * 3),
        ("temperature", ["mock_1"] * 7 + ["mock_10"] * 7),
    ],
)
def test_grids_name_corpora_that_there_are(name, datasets):
    from heedful.data.corpora.synthetic import is_synthetic

    study = STUDIES.get(name)
    found = [setting.dataset for corpus in study.corpora for setting in study.settings(corpus)]
    assert found == datasets
    assert all(map(is_synthetic, found))


def row(
    value: str,
    score: float,
    number: float | None = None,
    *,
    corpus: str = "mock_1",
    wide: float = 0.02,
    each: tuple[float, ...] | None = None,
) -> StudyRow:
    around = (score, score - wide, score + wide, each or (score,))
    return StudyRow(
        corpus, value, number, corpus, 0.9, 0.5, *around, *around, 1.0, "“something” 100 %", 3, 1000
    )


def answered(*rows: StudyRow, name: str = "temperature") -> str:
    return answer(Studied(STUDIES.get(name), rows, (), ()))


def test_the_answer_follows_the_intervals():
    falling = [row(f"{t}", 0.8 - 0.1 * t, t) for t in (1, 2, 4)]
    assert answered(*falling) == (
        "Yes: on mock_1 AtteFa falls with temperature, from 0.70 (0.68 to 0.72) at 1 to 0.40 (0.38 to 0.42) at 4."
    )
    places = [row("start", 0.5), row("end", 0.2), row("middle", 0.4)]
    assert answered(*places, name="placement") == (
        "Yes: on mock_1 AtteFa is lowest, 0.20 (0.18 to 0.22), with placement end and highest, 0.50 (0.48 to 0.52), "
        "with placement start."
    )
    unsure = [row("1", 0.50, 1), row("2", 0.52, 2)]
    assert answered(*unsure).startswith("Not clearly: on mock_1 AtteFa lies between 0.50 (1) and 0.52 (2)")
    both = [*falling, *(row(r.value, r.attefa, r.number, corpus="mock_10") for r in unsure)]
    assert answered(*both).startswith("In part: on mock_1 AtteFa falls")
    assert answered(falling[0]).startswith("Nothing can be said")


def test_a_trend_over_bases_counts_where_intervals_overlap():
    """Three bases have wide intervals, and yet nine points in a row are no chance."""
    rising = [
        row(f"{t}", 0.5 + t / 40, t, wide=0.2, each=tuple(0.5 + t / 40 + d for d in (-0.004, 0.0, 0.004)))
        for t in (1, 2, 4)
    ]
    said = answered(*rising, row("sparsemax", 0.55, wide=0.2))
    assert said.startswith(
        "Yes: on mock_1 AtteFa rises with temperature, from 0.53 (0.33 to 0.73) at 1 to 0.60"
    )
    assert said.endswith("(rank correlation 0.95 over 9 bases, p = 9.6e-05).")
    mixed = [row(f"{t}", 0.5, t, wide=0.2, each=(0.3, 0.5, 0.7)) for t in (1, 2, 4)]
    assert answered(*mixed).startswith("Not clearly: on mock_1 AtteFa lies between")


def test_a_sparse_normaliser_is_no_point_of_the_scale():
    rows = [row(f"{t}", 0.5, t) for t in (1, 2, 4)] + [row("sparsemax", 0.9)]
    assert answered(*rows).endswith("highest, 0.90 (0.88 to 0.92), with sparsemax.")


def test_a_small_grid_becomes_a_table_a_figure_and_rows(run, reviews, monkeypatch):
    # New processes would take longer than all that they do.
    monkeypatch.setattr(heedful.training.twins, "ProcessPoolExecutor", lambda *args: ThreadPoolExecutor(1))
    monkeypatch.setattr(heedful.training.objectives.imitation, "EPOCHS", 2)

    def grid(corpus: str) -> list[Setting]:
        small = {"hidden": 4, "embedding_size": 8, "epochs": 1}
        return [Setting(str(n), corpus, {**small, "heads": n}, n) for n in (1, 2)]

    tiny = Study("heads", "Do heads matter?", "heads", ("mock_5",), grid)
    assert "heads" in STUDIES
    monkeypatch.setitem(STUDIES._things, "heads", tiny)
    words = ("study", "heads", "--dataset", reviews, "--vectors", "none", "--seeds", "1", "-o", "out")
    done = run(*words)
    assert done.code == 0
    assert done.out.startswith("Do heads matter?\n")
    rows = pl.read_parquet("out/rows.parquet")
    assert rows["value"].to_list() == ["1", "2"]
    assert rows["attefa"].is_between(0, 1).all()
    assert Path("out/figure.svg").read_text().startswith("<svg")
    table = Path("out/table.md").read_text()
    assert "| heads | F1 of base |" in table
    assert table.endswith("![Do heads matter?](figure.svg)\n")
    again = run(*words, "--only-finished")
    assert again.code == 0
    assert pl.read_parquet("out/rows.parquet").equals(rows)
