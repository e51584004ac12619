"""A text in parts: words that were replaced, or took their place, and what stands between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple


class Part(NamedTuple):
    """A stretch of a text."""

    text: str
    marked: bool


def original_parts(row: Mapping[str, Any]) -> list[Part]:
    """Cut the original text of a result's row at the words that were replaced."""
    return list(_cut(row["original"], ((c["start"], c["end"]) for c in row["changed"])))


def attacked_parts(row: Mapping[str, Any]) -> list[Part]:
    """Cut the attacked text of a result's row at the words that were put in.

    >>> attacked_parts({"attacked": "a good film", "changed": [{"new_start": 2, "new_end": 6}]})
    [Part(text='a ', marked=False), Part(text='good', marked=True), Part(text=' film', marked=False)]
    """
    return list(_cut(row["attacked"], ((c["new_start"], c["new_end"]) for c in row["changed"])))


def _cut(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[Part]:
    at = 0
    for start, end in sorted(spans):
        if start > at:
            yield Part(text[at:start], False)
        if end > start:  # nothing stands where a word was put in
            yield Part(text[start:end], True)
        at = end
    if at < len(text):
        yield Part(text[at:], False)
