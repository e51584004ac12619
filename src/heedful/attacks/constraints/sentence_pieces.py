"""A SentencePiece model of the unigram kind, read from its own file into a tokeniser."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from heedful.intake.files import read_bytes

# Fields of the file: the pieces, and in a legacy layout the rules of writing behind them.
_PIECE, _RULES = 1, 3
_TEXT, _SCORE = 1, 2
_CHARACTERS = 2
UNKNOWN, BEGIN, END = 0, 1, 2


def read_pieces(path: Path) -> Tokenizer:
    """Read pieces with their scores and the rules by which characters are replaced; sentences get a beginning and an end.

    ValueError for a file that holds none.
    """
    content = read_bytes(path)
    pieces: list[tuple[str, float]] = []
    rules = b""
    try:
        for field, value in _fields(content):
            if field == _PIECE:
                inner = dict(_fields(value))
                (score,) = struct.unpack("<f", inner.get(_SCORE, bytes(4)))
                pieces.append((inner[_TEXT].decode("utf-8"), score))
            elif field == _RULES:
                rules = dict(_fields(value)).get(_CHARACTERS, b"")
    except (IndexError, KeyError, struct.error, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} is no SentencePiece model: {error}") from None
    if len(pieces) <= END or not rules:
        raise ValueError(f"{path.name} is no SentencePiece model with pieces and rules")
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=UNKNOWN, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Precompiled(rules), normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    begin, end = (pieces[number][0] for number in (BEGIN, END))
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}", special_tokens=[(begin, BEGIN), (end, END)]
    )
    return tokenizer


def _fields(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Give the numbers and contents of a message's fields, as protocol buffers lay them out; whole numbers are passed over."""
    at = 0
    while at < len(content):
        tag, at = _number(content, at)
        kind = tag & 7
        if kind == 0:
            _, at = _number(content, at)
            continue
        if kind == 2:
            size, at = _number(content, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise IndexError(f"a field of an unknown kind at byte {at}")
        if at + size > len(content):
            raise IndexError(f"a field of {size} bytes at byte {at} of {len(content)}")
        yield tag >> 3, content[at : at + size]
        at += size


def _number(content: bytes, at: int) -> tuple[int, int]:
    """Read a whole number of any size, seven bits to a byte."""
    value = shift = 0
    while True:
        byte = content[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
