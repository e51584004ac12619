"""Pairs of words from files, two on each line as counter-fitting's lists from PPDB have them, and SimLex's scored pairs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heedful.data.fetch.cache import data_folders
from heedful.data.words.word_lines import opened, word_lines
from heedful.errors import BadInput

_SCORED = ("word1", "word2", "SimLex999")


class ScoredPairs(NamedTuple):
    """Pairs of words [pairs, 2], as numbers, and how similar people find them [pairs]."""

    pairs: NDArray[np.int64]
    scores: NDArray[np.float64]


def read_word_pairs(path: Path) -> list[tuple[str, str]]:
    """Read a file with two words on each line, packed (.gz) or not."""
    _check(path)
    pairs = []
    for number, fields in word_lines(path, holds="pairs of words"):
        if len(fields) != 2:
            raise BadInput(
                f"Line {number} of {path} has {len(fields)} column{'s' * (len(fields) > 1)}: give two words on each line."
            )
        pairs.append((fields[0], fields[1]))
    if not pairs:
        raise BadInput(f"{path} holds no pairs of words: give two words on each line.")
    return pairs


def read_simlex(path: Path, places: Mapping[str, int]) -> ScoredPairs:
    """Read SimLex-999, or any table with its columns between tabs, as far as the vectors know both words."""
    _check(path)
    pairs, scores = [], []
    with opened(path, holds="scored pairs") as file:
        headings = next(file, "").rstrip("\r\n").split("\t")
        if not set(_SCORED) <= set(headings):
            raise BadInput(
                f"{path} must have the columns {', '.join(_SCORED)} between tabs: give SimLex-999."
            )
        one, two, score = map(headings.index, _SCORED)
        for number, line in enumerate(file, start=2):
            if not line.strip():
                continue
            fields = line.rstrip("\r\n").split("\t")
            try:
                words, value = (fields[one], fields[two]), float(fields[score])
            except (IndexError, ValueError):
                value = math.nan
            if not math.isfinite(value):
                raise BadInput(f"Line {number} of {path} is not two words with a score: fix it.")
            if words[0] in places and words[1] in places:
                pairs.append((places[words[0]], places[words[1]]))
                scores.append(value)
    return ScoredPairs(np.array(pairs, dtype=np.int64).reshape(-1, 2), np.array(scores))


def known_pairs(pairs: Iterable[tuple[str, str]], places: Mapping[str, int]) -> NDArray[np.int64]:
    """Give the pairs whose words both have a place, as numbers [pairs, 2]; capital letters count only where vectors have them.

    >>> known_pairs([("Hot", "cold"), ("hot", "stone")], {"hot": 0, "cold": 1})
    array([[0, 1]])
    """
    found = [tuple(places.get(word, places.get(word.lower(), -1)) for word in pair) for pair in pairs]
    numbers: NDArray[np.int64] = np.array(found, dtype=np.int64).reshape(-1, 2)
    kept: NDArray[np.bool_] = (numbers >= 0).all(axis=1) & (numbers[:, 0] != numbers[:, 1])
    return np.asarray(numbers[kept])


def find_lexicon(name: str) -> Path | None:
    """Find a file in the folder lexicon of $HEEDFUL_DATA, packed (.gz) or not."""
    candidates = (folder / "lexicon" / (name + suffix) for folder in data_folders() for suffix in ("", ".gz"))
    return next((path for path in candidates if path.is_file()), None)


def _check(path: Path) -> None:
    if not path.is_file():
        raise BadInput(f"There is no file {path}: check the path.")
