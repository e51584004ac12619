from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

VECTORS = "hot 1 0.2 0.1\nwarm 0.4 1 0.2\ncold 1 0.3 0.1\nstone -1 0.2 0.3\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "vectors.txt").write_text(VECTORS)
    (tmp_path / "synonyms.txt").write_text("hot warm\n")
    (tmp_path / "antonyms.txt").write_text("hot cold\n")
    return tmp_path


OWN = ("--vectors", "vectors.txt", "--no-wordnet", "--antonyms", "antonyms.txt")


def test_vectors_are_made_and_judged(run, files):
    done = run("data", "make", "counterfitted", *OWN, "--synonyms", "synonyms.txt")
    assert done.code == 0, done.err
    assert "4 words, 1 pairs of synonyms and 1 of antonyms" in done.out
    assert "antonyms among the ten nearest" in done.out and "counterfitted.npz" in done.out
    assert "SimLex-999 was not measured" in done.out and "No synonyms" not in done.out
    with np.load("counterfitted.npz") as made:
        assert made["words"].tolist() == ["hot", "warm", "cold", "stone"]
        assert made["vectors"].shape == (4, 3)


def test_without_synonyms_it_says_so(run, files):
    done = run("data", "make", "counterfitted", *OWN, "-o", "own.npz")
    assert done.code == 0 and "No synonyms were given" in done.out and Path("own.npz").is_file()


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ((*OWN, "--wordnet"), "heedful data get wordnet"),
        ((*OWN, "--synonyms", "nowhere.txt"), "no file nowhere.txt"),
        ((*OWN, "--synonyms", "vectors.txt"), "Line 1 of vectors.txt has 4 columns"),
        ((*OWN, "--simlex", "antonyms.txt"), "word1, word2, SimLex999"),
        ((*OWN, "-o", "made.txt"), "must end in .npz"),
        (("--vectors", "vectors.txt", "--no-wordnet"), "no synonyms and no antonyms"),
    ],
)
def test_bad_input(run, files, flags, says):
    there = set(files.iterdir())
    done = run("data", "make", "counterfitted", *flags)
    assert done.code == 2 and says in done.err and len(done.err.strip().splitlines()) == 1
    assert set(files.iterdir()) == there
