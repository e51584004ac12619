"""heedful study: what it refuses, and a tiny grid from nothing to three files."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import heedful.training.objectives.imitation
import heedful.training.twins
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


@pytest.mark.parametrize(("words", "sentence"), BAD.items())
def test_bad_input_is_one_sentence(run, words, sentence):
    result = run("study", *words.split())
    assert result.code == 2
    assert result.out == ""
    assert sentence in result.err.splitlines()[-1]
    assert list(Path().iterdir()) == []


def test_studies_are_listed_with_their_questions(run):
    lines = run("list", "studies").out.splitlines()
    assert [line.split()[0] for line in lines] == ["curve", "heads", "placement", "strength", "temperature"]
    assert all(line.rstrip().endswith("?") for line in lines)


def test_a_small_grid_becomes_a_table_a_figure_and_rows(run, reviews, monkeypatch):
    # New processes would take longer than all that they do.
    monkeypatch.setattr(heedful.training.twins, "USUAL", "here")
    monkeypatch.setattr(heedful.training.objectives.imitation, "EPOCHS", 2)

    def grid(corpus: str) -> list[Setting]:
        small = {"hidden": 4, "embedding_size": 8, "epochs": 1}
        return [Setting(str(n), corpus, {**small, "heads": n}, n) for n in (1, 2)]

    tiny = Study("heads", "Do heads matter?", "heads", ("mock_5",), grid)
    assert "heads" in STUDIES
    monkeypatch.setitem(STUDIES._things, "heads", tiny)
    words = ("study", "heads", "--data", reviews, "--vectors", "none", "--seeds", "10-10", "-o", "out")
    done = run(*words)
    assert done.code == 0
    assert done.out.startswith("Do heads matter?\n")
    rows = pl.read_parquet("out/rows.parquet")
    assert rows["value"].to_list() == ["1", "2"]
    assert rows["attefa"].is_between(0, 1).all()
    again = heedful.study("heads", str(reviews), vectors="none", seeds=[10], progress=False)
    assert again.to_frame().equals(rows) and len(repr(again).splitlines()) == 1
    assert "Do heads matter?" in again._repr_html_()
    assert Path("out/figure.svg").read_text().startswith("<svg")
    table = Path("out/table.md").read_text()
    assert "| heads | F1 of base |" in table
    assert table.endswith("![Do heads matter?](figure.svg)\n")
    again = run(*words, "--only-finished")
    assert again.code == 0
    assert pl.read_parquet("out/rows.parquet").equals(rows)
