"""Ways to spoil a valid file: bits and stretches anywhere, and words that formats have meanings for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import yaml
from hypothesis import strategies as st

WORDS = (
    b"", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\r", b"\n", b"\t", b'"', b"'", b",", b":", b"- ", b"#", b"&a ", b"*a",
    b"<<: ", b"!!binary ", b"!!set ", b"? ", b"%", b"---\n", b"...\n", b"[", b"]", b"{", b"}", b"[" * 5000, b"{\"a\":" * 200, b"- " * 500,
    b"\\ud83d", b"\xed\xa0\xbd", b"NaN", b"-Infinity", b"1e999", b"-0", b"1e-400", b"9" * 20, b"9" * 401, b"9" * 5000, b"0x7f", b"1:1:1",
    b"null", b"true", b"~", b"2001-99-99", b"text", b"label", b"x" * 5000, b"1" * 19, b"(0, 1, 2)", b"(100000000000,)", b"|O", b"<U9999999",
    b"\x00\x00\x00\x80", b"\xff\xff\xff\xff", b"\xff\xff\xff\xff\xff\xff\xff\x7f", b"PAR1", b"PK\x05\x06", b"\x1f\x8b\x08\x00",
)  # fmt: skip


ODD = (
    None, True, False, 0, -1, 1, 2.5, 1e308, -1e308, 1e-320, 10**20, 10**299, 2**63, "", "x", "1", "\ud83d", "\0", "x" * 3000, "true",
    "NaN", [], {}, [[]], [None], {"a": None}, ["a", 1, None], {"": []}, [[[[[]]]]], [0] * 300,
)  # fmt: skip
"""Values of other kinds and sizes than anybody expects."""


def reshaped(document: Any) -> st.SearchStrategy[Any]:
    """Put an odd value in the place of one in a document, or take that out; what stays is as it was."""
    places = list(_places(document, ()))
    return st.tuples(st.sampled_from(places), st.one_of(st.sampled_from(ODD), st.just(_GONE))).map(
        lambda change: _put(document, *change)
    )


_GONE = object()


def _places(document: Any, here: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield here
    inside = (
        document.items()
        if isinstance(document, dict)
        else enumerate(document)
        if isinstance(document, list)
        else ()
    )
    for key, part in inside:
        yield from _places(part, (*here, key))


def _put(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    if not place:
        return None if value is _GONE else value
    copy = dict(document) if isinstance(document, dict) else list(document)
    if value is _GONE and len(place) == 1:
        del copy[place[0]]
    else:
        copy[place[0]] = _put(copy[place[0]], place[1:], value)
    return copy


def document_in(valid: bytes, name: str) -> tuple[Any, Callable[[Any], bytes]] | None:
    """Give what a JSON or YAML file holds, and how to write it again; None for other files."""
    if name.endswith(".yaml"):
        return yaml.safe_load(valid), lambda document: yaml.safe_dump(document).encode("utf-8", "replace")
    if name.endswith(".json"):
        return json.loads(valid), lambda document: json.dumps(document).encode()
    if name.endswith(".jsonl"):
        first, _, rest = valid.partition(b"\n")
        return json.loads(first), lambda document: json.dumps(document).encode() + b"\n" + rest
    return None


def spoiled(valid: bytes) -> st.SearchStrategy[bytes]:
    """Change a valid file in a few places, or give any bytes at all."""
    place = st.integers(0, len(valid))
    change = st.tuples(place, st.integers(0, 40), st.one_of(st.sampled_from(WORDS), st.binary(max_size=8)))
    return st.one_of(
        st.lists(change, min_size=1, max_size=4).map(lambda changes: _changed(valid, changes)),
        st.binary(max_size=200),
        place.map(lambda end: valid[:end]),
        st.sampled_from(WORDS).map(lambda word: word + valid),
        st.sampled_from(("utf-16", "utf-16-le", "utf-32", "latin1")).map(
            lambda name: valid.decode("latin1").encode(name, "replace")
        ),
    )


def _changed(valid: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
    for place, length, word in changes:
        valid = valid[:place] + word + valid[place + length :]
    return valid
