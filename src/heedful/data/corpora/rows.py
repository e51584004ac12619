"""Rows of CSV, JSONL and Parquet files, one at a time, numbered from 1, with errors that name the row."""

from __future__ import annotations

import codecs
import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from heedful.errors import BadInput
from heedful.intake import limits
from heedful.intake.files import lines, open_bytes, open_text
from heedful.intake.json_text import parse_json
from heedful.intake.unreadable import Unreadable

RawRow = dict[str, Any]
SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".csv.gz", ".tsv.gz", ".jsonl.gz", ".ndjson.gz")
_SLICE = 10_000


def has_known_suffix(path: Path) -> bool:
    """Whether `read_rows` can read a file of this name."""
    return path.name.lower().endswith(SUFFIXES)


def check_suffix(path: Path) -> None:
    """Refuse a file whose format cannot be recognised."""
    if not has_known_suffix(path):
        raise BadInput(
            f"Cannot tell the format of {path}: its name must end in one of {', '.join(SUFFIXES)}."
        )


def read_rows(path: Path) -> Iterator[tuple[int, RawRow]]:
    """Stream a file's rows. Nothing is kept, so a large file costs no memory here."""
    name = path.name.lower().removesuffix(".gz")
    if path.is_dir():
        raise BadInput(f"{path} is a folder: name one of the files in it.")
    if not path.is_file():
        raise BadInput(f"There is no file {path}: check the path.")
    check_suffix(path)
    if name.endswith(".parquet"):
        yield from _parquet(path)
        return
    number = 0
    try:
        with open_text(path) as file:
            rows = (
                _json_lines(file, path)
                if name.endswith(("jsonl", "ndjson"))
                else _delimited(file, path, name)
            )
            for number, row in rows:
                yield number, row
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise BadInput(
            f"Line {_undecodable_line(path)} of {path} is not UTF-8 (byte 0x{byte:02x}): convert the file, "
            f"for example with iconv -f latin1 -t utf-8."
        ) from None
    except Unreadable as error:
        after = f" after row {number}" if number else ""
        raise BadInput(f"{path} cannot be read{after} ({error}): mend it, or fetch it again.") from None
    except OSError as error:
        raise BadInput(f"Cannot read {path}: {(error.strerror or str(error)).lower()}.") from None


def _undecodable_line(path: Path) -> int:
    """Find the line in a second pass: the first decodes many lines at once and cannot tell."""
    with open_bytes(path) as file:
        decoder, number = codecs.getincrementaldecoder("utf-8")(), 1
        while part := file.read(2**16):
            try:
                decoder.decode(part)
            except UnicodeDecodeError as error:
                return number + error.object[: error.start].count(b"\n")
            number += part.count(b"\n")
    return number


def _json_lines(file: IO[str], path: Path) -> Iterator[tuple[int, RawRow]]:
    number = 0
    for line in lines(file):
        if not line.strip():
            continue
        number += 1
        try:
            row = parse_json(line, finite=False)  # NaN stands for nothing, as pandas writes it
        except Unreadable as error:
            raise BadInput(
                f"Row {number} of {path} is not valid JSON ({error}): each line must be one object."
            ) from None
        if not isinstance(row, dict):
            raise BadInput(
                f'Row {number} of {path} is not a JSON object: each line must look like {{"text": …}}.'
            )
        yield number, row


def _delimited(file: IO[str], path: Path, name: str) -> Iterator[tuple[int, RawRow]]:
    csv.field_size_limit(limits.LINE)
    reader = csv.DictReader(lines(file), delimiter="\t" if name.endswith("tsv") else ",", strict=True)
    number = 0
    try:
        _refuse_twins(reader.fieldnames or (), path)
        for number, row in enumerate(reader, start=1):
            if None in row:
                raise BadInput(
                    f"Row {number} of {path} has more fields than the header: quote fields that hold a delimiter."
                )
            yield number, row
    except csv.Error as error:
        raise BadInput(f"Row {number + 1} of {path} is not valid CSV ({error}): fix its quotes.") from None


def _refuse_twins(columns: Sequence[str], path: Path) -> None:
    """Refuse two columns of one name, of which only one would be read. Those without a name nobody asks for."""
    for column, count in Counter(filter(None, columns)).items():
        if count > 1:
            raise BadInput(
                f"{path} has {count} columns named {column[:60]!r}: rename all but one, or take them out."
            )


def _parquet(path: Path) -> Iterator[tuple[int, RawRow]]:
    import polars as pl

    from heedful.intake.frames import parquet_faults

    try:
        with parquet_faults():
            frame = pl.scan_parquet(path)
            rows, size = frame.select(pl.len()).collect().item(), path.stat().st_size
        if rows > max(1_000_000, limits.ROWS_PER_BYTE * size):
            raise Unreadable(f"it says it has {rows:,} rows, in {size:,} bytes")
        for first in range(0, rows, _SLICE):
            with parquet_faults():
                part = frame.slice(first, _SLICE).collect()
            yield from enumerate(part.iter_rows(named=True), start=first + 1)
    except Unreadable as error:
        raise BadInput(f"{path} is not a readable Parquet file ({error}): fetch or write it again.") from None
