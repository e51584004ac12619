"""Files of every format give the same rows, one at a time; what is wrong with a file is said in one sentence."""

import gzip
import json
import re

import polars as pl
import pytest

from heedful.data.corpora.rows import read_rows
from heedful.errors import BadInput

ROWS = [
    {"text": 'He said: "no, never",\nand left', "label": "neg"},
    {"text": "ein schöner Film 😀", "label": "pos"},
    {"text": "tab\there", "label": "pos"},
]
FORMATS = ("csv", "tsv", "jsonl", "ndjson", "parquet", "csv.gz", "tsv.gz", "jsonl.gz", "ndjson.gz", "CSV")


def write(folder, rows, suffix):
    path = folder / f"rows.{suffix}"
    plain = suffix.lower().removesuffix(".gz")
    if plain == "parquet":
        pl.DataFrame(rows).write_parquet(path)
        return path
    if plain in ("csv", "tsv"):
        content = pl.DataFrame(rows).write_csv(separator="\t" if plain == "tsv" else ",")
    else:
        content = "\n".join(json.dumps(row) for row in rows) + "\n\n"
    raw = content.encode("utf-8")
    path.write_bytes(gzip.compress(raw) if suffix.endswith("gz") else raw)
    return path


def refuse(path):
    with pytest.raises(BadInput) as caught:
        list(read_rows(path))
    message = str(caught.value)
    assert str(path) in message
    assert message.endswith(".") and "\n" not in message
    return message


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_gives_the_same_rows(tmp_path, suffix):
    assert list(read_rows(write(tmp_path, ROWS, suffix))) == list(enumerate(ROWS, start=1))


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path, suffix):
    path = write(tmp_path, ROWS, suffix)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert [row for _, row in read_rows(path)] == ROWS


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_rows_are_given_before_the_file_is_read_to_its_end(tmp_path, suffix):
    path = write(tmp_path, [{"text": f"text number {i}", "label": i % 2} for i in range(20_000)], suffix)
    path.write_bytes(path.read_bytes() + b"\xff\n")
    rows = read_rows(path)
    assert next(rows)[1]["text"] == "text number 0"
    with pytest.raises(BadInput, match="not UTF-8"):
        list(rows)


def test_parquet_rows_are_numbered_on_from_slice_to_slice(tmp_path):
    path = write(tmp_path, [{"text": str(i)} for i in range(1, 20_002)], "parquet")
    read = [(number, int(row["text"])) for number, row in read_rows(path)]
    assert read == [(number, number) for number in range(1, 20_002)]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"text,label\ngood,1\ncaf\xe9,0\n", "Line 3 of .* is not UTF-8 .byte 0xe9.: convert"),
        ("a.jsonl", b'{"text": "a"}\n{"text": "\xff"}\n', "Line 2 of .* is not UTF-8"),
        ("a.csv.gz", gzip.compress(b"text,label\n\xe9,1\n", mtime=0), "Line 2 of .* is not UTF-8"),
        (
            "a.csv",
            "text,label\na,1\n".encode("utf-16"),
            "cannot be read .it is UTF-16, not UTF-8; iconv -f utf-16 -t",
        ),
        ("a.jsonl", b'{"text": "a"}\n{"text": oops}\n', "Row 2 of .* not valid JSON .*one object"),
        ("a.jsonl", b'["a", 1]\n', "Row 1 of .* is not a JSON object"),
        ("a.jsonl", b"[" * 100_000, "Row 1 of .* not valid JSON"),
        ("a.jsonl", b'{"label": ' + b"9" * 5000 + b"}", "Row 1 of .* not valid JSON"),
        ("a.csv", b"text,label\na,1\nb,with comma,1\n", "Row 2 of .* more fields than the header: quote"),
        ("a.csv", b'text,label\na,1\n"never closed,1\n', "Row 2 of .* not valid CSV .*fix its quotes"),
        ("a.tsv", b'text\tlabel\n"good" film\t1\n', "Row 1 of .* not valid CSV"),
        (
            "a.csv.gz",
            gzip.compress(b"text,label\n" + b"a,1\n" * 9999, mtime=0)[:-20],
            "cannot be read .it is damaged or cut off.*fetch",
        ),
        ("a.jsonl.gz", b'{"text": "not compressed"}\n', "cannot be read .it is damaged or cut off"),
        ("a.parquet", b"PAR1 and then nothing", "not a readable Parquet file"),
        ("a.parquet", b"", "not a readable Parquet file"),
        ("a.txt", b"some text\n", "Cannot tell the format of .*\\.csv, "),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_in_one_sentence(tmp_path, name, content, said):
    path = tmp_path / name
    path.write_bytes(content)
    assert re.search(said, refuse(path))


def test_a_cut_off_parquet_file_is_refused(tmp_path):
    path = write(tmp_path, ROWS * 100, "parquet")
    path.write_bytes(path.read_bytes()[:-30])
    assert "not a readable Parquet file" in refuse(path)


def test_a_parquet_reader_that_panics_is_an_unreadable_file(tmp_path, monkeypatch):
    def panic(_):
        raise pl.exceptions.PanicException("offset + length <= self.length")

    path = write(tmp_path, ROWS, "parquet")
    monkeypatch.setattr(pl, "scan_parquet", panic)
    assert "not a readable Parquet file" in refuse(path)


def test_a_missing_file_is_told_from_one_of_unknown_format(tmp_path):
    assert "There is no file" in refuse(tmp_path / "nothing.txt")


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    assert "is a folder" in refuse(tmp_path / "folder.csv")
