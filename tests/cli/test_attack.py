from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

import heedful
from heedful.errors import BadInput

BARE = ("--no-similarity", "--same-part-of-speech", "no", "--synonyms", "words.txt")


@pytest.fixture
def own(trained: Path, tmp_path: Path) -> Path:
    (tmp_path / "words.txt").write_text(
        "great dull slow\nwarm grim\nfilm movie boring\ndull great\nslow funny\n"
    )
    return Path(shutil.copytree(trained, tmp_path / "runs" / "own"))


def test_an_attack_is_shown_kept_and_found_again(run, own, reviews):
    done = run("attack", own, reviews, *BARE)
    assert done.code == 0 and "after-attack accuracy" in done.out and "60 texts of reviews.csv" in done.out
    (kept,) = (own / "attacks").iterdir()
    assert {path.name for path in kept.iterdir()} >= {"attack.json", "rows.parquet", "attack.html"}
    again = run("attack", own, reviews, *BARE, "--json")
    assert json.loads(again.out)["texts"] == 60 and "complete" in again.err
    few = run("attack", own, reviews, *BARE, "--limit", 5, "--known-words", "-o", "elsewhere", "--json")
    assert json.loads(few.out)["texts"] == 5 and Path("elsewhere/rows.parquet").is_file()


def test_a_model_without_attention_is_attacked_too(run, trained_without_attention, own, reviews):
    done = run("attack", trained_without_attention, reviews, *BARE, "-o", "out", "--json")
    assert done.code == 0 and json.loads(done.out)["texts"] == 60


def test_texts_without_labels_have_no_accuracy(run, own, reviews):
    pl.read_csv(reviews).select("text").write_csv("texts.csv")
    done = run("attack", own, "texts.csv", *BARE)
    assert done.code == 0 and "accuracy is not measured" in done.err and "answers kept" in done.out
    again = run("attack", own, "texts.csv", *BARE, "--json")
    assert json.loads(again.out)["accuracy"] is None


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--recipe", "pws"), "did you mean pwws?"),
        (("--recipe", "pwws"), "heedful data get wordnet"),
        (("--min-similarity", "1.5"), "min_similarity must be at most 1"),
        (("--max-changed", "0"), "max_changed must be more than 0"),
        (("--split", "tets"), "'--split': 'tets' is not one of 'train', 'dev', 'test'"),
    ],
)
def test_bad_input(run, own, reviews, flags, says):
    done = run("attack", own, reviews, *BARE, *flags)
    assert done.code == 2 and says in done.err and len(done.err.strip().splitlines()) == 1
    assert not (own / "attacks").exists()


def test_bad_rows_are_left_out_when_asked(run, own):
    Path("holes.csv").write_text('text,label\n"",pos\ngreat film,pos\ndull film,\nslow film,neg\n')
    refused = run("attack", own, "holes.csv", *BARE)
    assert refused.code == 2 and "--skip-bad-rows" in refused.err
    done = run("attack", own, "holes.csv", *BARE, "--skip-bad-rows", "--json")
    assert done.code == 0 and json.loads(done.out)["texts"] == 2 and "left out: 2" in done.err
    options = {"synonyms": "words.txt", "similarity": False, "same_part_of_speech": False, "progress": False}
    with pytest.raises(BadInput, match="--skip-bad-rows"):
        heedful.attack(own, "holes.csv", **options)
    assert len(heedful.attack(own, "holes.csv", skip_bad_rows=True, **options).to_frame()) == 2


def test_without_any_candidate_nothing_is_left(run, own, reviews):
    Path("words.txt").write_text("kangaroo wallaby\n")
    done = run("attack", own, reviews, *BARE)
    assert done.code == 2 and "finds no candidate" in done.err
    assert not (own / "attacks").exists()


MISSING = [
    (("--attack-synonyms", "nowhere.txt"), "There is no file nowhere.txt"),
    (("--attack-synonyms", "bad.txt"), "Line 1 of bad.txt"),
    ((), "heedful data make counterfitted"),
]


@pytest.mark.parametrize(("flags", "says"), MISSING)
def test_audits_say_what_attacks_lack_before_they_begin(run, own, reviews, flags, says):
    Path("bad.txt").write_text("great\n")
    asked = ("--only", "robustness,consistency", "--attacks", "textfooler", "--no-attack-similarity")
    done = run("audit", own, reviews, *asked, *flags)
    assert done.code == 2 and says in done.err
    assert not (own / "audits").exists() and not (own / "attacks").exists()


@pytest.mark.parametrize(("flags", "says"), MISSING)
def test_rounds_say_what_attacks_lack_before_they_train(run, reviews, flags, says):
    Path("bad.txt").write_text("great\n")
    asked = ("--objective", "augmented", "--rounds", 1, "--epochs", 1, "--no-attack-similarity")
    done = run("train", reviews, *asked, "--runs", "new", *flags)
    assert done.code == 2 and says in done.err
    assert not Path("new").exists()


def test_it_is_listed(run):
    assert "textfooler" in run("list", "attacks").out
