"""heedful reproduce, as a user sees it before any training."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import heedful
from heedful.errors import BadInput

BAD = {
    "jain-walace": "There is no recipe named 'jain-walace': did you mean jain-wallace?",
    "jain-wallace --table 3": "There is no table of jain-wallace named '3': choose one of 1, 2.",
    "jain-wallace --figure 6,9": "There is no figure of jain-wallace named '9'",
    "serrano-smith --encoders bilstm": "There is no encoder in serrano-smith named 'bilstm'",
    "serrano-smith --encoders con": "did you mean conv?",
    "jain-wallace --data sst2,imbd": "There is no dataset in jain-wallace named 'imbd': did you mean imdb?",
    "jain-wallace --data sst2 --datasets sst2": "Both --data and --datasets are given, which are the same",
    "jain-wallace --seeds 0,x": "Option seeds must be a whole number, not 'x'",
    "jain-wallace --limit 0": "--limit",
    "jain-wallace --datasets sst2,imbd": "There is no dataset in jain-wallace named 'imbd': did you mean imdb?",
    "jain-wallace --datasets ,": "An option is an empty list",
    "jain-wallace --format tabel": "There is no format 'tabel': choose one of md, text.",
    "jain-wallace --seeds 0": "--seeds",
    "attefa --seeds 10": "10 twins cannot be trained: there are 9 seeds",
    "attefa --table 4 --datasets sst2": "What is asked for is about the datasets mock_1,",
    "jain-wallace --texts 0": "--texts",
    "seat --rounds 2": "Nothing of seat is attacked: leave out the options of attacks, or reproduce flat.",
    "flat --rounds 0": "--rounds",
    "flat --datasets mr": "There is no dataset in flat named 'mr'",
    "flat --only-finished --table 10": "the attack textfooler needs counter-fitted vectors",
    "jain-wallace --datasets sst2": "$HEEDFUL_DATA/sst2/",
    "jain-wallace --only-finished --data sst2 --encoders cnn --seeds 3,7": "None of the 2 runs is trained and audited (sst2 cnn seed 3: not trained)",
    "jain-wallace --only-finished --data sst2 --encoders cnn --seeds 2-5": "None of the 4 runs is trained and audited (sst2 cnn seed 2: not trained)",
    "attefa --only-finished --data mock_1 --encoders average --seeds 10-10 --table 3": "None of the ",
    "jain-wallace --only-finished --datasets sst2 --encoders cnn": "None of the 1 runs is trained and audited (sst2 cnn seed 0: not trained)",
}


@pytest.mark.parametrize(("words", "sentence"), BAD.items())
def test_bad_input_is_one_sentence(run, words, sentence):
    result = run("reproduce", *words.split())
    assert result.code == 2
    assert result.out == ""
    assert sentence in result.err.splitlines()[-1]
    assert list(Path().iterdir()) == []


def test_tables_of_corpora_need_no_model(run, monkeypatch, tmp_path):
    shown = run(
        "reproduce", "attefa", "--table", "1", "--datasets", "mock_1", "--format", "md", "--join", "kept"
    )
    assert shown.code == 0, shown.err
    assert "no model is trained" in shown.out and "| mock_1 | 3,600 / 3,600 | 4,000 / 4,000 |" in shown.out
    assert "## Claims" not in shown.out and "Diabetes" in shown.out
    assert [path.name for path in Path("kept").iterdir()] == ["corpora-attefa.parquet"]
    assert not Path("runs").exists()


def test_only_recipes_of_kept_runs_are_joined(run):
    refused = run("reproduce", "attefa", "--table", "2", "--datasets", "mock_1", "--join", "kept")
    assert refused.code == 2 and "Parts of attefa cannot be joined" in refused.err
    assert list(Path().iterdir()) == []


def test_recipes_are_listed(run):
    shown = run("list", "recipes").out
    assert [line.split()[0] for line in shown.splitlines()] == [
        "attefa",
        "flat",
        "jain-wallace",
        "seat",
        "serrano-smith",
    ]


@pytest.mark.parametrize("width", [80, 120])
def test_help_gives_an_example_and_fits_the_terminal(run, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = run("reproduce", "--help")
    assert shown.code == 0
    assert re.search(r"Examples?\s+heedful reproduce", shown.out)
    assert max(map(len, shown.out.splitlines())) <= width


def test_former_words_are_understood_with_a_sentence(run):
    asked = ("reproduce", "jain-wallace", "--only-finished", "--encoders", "cnn")
    told = run(*asked, "--datasets", "sst2", "--seeds", "2", "--texts", "50", "--format", "table").err
    assert "--datasets is called --data now" in told and "--texts is called --limit now" in told
    assert "--seeds 2 is read as so many seeds: --seeds 0,1 says which" in told
    assert "--format table is called --format text now" in told and "None of the 2 runs" in told
    alone = run(*asked, "--data", "sst2", "--seeds", "1").err
    assert "--seeds 1 is read as so many seeds: --seeds 0-0 says which" in alone
    new = run(*asked, "--data", "sst2", "--seeds", "0,1", "--limit", "50", "--format", "text").err
    assert new.splitlines() == told.splitlines()[-3:]
    help_page = run("reproduce", "--help").out
    assert "--data " in help_page and not any(old in help_page for old in ("--datasets", "--texts"))


def test_python_says_the_same(tmp_path):
    with pytest.raises(
        BadInput, match=r"None of the 2 runs is trained and audited \(sst2 cnn seed 3: not trained\)"
    ):
        heedful.reproduce(
            "jain-wallace", "sst2", encoders="cnn", seeds=[3, 7], only_finished=True, runs=tmp_path
        )
    with pytest.raises(BadInput, match="There is no table of jain-wallace named '3'"):
        heedful.reproduce("jain-wallace", table=3, runs=tmp_path)
    with pytest.raises(BadInput, match="seeds must be a whole number"):
        heedful.reproduce("jain-wallace", seeds="a", runs=tmp_path)
