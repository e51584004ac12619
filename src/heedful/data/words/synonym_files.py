"""Files of synonyms: a word and its synonyms on each line, or a JSON object; either may be packed (.gz)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from heedful.data.words.inflection import replaceable
from heedful.data.words.word_lines import word_lines
from heedful.errors import BadInput
from heedful.intake.json_text import read_json

_VECTOR_SUFFIXES = (".vec", ".npz", ".npy")


def is_synonym_file(path: Path) -> bool:
    """Whether a file holds words rather than vectors: by its ending, or because no numbers follow its first word."""
    if not path.is_file() or _suffix(path) in _VECTOR_SUFFIXES:
        return False
    if _suffix(path) == ".json":
        return True
    for _, fields in word_lines(path, holds="synonyms"):
        return not all(_is_number(field) for field in fields[1:]) or len(fields) == 1
    return True


def is_vector_file(path: Path) -> bool:
    """Whether a file certainly holds vectors: by its ending, or because two numbers and more follow its first words.

    The first line of some files of vectors counts them, and may be one word and one number.
    """
    if _suffix(path) in _VECTOR_SUFFIXES:
        return True
    if not path.is_file() or _suffix(path) == ".json":
        return False
    first = [fields for _, fields in islice(word_lines(path, holds="synonyms"), 3)]
    numbers = all(len(fields) > 1 and all(map(_is_number, fields[1:])) for fields in first)
    return numbers and any(len(fields) > 2 for fields in first)


def read_synonym_file(path: Path, *, plain: bool = True) -> dict[str, list[str]]:
    """Read words with their synonyms, best first.

    Lines hold a word and its synonyms between tabs, commas or spaces, and # begins a remark; a word may have several.
    JSON holds one object, from each word to a list of synonyms. With `plain`, synonyms that are not plain words (of letters
    alone, three at least) are passed over, where a text must keep its number of words.
    """
    listed: dict[str, list[str]] = {}
    for word, synonyms in _entries(path):
        kept = listed.setdefault(word.lower(), [])
        kept.extend(filter(replaceable, synonyms) if plain else filter(str.strip, synonyms))
    if not listed:
        raise BadInput(f"{path} holds no synonyms: write a word and its synonyms on each line.")
    return listed


def _entries(path: Path) -> Iterable[tuple[str, list[str]]]:
    if _suffix(path) == ".json":
        yield from _object(path).items()
        return
    for number, (word, *synonyms) in word_lines(path, holds="synonyms"):
        if not synonyms:
            raise BadInput(
                f"Line {number} of {path} has no synonym for {word!r}: give one at least, or delete the line."
            )
        yield word, synonyms


def _object(path: Path) -> dict[str, list[str]]:
    try:
        content = read_json(path)
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} is not JSON ({error}): give an object from words to lists.") from None
    if not isinstance(content, dict):
        raise BadInput(f"{path} holds no JSON object: give one from each word to a list of its synonyms.")
    for word, synonyms in content.items():
        if not isinstance(synonyms, list) or not all(isinstance(other, str) for other in synonyms):
            raise BadInput(f"{path} has no list of words for {word!r}: give one, or leave the word out.")
    return content


def _suffix(path: Path) -> str:
    """The ending that tells what a file holds, packed or not."""
    return Path(path.stem).suffix if path.suffix == ".gz" else path.suffix


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
