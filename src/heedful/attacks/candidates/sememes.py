"""Words with the same sememes: HowNet describes each meaning of a word by a few units of meaning, its sememes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from heedful.attacks.candidates.neighbours import written_like
from heedful.attacks.cut import one_word
from heedful.attacks.draft import Draft
from heedful.data.words.tagger import tagger, universal
from heedful.errors import BadInput
from heedful.intake.files import read_text
from heedful.intake.json_text import parse_json
from heedful.intake.unreadable import Unreadable

_PARTS = {
    "n": "NOUN", "noun": "NOUN", "v": "VERB", "verb": "VERB", "a": "ADJ", "adj": "ADJ", "s": "ADJ", "adjective": "ADJ",
    "r": "ADV", "adv": "ADV", "adverb": "ADV",
}  # fmt: skip

_NAMES = ("en_word", "en_grammar", "sememes")


class Meaning(NamedTuple):
    """One meaning of a word: its part of speech (a universal tag) and its sememes."""

    part: str
    sememes: frozenset[str]


class SameSememes:
    """Words that have a meaning with the same sememes and part of speech, and the word is of that part in the text."""

    by_word = True

    def __init__(self, path: Path) -> None:
        self._meanings: dict[str, list[Meaning]] = {}
        self._words: dict[Meaning, list[str]] = {}
        for word, meaning in read_sememe_file(path):
            self._meanings.setdefault(word, []).append(meaning)
            self._words.setdefault(meaning, []).append(word)
        self._tagger = tagger()
        self._tags: dict[tuple[str, ...], list[str]] = {}

    def propose(self, places: Sequence[tuple[Draft, int]]) -> list[list[str]]:
        """Tag the original text, and look each word up in lower case."""
        return [
            self._substitutes(draft.word(position), self._tag(draft.source.words)[position])
            for draft, position in places
        ]

    def _tag(self, words: tuple[str, ...]) -> list[str]:
        if words not in self._tags:
            self._tags[words] = [universal(tag) for tag in self._tagger.tag(words)]
        return self._tags[words]

    def _substitutes(self, word: str, part: str) -> list[str]:
        meanings = [one for one in self._meanings.get(word.lower(), ()) if one.part == part]
        others = dict.fromkeys(
            written_like(other, word) for meaning in meanings for other in self._words[meaning]
        )
        return [other for other in others if other.lower() != word.lower() and one_word(other)]


def read_sememe_file(path: Path) -> Iterator[tuple[str, Meaning]]:
    """Read the meanings of words; a packed file (.gz) will do.

    A text file has a meaning on each line, with tabs between word, part of speech (noun, verb, adj, adv, or n, v, a, r)
    and sememes, and commas between these. A JSON file has an object from each word to a list of its meanings, and each is
    a pair: the part of speech, and a list of sememes. Or it has a list of meanings by the names that OpenHowNet gives them,
    `{"en_word": …, "en_grammar": …, "sememes": […]}` (of each of its senses, `str` of each of `get_sememe_list()`).
    Meanings of other parts of speech are passed over, and in JSON those without a word or sememes, of which HowNet has
    some.
    """
    seen = set()
    for word, part, sememes in _entries(path):
        kept = frozenset(sememe for one in sememes if (sememe := one.strip()))
        if not word or not kept:
            continue
        meaning = Meaning(_PARTS.get(part.strip().lower(), ""), kept)
        if meaning.part and (word.lower(), meaning) not in seen:
            seen.add((word.lower(), meaning))
            yield word.lower(), meaning
    if not seen:
        raise BadInput(
            f"{path} holds no noun, verb, adjective or adverb: give words with part of speech and sememes."
        )


def _entries(path: Path) -> Iterable[tuple[str, str, Sequence[str]]]:
    text = _text(path)
    if text.lstrip().startswith(("{", "[")):
        yield from _json_entries(path, text)
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 3:
            raise BadInput(
                f"Line {number} of {path} has {len(fields)} columns: give word, part of speech and sememes, between tabs."
            )
        word, part, sememes = fields
        if not word.strip() or not sememes.replace(",", "").strip():
            raise BadInput(f"Line {number} of {path} lacks a word or its sememes: give both.")
        yield word.strip(), part, sememes.split(",")


def _json_entries(path: Path, text: str) -> Iterable[tuple[str, str, Sequence[str]]]:
    try:
        content = parse_json(text)
    except Unreadable as error:
        raise BadInput(
            f"{path} is not JSON ({error}): give an object from words to lists of meanings, or a list of meanings."
        ) from None
    if isinstance(content, list):
        for number, meaning in enumerate(content, start=1):
            named: list[Any] = [meaning.get(name) for name in _NAMES] if isinstance(meaning, dict) else []
            if not named or not isinstance(named[0], str) or not _is_pair(named[1:]):
                raise BadInput(
                    f"Meaning {number} of {path} lacks {', '.join(_NAMES[:2])} or a list of {_NAMES[2]}: give all three."
                )
            yield named[0].strip(), named[1], named[2]
        return
    for word, meanings in content.items():
        if not isinstance(meanings, list) or not all(map(_is_pair, meanings)):
            raise BadInput(
                f"{path} has no list of meanings for {word!r}: give pairs of a part of speech and a list of sememes."
            )
        for part, sememes in meanings:
            yield word.strip(), part, sememes


def _is_pair(meaning: Any) -> bool:
    return (
        isinstance(meaning, list)
        and len(meaning) == 2
        and isinstance(meaning[0], str)
        and isinstance(meaning[1], list)
        and all(isinstance(one, str) for one in meaning[1])
    )


def _text(path: Path) -> str:
    try:
        return read_text(path)
    except (OSError, ValueError) as error:
        raise BadInput(f"Cannot read the sememes in {path} ({error}): give a text file in UTF-8.") from None
