"""Read the rows of a vector file that are wanted, whatever its form, and no others."""

from __future__ import annotations

import array
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from heedful.errors import BadInput
from heedful.intake import limits
from heedful.intake.arrays import map_npy, read_npz
from heedful.intake.files import damage_named, open_bytes, read_bytes
from heedful.intake.frames import read_frame
from heedful.intake.unreadable import Unreadable

_SIZE_DIGITS = 9
"""Digits of a vector's size that are read; no line holds so many numbers, and the next one shows it."""


class WantedVectors(NamedTuple):
    """The wanted words that a file holds: word → row of `matrix`, float32 [rows, size]."""

    rows: dict[str, int]
    matrix: NDArray[np.float32]


def read_vector_file(path: Path, wanted: set[str] | None, *, first: int | None = None) -> WantedVectors:
    """Read text (.txt, .vec, also .gz), .npz (`words`, `vectors`) or .npy with a word list beside it.

    None wants every word; `first` stops after so many of those that are wanted, in the order of the file.
    """
    if not path.is_file():
        raise BadInput(f"There is no vector file {path}: check the path.")
    readers = {".npz": _read_npz, ".npy": _read_npy}
    try:
        with damage_named():
            read = readers.get(path.suffix, _read_text)(path, wanted, first)
    except (OSError, Unreadable) as error:
        raise BadInput(f"Cannot read the vectors in {path} ({error}): give a whole, readable file.") from None
    if read.rows and not 1 <= read.matrix.shape[1] <= limits.VECTOR:
        raise BadInput(
            f"The vectors in {path} have {read.matrix.shape[1]:,} numbers each, and 1 to {limits.VECTOR:,} can be used: choose others."
        )
    if not np.isfinite(read.matrix).all():
        raise BadInput(f"Some vectors in {path} are not finite numbers: fix the file or choose another.")
    return read


def _read_text(path: Path, wanted: set[str] | None, first: int | None) -> WantedVectors:
    """Stream the form of GloVe, fastText and word2vec: a word and its numbers on each line."""
    # Compared as bytes: most lines are passed over, and need not be decoded.
    encoded = {word.encode("utf-8", "surrogatepass"): word for word in wanted or ()}
    rows: dict[str, int] = {}
    numbers = array.array("f")
    size = 0
    with open_bytes(path) as file:
        for number, line in enumerate(_bounded(file), start=1):
            fields = line.rstrip()
            if not fields:
                continue
            if number == 1:
                header = fields.split(b" ")
                if len(header) == 2 and all(field.isdigit() for field in header):  # count and size
                    size = int(header[1][:_SIZE_DIGITS])
                    continue
            size = size or fields.count(b" ")
            parts = _split(fields, size)
            if parts is None:
                form = f"a word and {size or 'its'} numbers with single spaces between them"
                raise BadInput(f"Line {number} of {path} is not {form}: fix it.")
            word, values = parts
            name = encoded.get(word) if wanted is not None else word.decode("utf-8", "replace")
            if name is None or name in rows:
                continue
            if len(rows) == first:
                break
            try:
                numbers.extend(map(float, values.split(b" ")))
            except ValueError as error:
                raise BadInput(
                    f"Line {number} of {path} holds something that is not a number: fix it."
                ) from error
            rows[name] = len(rows)
    return WantedVectors(rows, np.array(numbers, dtype=np.float32).reshape(len(rows), size))


def _bounded(file: BinaryIO) -> Iterator[bytes]:
    """Give the lines of a file, and refuse one that has no end."""
    while line := file.readline(limits.LINE + 1):
        if len(line) > limits.LINE:
            raise Unreadable(f"a line of more than {limits.LINE:,} bytes")
        yield line


def _split(fields: bytes, size: int) -> tuple[bytes, bytes] | None:
    """Split a line into its word and its `size` numbers; None if it has fewer or more numbers.

    Words may contain spaces (GloVe 840B has ". . ."), so a line with more fields is split from the right.
    """
    spaces = fields.count(b" ")
    if spaces < size or size == 0:
        return None
    if spaces == size:
        word, _, values = fields.partition(b" ")
        return word, values
    word = fields.rsplit(b" ", size)[0]
    if _is_number(word.rsplit(b" ", 1)[-1]):
        return None
    return word, fields[len(word) + 1 :]


def _is_number(field: bytes) -> bool:
    try:
        return math.isfinite(float(field))
    except ValueError:
        return False


def _read_npz(path: Path, wanted: set[str] | None, first: int | None) -> WantedVectors:
    try:
        words, vectors = read_npz(path, ("words", "vectors"))
    except KeyError as error:
        raise BadInput(f"{path} must hold the arrays `words` and `vectors`: save it with both.") from error
    except Unreadable as error:
        raise BadInput(
            f"{path} is not an .npz of plain arrays ({error}): save `words` as strings, not objects."
        ) from error
    if words.ndim != 1 or words.dtype.kind != "U":
        raise BadInput(
            f"`words` in {path} must be one row of strings, not {words.dtype} {list(words.shape)}."
        )
    return _select(path, words.tolist(), vectors, wanted, first)


def _read_npy(path: Path, wanted: set[str] | None, first: int | None) -> WantedVectors:
    try:
        vectors = map_npy(path)
    except Unreadable as error:
        raise BadInput(
            f"{path} is not an .npy of plain numbers ({error}): save a float array [words, size]."
        ) from error
    return _select(path, _words_beside(path), vectors, wanted, first)


def _words_beside(path: Path) -> list[str]:
    """Find the word list of an .npy: X.txt, X.parquet, or the only Parquet file of the folder."""
    text = path.with_suffix(".txt")
    if text.is_file():
        listed = read_bytes(text).decode("utf-8", "replace")
        return listed.removesuffix("\n").split("\n")
    own = path.with_suffix(".parquet")
    tables = [own] if own.is_file() else list(path.parent.glob("*.parquet"))
    if len(tables) != 1:
        raise BadInput(f"{path} has no word list beside it: write {text.name} there, one word a line.")
    try:
        columns = read_frame(tables[0]).select(pl.col(pl.String))
    except Unreadable as error:
        raise BadInput(
            f"Cannot read the word list {tables[0]}: give {text.name}, one word a line."
        ) from error
    if columns.width == 0:
        raise BadInput(
            f"The word list {tables[0]} has no column of strings: give {text.name}, one word a line."
        )
    return columns.to_series(0).to_list()


def _select(
    path: Path,
    words: Iterable[str],
    vectors: NDArray[np.generic],
    wanted: set[str] | None,
    first: int | None,
) -> WantedVectors:
    names = list(words)
    if vectors.ndim != 2 or vectors.dtype.kind != "f":
        given = f"{vectors.dtype} {list(vectors.shape)}"
        raise BadInput(
            f"The vectors in {path} must be a float array [words, size], not {given}: save them so."
        )
    if len(names) != len(vectors):
        raise BadInput(
            f"{path} has {len(vectors)} vectors for {len(names)} words: there must be one for each."
        )
    places: dict[str, int] = {}
    for place, name in enumerate(names):
        if len(places) == first:
            break
        if wanted is None or name in wanted:
            places.setdefault(name, place)  # of a word listed twice the first counts, as in text files
    matrix = np.asarray(vectors[list(places.values())], dtype=np.float32)
    return WantedVectors({word: row for row, word in enumerate(places)}, matrix)
