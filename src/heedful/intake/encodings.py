"""Recognise text that is not UTF-8 by its first bytes, so that the remedy which is named is the right one."""

from __future__ import annotations

import codecs

from heedful.intake.unreadable import Unreadable

_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
"""Longer ones first: that of UTF-32 begins with that of UTF-16."""


def check_encoding(begins: bytes) -> None:
    """Refuse UTF-16 and UTF-32, by the mark at their beginning or by the zeros between their letters."""
    name = next((name for mark, name in _MARKS if begins.startswith(mark)), None)
    if name is None and len(begins) >= 4 and begins.count(0) * 3 >= len(begins):
        even, odd = begins[::2].count(0), begins[1::2].count(0)
        few = len(begins) // 20
        # Zeros in every second place are the upper halves of letters; anywhere else they are no text at all.
        if even <= few < odd:
            name = "UTF-16LE"
        elif odd <= few < even:
            name = "UTF-16BE"
        elif begins.count(0) * 3 >= 2 * len(begins) and begins.strip(b"\0"):
            name = "UTF-32LE" if begins[0] else "UTF-32BE"
    if name is not None:
        raise Unreadable(f"it is {name}, not UTF-8; iconv -f {name.lower()} -t utf-8 converts it")


def without_surrogates(text: str) -> str:
    """Replace lone surrogates, which no encoding can write, one for one: offsets stay true.

    >>> without_surrogates("half \\ud83d") == "half \\ufffd"
    True
    """
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)


def encodable(text: str) -> bool:
    """Whether a text can be written at all."""
    return without_surrogates(text) == text
