"""WordNet's own files: which words share a meaning, and which word an inflected form belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

from heedful.data.fetch import assets
from heedful.errors import BadInput

PartOfSpeech = Literal["n", "v", "a", "r"]
PARTS: tuple[PartOfSpeech, ...] = ("n", "v", "a", "r")

_FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
_ENDINGS: dict[str, tuple[tuple[str, str], ...]] = {
    "n": (
        ("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"),
        ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y"),
    ),
    "v": (
        ("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""),
    ),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}  # fmt: skip
_MARKER = re.compile(r"\((?:a|p|ip)\)$")


class WordNet:
    """A folder with WordNet's index, data and exception files, read where and when they are needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._index = {part: self._file(f"index.{name}") for part, name in _FILES.items()}
        self._data = {part: self._file(f"data.{name}") for part, name in _FILES.items()}

    def synsets(self, word: str, parts: tuple[PartOfSpeech, ...] = PARTS) -> Iterator[tuple[str, ...]]:
        """Give the lemmas of every meaning of a word, most frequent meanings first, nouns before verbs.

        Spaces within lemmas are written as underscores.
        """
        for part in parts:
            for offsets in self._base_forms(word.lower(), part):
                for offset in offsets:
                    yield self._lemmas(part, offset)

    def antonyms(self) -> Iterator[tuple[str, str]]:
        """Give every word of one meaning with the word of another that WordNet calls its antonym, in the files' order."""
        for part in PARTS:
            # Pointers end where the gloss begins, and a gloss may hold anything.
            for line in self._data[part].splitlines():
                fields = line.partition(b" | ")[0].split()
                if b"!" not in fields or line.startswith(b" "):
                    continue
                pointers = fields[5 + 2 * int(fields[3], 16) :]
                own = self._lemmas(part, int(fields[0]))
                for symbol, offset, other, places in zip(*(pointers[k::4] for k in range(4)), strict=False):
                    if symbol == b"!":
                        source, target = int(places[:2], 16) - 1, int(places[2:], 16) - 1
                        yield own[source], self._lemmas(other.decode(), int(offset))[target]

    def _base_forms(self, form: str, part: PartOfSpeech) -> Iterator[list[int]]:
        """Find the words that a form may belong to: itself, its exceptions, or what endings leave; give each one's meanings."""
        irregular = self._exceptions[part].get(form)
        others = (
            irregular
            if irregular is not None
            else [form[: -len(old)] + new for old, new in _ENDINGS[part] if form.endswith(old)]
        )
        for word in dict.fromkeys([form, *others]):
            yield self._offsets(word, part)

    def _offsets(self, word: str, part: str) -> list[int]:
        fields = _line_of(self._index[part], word.encode()).split()
        # word, part, synsets, pointers and their symbols, senses, tagged senses, and then the offsets
        return [int(field) for field in fields[-int(fields[2]) :]] if fields else []

    def _lemmas(self, part: str, offset: int) -> tuple[str, ...]:
        data = self._data[part]
        fields = data[offset : data.index(b"\n", offset)].split()
        count = int(fields[3], 16)
        return tuple(_MARKER.sub("", fields[4 + 2 * place].decode()) for place in range(count))

    @cached_property
    def _exceptions(self) -> dict[str, dict[str, list[str]]]:
        found: dict[str, dict[str, list[str]]] = {}
        for part, name in _FILES.items():
            lines = self._file(f"{name}.exc").decode().splitlines()
            found[part] = {fields[0]: fields[1:] for line in lines if (fields := line.split())}
        return found

    def _file(self, name: str) -> bytes:
        try:
            return (self.folder / name).read_bytes()
        except OSError:
            raise BadInput(
                f"{self.folder / name} of WordNet is missing: delete that folder and run heedful data get wordnet."
            ) from None


def wordnet() -> WordNet:
    """Open the WordNet that was fetched, or say how to fetch it."""
    return _opened(lexicon_folder() / "corpora" / "wordnet")


def lexicon_folder() -> Path:
    """Give the folder with WordNet, stop words and the tagger."""
    folder = assets.find("wordnet")
    if folder is None:
        raise BadInput("WordNet is not here yet: run heedful data get wordnet.")
    return folder


@cache
def _opened(folder: Path) -> WordNet:
    return WordNet(folder)


def _line_of(content: bytes, word: bytes) -> bytes:
    """Find the line that begins with a word in a file sorted by bytes; empty if there is none.

    >>> _line_of(b"  a remark\\nbe v 1\\nbee n 2\\n", b"bee"), _line_of(b"be v 1\\nbee n 2\\n", b"been")
    (b'bee n 2', b'')
    """
    if not word:
        return b""
    low, high = 0, len(content)
    while low < high:
        middle = (low + high) // 2
        start = content.rfind(b"\n", low, middle) + 1 or low
        end = content.find(b"\n", start)
        end = len(content) if end < 0 else end
        line = content[start:end]
        # Remarks at the beginning of a file begin with spaces, which sort before every word.
        found = line.split(b" ", 1)[0]
        if found == word:
            return line
        low, high = (end + 1, high) if found < word else (low, start)
    return b""
