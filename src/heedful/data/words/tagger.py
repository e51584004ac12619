"""Parts of speech by NLTK's averaged perceptron: its weights are read as data, and its pickle is never run."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heedful.data.words.plain_pickle import read_plain_pickle
from heedful.data.words.wordnet import lexicon_folder
from heedful.errors import BadInput

_FILE = "taggers/averaged_perceptron_tagger/averaged_perceptron_tagger.pickle"
_START, _END = ("-START-", "-START2-"), ("-END-", "-END2-")

_UNIVERSAL = {
    "ADJ": "JJ JJR JJS",
    "ADP": "IN",
    "ADV": "RB RBR RBS WRB",
    "CONJ": "CC",
    "DET": "DT EX PDT WDT",
    "NOUN": "NN NNP NNPS NNS",
    "NUM": "CD",
    "PRON": "PRP PRP$ WP WP$",
    "PRT": "POS RP TO",
    "VERB": "MD VB VBD VBG VBN VBP VBZ",
    "X": "FW LS SYM UH",
}
UNIVERSAL = {penn: universal for universal, tags in _UNIVERSAL.items() for penn in tags.split()}
"""Penn tags → universal tags (Petrov et al. 2012); marks that are not named here are punctuation, "."."""


class Tagger:
    """Gives every word a Penn tag, from left to right."""

    def __init__(
        self, weights: dict[str, dict[str, float]], known: dict[str, str], classes: set[str]
    ) -> None:
        # Of tags with equal scores the last by name wins: the first here.
        self.classes = sorted(classes, reverse=True)
        self.known = known
        place = {tag: number for number, tag in enumerate(self.classes)}
        self._rows: dict[str, int] = {}
        self._matrix = np.zeros((len(weights) + 1, len(place)))
        for row, (feature, by_tag) in enumerate(weights.items(), start=1):
            self._rows[feature] = row  # row 0 is for features that are not known
            for tag, weight in by_tag.items():
                self._matrix[row, place[tag]] = weight

    def tag(self, words: Sequence[str]) -> list[str]:
        """Tag one sentence."""
        return self.tag_many([words])[0]

    def tag_many(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """Tag sentences of one length together."""
        context = [[*_START, *map(_normal, words), *_END] for words in sentences]
        tags: list[list[str]] = [[] for _ in sentences]
        before = [_START] * len(sentences)  # the tag before, and the one before that
        for place in range(len(sentences[0]) if sentences else 0):
            given = [self.known.get(words[place]) for words in sentences]
            open_ = [row for row, tag in enumerate(given) if tag is None]
            if open_:
                found = self._predict(
                    [
                        self._features(place, sentences[row][place], context[row], *before[row])
                        for row in open_
                    ]
                )
                for row, number in zip(open_, found, strict=True):
                    given[row] = self.classes[number]
            for row, tag in enumerate(given):
                assert tag is not None
                tags[row].append(tag)
                before[row] = (tag, before[row][0])
        return tags

    def tag_word(self, before: Sequence[str], words: Sequence[str], after: Sequence[str]) -> list[list[str]]:
        """Tag each of several words in one place: the tags of the words before it, and its own.

        What comes after is read and not tagged, and what is too far before to see the word is tagged once.
        """
        at = len(before)
        far = max(at - 2, 0)
        context = [*_START, *map(_normal, before), "", *map(_normal, after), *_END]
        tags: list[list[str]] = [[]]
        for place in range(at + 1):
            if place == far:
                tags = [tags[0].copy() for _ in words]
            features, rows = [], []
            for row, own in enumerate(tags):
                word = words[row] if place == at else before[place]
                given = self.known.get(word)
                if given is None:
                    context[at + len(_START)] = _normal(words[row]) if place >= far else ""
                    last, earlier = [*reversed(own[-2:]), *_START][:2]
                    features.append(self._features(place, word, context, last, earlier))
                    rows.append(row)
                own.append(given or "")
            for row, number in zip(rows, self._predict(features) if rows else (), strict=True):
                tags[row][place] = self.classes[number]
        return tags

    def _predict(self, features: list[list[int]]) -> NDArray[np.intp]:
        best: NDArray[np.intp] = self._matrix[np.array(features)].sum(1).argmax(-1)
        return best

    def _features(self, place: int, word: str, context: list[str], tag: str, tag2: str) -> list[int]:
        at, rows = place + len(_START), self._rows.get
        here, left, right = context[at], context[at - 1], context[at + 1]
        return [
            rows("bias", 0),
            rows(f"i suffix {word[-3:]}", 0),
            rows(f"i pref1 {word[:1]}", 0),
            rows(f"i-1 tag {tag}", 0),
            rows(f"i-2 tag {tag2}", 0),
            rows(f"i tag+i-2 tag {tag} {tag2}", 0),
            rows(f"i word {here}", 0),
            rows(f"i-1 tag+i word {tag} {here}", 0),
            rows(f"i-1 word {left}", 0),
            rows(f"i-1 suffix {left[-3:]}", 0),
            rows(f"i-2 word {context[at - 2]}", 0),
            rows(f"i+1 word {right}", 0),
            rows(f"i+1 suffix {right[-3:]}", 0),
            rows(f"i+2 word {context[at + 2]}", 0),
        ]


def universal(tag: str) -> str:
    """Give the universal tag of a Penn tag.

    >>> universal("VBD"), universal("``")
    ('VERB', '.')
    """
    return UNIVERSAL.get(tag, ".")


def tagger() -> Tagger:
    """Open the tagger that was fetched with WordNet."""
    return _opened(lexicon_folder() / _FILE)


@cache
def _opened(path: Path) -> Tagger:
    try:
        weights, known, classes = read_plain_pickle(path.read_bytes())
        return Tagger(weights, known, classes)
    except (OSError, ValueError, IndexError, struct.error, TypeError, KeyError, AttributeError) as error:
        raise BadInput(
            f"{path} does not hold the tagger ({error}): run heedful data get wordnet again."
        ) from None


def _normal(word: str) -> str:
    if "-" in word and word[0] != "-":
        return "!HYPHEN"
    if word.isdigit() and len(word) == 4:
        return "!YEAR"
    return "!DIGITS" if word[:1].isdigit() else word.lower()
