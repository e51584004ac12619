"""What no file may do to its reader: each of these once took a command down, or was read as something else."""

from __future__ import annotations

import gzip
import io
import json
import time
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from heedful.intake import limits
from heedful.intake.arrays import map_npy, read_npz
from heedful.intake.encodings import check_encoding, encodable, without_surrogates
from heedful.intake.files import lines, open_text, read_bytes, read_text
from heedful.intake.json_text import parse_json, read_json
from heedful.intake.unreadable import Unreadable
from heedful.intake.yaml_text import parse_yaml, read_yaml

BOMB = "\n".join(
    ["a: &a [x, x, x, x, x, x, x, x, x]"]
    + [f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)]
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1, "a": 2}', "the key 'a' stands twice"),
        ('{"x": [{"b": 1, "b": 1}]}', "the key 'b' stands twice"),
        ("[" * 100_000, "nested more than 64 deep"),
        ("[" * 100 + "]" * 100, "nested more than 64 deep"),
        ('{"a":' * 70 + "1" + "}" * 70, "nested more than 64 deep"),
        ("9" * 401, "a number of 401 digits"),
        ("1" * 10_000, "a number of 10,000 digits"),
        ("1e999", "a number too large to compute with"),
        ("[NaN]", "NaN, which is no number of JSON"),
        ("-Infinity", "-Infinity, which is no number"),
        ("{text: 1}", "at line 1 column 2"),
        ("", "Expecting value"),
    ],
)
def test_json_that_is_refused(text, said):
    with pytest.raises(Unreadable) as refused:
        parse_json(text)
    assert said in str(refused.value) and len(str(refused.value)) < 150


def test_json_that_is_read():
    deep = json.loads("[" * 64 + "]" * 64)
    assert parse_json("[" * 64 + "]" * 64) == deep
    assert parse_json('{"a": "[[[[", "b": [{}, {}], "c": 12345678901234567890}')["c"] == 12345678901234567890
    assert np.isnan(parse_json("NaN", finite=False))
    wide = [[] for _ in range(1000)]
    assert parse_json(json.dumps(wide)) == wide


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB, "an alias (*a) at line 2"),
        ("a: &a\n  <<: *a\n", "an alias (*a) at line 2"),
        ("[" * 5000, "nested more than 64 deep"),
        ("- " * 5000 + "x", "nested more than 64 deep"),
        ("{a: " * 100 + "1" + "}" * 100, "nested more than 64 deep"),
        ("epochs: 1\nseed: 2\nepochs: 3\n", "the key 'epochs' stands twice, again at line 3"),
        ("a: [1\nb: }", "not valid YAML at line 2"),
        ("a: 2001-99-99", "not valid YAML"),
        ("a: " + "9" * 6000, "not valid YAML"),
        ("a: " + "1:1" * 60_000, "a value of more than 65,536 characters"),
        ("a: !!python/object/apply:os.system ['touch evil']", "not valid YAML at line 1"),
        ("? [a, b]\n: 1", "not valid YAML"),
        ("a: \x07", "not valid YAML"),
    ],
)
def test_yaml_that_is_refused_at_once(text, said):
    begun = time.process_time()
    with pytest.raises(Unreadable) as refused:
        parse_yaml(text)
    assert said in str(refused.value) and len(str(refused.value)) < 200
    assert time.process_time() - begun < 5  # a hang is what this is about, and no matter of speed


def test_yaml_that_is_read(tmp_path):
    assert parse_yaml("a: 1\nb: {c: [1, 2], d: {}}\n") == {"a": 1, "b": {"c": [1, 2], "d": {}}}
    assert parse_yaml("a: &x 1\n") == {"a": 1}  # a name that nothing refers to
    assert parse_yaml("") is None
    path = tmp_path / "long.yaml"
    path.write_text("# " + "x" * limits.YAML)
    with pytest.raises(Unreadable, match="it holds more than 262,144 bytes"):
        read_yaml(path)


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16LE"),
        ("utf-16-be", "UTF-16BE"),
        ("utf-32", "UTF-32"),
        ("utf-32-le", "UTF-32LE"),
        ("utf-32-be", "UTF-32BE"),
    ],
)
def test_other_encodings_are_called_by_their_name(tmp_path, encoding, name):
    path = tmp_path / "x.json"
    path.write_bytes('{"text": "a film", "label": 1}'.encode(encoding))
    for read in (read_json, read_text):
        with pytest.raises(Unreadable, match=rf"it is {name}, not UTF-8; iconv -f {name.lower()} "):
            read(path)
    with pytest.raises(Unreadable, match=name), open_text(path):
        pytest.fail("it was opened")


def test_utf8_is_read_with_a_mark_and_without(tmp_path):
    for mark in (b"", b"\xef\xbb\xbf"):
        (tmp_path / "x").write_bytes(mark + "größer\r\nzwei".encode())
        assert read_text(tmp_path / "x") == "größer\r\nzwei"
        with open_text(tmp_path / "x") as file:
            assert list(lines(file)) == ["größer\r\n", "zwei"]
    check_encoding(b"a\0b,c")  # a zero among letters is somebody's data
    check_encoding(b"")


def test_half_characters_are_replaced_one_for_one():
    assert without_surrogates("a\ud83db😀") == "a\ufffdb😀"
    assert encodable("😀") and not encodable("\udce9")


@pytest.mark.parametrize("read", [read_bytes, read_text, read_json])
def test_a_bomb_is_not_unpacked(tmp_path, read):
    path = tmp_path / "x.json.gz"
    with gzip.open(path, "wb") as file:
        for _ in range(256):
            file.write(bytes(2**20))
    tracemalloc.start()
    with pytest.raises(Unreadable, match="it unpacks to more than 50 times its size"):
        read(path)
    assert tracemalloc.get_traced_memory()[1] < 4 * limits.UNPACKED
    tracemalloc.stop()


def test_what_packs_well_is_no_bomb(tmp_path):
    path = tmp_path / "x.gz"
    for size in (2**20, limits.UNPACKED):
        path.write_bytes(gzip.compress(b"a" * size))
        assert len(read_bytes(path)) == size
    words = np.random.default_rng(0).integers(97, 123, size=2 * limits.UNPACKED, dtype=np.uint8).tobytes()
    path.write_bytes(gzip.compress(words, compresslevel=1))
    assert read_bytes(path) == words


def test_a_line_without_end_is_refused(tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes(b"short\n" + b"a" * (limits.LINE + 1))
    with open_text(path) as file:
        given = lines(file)
        assert next(given) == "short\n"
        with pytest.raises(Unreadable, match="a line of more than"):
            next(given)


def header(shape: str, descr: str = "'<f4'") -> bytes:
    words = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    words += b" " * (-(len(words) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(words).to_bytes(2, "little") + words


HEADERS = {
    "rows": header("(100000000000, 300)") + b"\0" * 64,
    "endless": header("(" + "9" * 40 + ",)"),
    "negative": header("(-1, 4)") + b"\0" * 64,
    "objects": header("(2,)", "'|O'") + b"\0" * 16,
    "nested": header("(" * 200 + "1" + ")" * 200),
    "code": header("__import__('os').getpid()"),
    "kind": header("(2,)", "'<q99'"),
    "no shape": b"\x93NUMPY\x01\x00\x02\x00{}",
    "version 9": b"\x93NUMPY\x09\x00" + b"\0" * 64,
    "version 3": b"\x93NUMPY\x03\x00" + header("(100000000000,)")[8:],
    "cut off": header("(4,)")[:20],
    "empty": b"",
}


@pytest.mark.parametrize("content", HEADERS.values(), ids=HEADERS)
def test_a_header_is_not_believed(tmp_path, content):
    (tmp_path / "v.npy").write_bytes(content)
    with pytest.raises(Unreadable) as refused:
        map_npy(tmp_path / "v.npy")
    assert len(str(refused.value)) < 200 and "\n" not in str(refused.value)
    with zipfile.ZipFile(tmp_path / "v.npz", "w") as archive:
        archive.writestr("vectors.npy", content)
    with pytest.raises(Unreadable):
        read_npz(tmp_path / "v.npz", ("vectors",))


def test_the_header_of_a_hundred_billion_rows_is_said(tmp_path):
    (tmp_path / "v.npy").write_bytes(HEADERS["rows"])
    with pytest.raises(
        Unreadable, match=r"it says it has 100,000,000,000 × 300 numbers, .* and 64 bytes are there"
    ):
        map_npy(tmp_path / "v.npy")


def test_arrays_that_unpack_to_too_much_are_refused(tmp_path):
    np.savez_compressed(tmp_path / "v.npz", vectors=np.zeros((10_000, 1000), dtype=np.float32))
    with pytest.raises(Unreadable, match="`vectors` unpacks to more than 200 times its size"):
        read_npz(tmp_path / "v.npz", ("vectors",))


def test_arrays_are_read(tmp_path):
    vectors, words = np.arange(6, dtype=np.float32).reshape(2, 3), np.array(["a", "much longer word"])
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "v.npz", vectors=vectors, words=words)
        found = read_npz(tmp_path / "v.npz", ("words", "vectors"))
        assert found[0].tolist() == words.tolist() and np.array_equal(found[1], vectors)
        with pytest.raises(KeyError, match="other"):
            read_npz(tmp_path / "v.npz", ("other",))
    np.save(tmp_path / "v.npy", vectors)
    assert np.array_equal(map_npy(tmp_path / "v.npy"), vectors)
    for wrong in (b"", b"PK", b"PK\x05\x06" + b"\0" * 18, _encrypted()):
        (tmp_path / "v.npz").write_bytes(wrong)
        with pytest.raises((Unreadable, KeyError)):
            read_npz(tmp_path / "v.npz", ("words",))


def _encrypted() -> bytes:
    """Make an archive that says its member needs a password."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("words.npy", b"x" * 40)
    content = bytearray(buffer.getvalue())
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + flags] |= 1
    return bytes(content)


def test_a_file_without_end_is_not_read_to_its_end(tmp_path):
    endless = Path("/dev/zero")
    if not endless.exists():
        pytest.skip("there is no /dev/zero here")
    with pytest.raises(Unreadable, match="it holds more than 1,000 bytes"):
        read_bytes(endless, most=1000)
