"""heedful reproduce, as a user sees it before any training."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

BAD = {
    "jain-walace": "There is no recipe named 'jain-walace': did you mean jain-wallace?",
    "jain-wallace --table 3": "There is no table of jain-wallace named '3': choose one of 2.",
    "jain-wallace --figure 6,9": "There is no figure of jain-wallace named '9'",
    "serrano-smith --encoders bilstm": "There is no encoder in serrano-smith named 'bilstm'",
    "serrano-smith --encoders con": "did you mean conv?",
    "jain-wallace --datasets sst2,imbd": "There is no dataset in jain-wallace named 'imbd': did you mean imdb?",
    "jain-wallace --datasets ,": "An option is an empty list",
    "jain-wallace --format tabel": "There is no format 'tabel': did you mean table?",
    "jain-wallace --seeds 0": "--seeds",
    "attefa --seeds 10": "10 twins cannot be trained: there are 9 seeds",
    "attefa --table 4 --datasets sst2": "What is asked for is about the datasets mock_1,",
    "jain-wallace --texts 0": "--texts",
    "seat --rounds 2": "Nothing of seat is attacked: leave out the options of attacks, or reproduce flat.",
    "flat --rounds 0": "--rounds",
    "flat --datasets mr": "There is no dataset in flat named 'mr'",
    "flat --only-finished --table 10": "the attack textfooler needs counter-fitted vectors",
    "jain-wallace --datasets sst2": "$HEEDFUL_DATA/sst2/",
    "jain-wallace --only-finished --datasets sst2 --encoders cnn": "None of the 1 runs is trained and audited (sst2 cnn seed 0: not trained)",
}


@pytest.mark.parametrize(("words", "sentence"), BAD.items())
def test_bad_input_is_one_sentence(run, words, sentence):
    result = run("reproduce", *words.split())
    assert result.code == 2
    assert result.out == ""
    assert sentence in result.err.splitlines()[-1]
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
