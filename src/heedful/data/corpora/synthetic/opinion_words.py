"""Words whose polarity everybody agrees on, and how strong it is where that is known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

from heedful.data.fetch.cache import cache_folder, data_folders
from heedful.errors import BadInput

Strength = Literal["any", "strong", "weak"]

# Absolute valences on VADER's scale of 0 to 4. The gap between the two keeps middling words out of both.
_STRONG, _WEAK = 2.5, 1.5
_WORD = re.compile("[a-z]+")


@dataclass(frozen=True)
class OpinionWords:
    """Negative and positive words in alphabetical order, no word in both."""

    negative: tuple[str, ...]
    positive: tuple[str, ...]
    valence: Mapping[str, float]
    """From −4 to 4, for the words that have a known one."""
    source: str
    """One sentence on where the words come from."""

    def select(self, strength: Strength) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Give the negative and the positive words of that strength; unknown valence is neither strong nor weak."""
        chosen = (self._of(self.negative, -1, strength), self._of(self.positive, 1, strength))
        if not all(chosen):
            raise BadInput(
                f"No opinion word is known to be {strength}: put vader_lexicon.txt in the folder lexicon of "
                '$HEEDFUL_DATA, beside positive-words.txt, or ask for strength "any".'
            )
        return chosen

    def _of(self, words: tuple[str, ...], sign: int, strength: Strength) -> tuple[str, ...]:
        # A word whose valence contradicts its list has, by this product, a negative strength: it is left out.
        known = {word: sign * self.valence[word] for word in words if word in self.valence}
        match strength:
            case "any":
                return words
            case "strong":
                return tuple(word for word, value in known.items() if value >= _STRONG)
            case "weak":
                return tuple(word for word, value in known.items() if 0 < value <= _WEAK)


def opinion_words() -> OpinionWords:
    """Read the user's lexicon, else the downloaded one, else the small list of this package."""
    for folder in data_folders():
        lists = folder / "lexicon"
        if (lists / "positive-words.txt").is_file() and (lists / "negative-words.txt").is_file():
            return _opinion_lexicon(lists)
    downloaded = cache_folder() / "assets" / "opinion-words" / "vader_lexicon.txt"
    return _vader_alone(downloaded) if downloaded.is_file() else _packaged()


def _opinion_lexicon(folder: Path) -> OpinionWords:
    vader = folder / "vader_lexicon.txt"
    valence = _vader(vader) if vader.is_file() else {}
    words = [
        {line.strip() for line in _lines(folder / f"{polarity}-words.txt") if not line.startswith(";")}
        for polarity in ("negative", "positive")
    ]
    graded = " with VADER's valences" if valence else ""
    source = f"Opinion words come from the user's lexicon (positive-words.txt, negative-words.txt){graded}."
    return _disjoint(*words, valence=valence, source=source)


def _vader_alone(path: Path) -> OpinionWords:
    valence = _vader(path)
    negative = {word for word, value in valence.items() if value < 0}
    positive = {word for word, value in valence.items() if value > 0}
    source = "Opinion words come from the VADER lexicon, their polarity from the sign of its valence."
    return _disjoint(negative, positive, valence=valence, source=source)


def _packaged() -> OpinionWords:
    text = resources.files(__package__).joinpath("opinion_words.txt").read_text(encoding="utf-8")
    valence: dict[str, float] = {}
    value = 0.0
    for line in text.splitlines():
        if heading := re.fullmatch(r"\[(negative|positive) (strong|weak)\]", line):
            value = (3.0 if heading[2] == "strong" else 1.0) * (1 if heading[1] == "positive" else -1)
        elif not line.startswith("#"):
            valence.update(dict.fromkeys(line.split(), value))
    negative = {word for word, value in valence.items() if value < 0}
    source = (
        "Opinion words come from the small list packaged with heedful, graded strong or weak by judgement."
    )
    return _disjoint(negative, valence.keys() - negative, valence=valence, source=source)


def _disjoint(
    negative: set[str], positive: set[str], *, valence: Mapping[str, float], source: str
) -> OpinionWords:
    return OpinionWords(
        negative=tuple(sorted(filter(_WORD.fullmatch, negative - positive))),
        positive=tuple(sorted(filter(_WORD.fullmatch, positive - negative))),
        valence=valence,
        source=source,
    )


def _vader(path: Path) -> dict[str, float]:
    """Read VADER's table: word, mean valence, deviation, ratings, separated by tabs."""
    rows = (line.split("\t") for line in _lines(path) if "\t" in line)
    return {row[0]: float(row[1]) for row in rows}


def _lines(path: Path) -> list[str]:
    content = path.read_bytes()
    try:
        return content.decode("utf-8").splitlines()
    except UnicodeDecodeError:  # the opinion lexicon was published in Latin-1
        return content.decode("latin-1").splitlines()
