"""Rows of CSV, JSONL and Parquet files, one at a time, numbered from 1, with errors that name the row."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from heedful.errors import BadInput

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
        with io.TextIOWrapper(_open(path), encoding="utf-8-sig", newline="") as file:
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
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise BadInput(f"{path} is damaged or cut off after row {number}: fetch it again.") from None
    except OSError as error:
        raise BadInput(f"Cannot read {path}: {(error.strerror or str(error)).lower()}.") from None


def _open(path: Path) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path)) if path.name.lower().endswith(".gz") else path.open("rb")


def _undecodable_line(path: Path) -> int:
    """Find the line in a second pass: the first decodes many lines at once and cannot tell."""
    with _open(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return 1


def _json_lines(file: io.TextIOWrapper, path: Path) -> Iterator[tuple[int, RawRow]]:
    number = 0
    for line in file:
        if not line.strip():
            continue
        number += 1
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:  # besides bad syntax: endless numbers, bottomless lists
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error).split(":")[0]
            raise BadInput(
                f"Row {number} of {path} is not valid JSON ({reason}): each line must be one object."
            ) from None
        if not isinstance(row, dict):
            raise BadInput(
                f'Row {number} of {path} is not a JSON object: each line must look like {{"text": …}}.'
            )
        yield number, row


def _delimited(file: io.TextIOWrapper, path: Path, name: str) -> Iterator[tuple[int, RawRow]]:
    csv.field_size_limit(sys.maxsize)
    reader = csv.DictReader(file, delimiter="\t" if name.endswith("tsv") else ",", strict=True)
    number = 0
    try:
        for number, row in enumerate(reader, start=1):
            if None in row:
                raise BadInput(
                    f"Row {number} of {path} has more fields than the header: quote fields that hold a delimiter."
                )
            yield number, row
    except csv.Error as error:
        raise BadInput(f"Row {number + 1} of {path} is not valid CSV ({error}): fix its quotes.") from None


def _parquet(path: Path) -> Iterator[tuple[int, RawRow]]:
    import polars as pl

    try:
        frame = pl.scan_parquet(path)
        rows = frame.select(pl.len()).collect().item()
        for first in range(0, rows, _SLICE):
            part = frame.slice(first, _SLICE).collect()
            yield from enumerate(part.iter_rows(named=True), start=first + 1)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise BadInput(
            f"{path} is not a readable Parquet file ({reason}): fetch or write it again."
        ) from None
