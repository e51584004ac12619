"""Open a file, packed (.gz) or not, as bytes or as text in UTF-8: never more than there is reason to expect."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO

from heedful.intake import limits
from heedful.intake.encodings import check_encoding
from heedful.intake.unreadable import Unreadable


def open_bytes(path: Path) -> BinaryIO:
    """Open a file to read its bytes; a packed one is unpacked while it is read, and a bomb is not."""
    if not path.name.lower().endswith(".gz"):
        return path.open("rb")
    packed = path.open("rb")
    return io.BufferedReader(_Unpacked(packed), 2**16)  # type: ignore[type-var]


@contextmanager
def open_text(path: Path) -> Iterator[IO[str]]:
    """Open a text file in UTF-8, with a byte order mark or without. Line ends stay as they are."""
    with damage_named(), open_bytes(path) as file:
        assert isinstance(file, io.BufferedReader)
        check_encoding(file.peek(2**12))
        with io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
            yield text


def lines(file: IO[str]) -> Iterator[str]:
    """Give the lines of a text file with their ends, and refuse one that has none for too long."""
    while line := file.readline(limits.LINE + 1):
        if len(line) > limits.LINE:
            raise Unreadable(f"a line of more than {limits.LINE:,} characters")
        yield line


def read_bytes(path: Path, *, most: int = limits.DOCUMENT) -> bytes:
    """Read a whole file."""
    content = bytearray()
    with damage_named(), open_bytes(path) as file:
        while part := file.read(
            min(2**20, most + 1 - len(content))
        ):  # not at once: that would reserve all of it
            content += part
    if len(content) > most:
        raise Unreadable(f"it holds more than {most:,} bytes")
    return bytes(content)


def read_text(path: Path, *, most: int = limits.DOCUMENT) -> str:
    """Read a whole text file in UTF-8, with a byte order mark or without."""
    content = read_bytes(path, most=most)
    check_encoding(content[: 2**12])
    return content.decode("utf-8-sig")


@contextmanager
def damage_named() -> Iterator[None]:
    """Say of a packed file that it is damaged, whichever way that shows."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise Unreadable("it is damaged or cut off") from None


class _Unpacked(io.RawIOBase):
    """A packed file as its content, compared with what has been read of it."""

    def __init__(self, packed: BinaryIO) -> None:
        self._packed = packed
        self._content = gzip.GzipFile(fileobj=packed, mode="rb")
        self._given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        part = self._content.read(len(buffer))
        self._given += len(part)
        if self._given > max(limits.UNPACKED, limits.RATIO * self._packed.tell()):
            raise Unreadable(f"it unpacks to more than {limits.RATIO} times its size, as no text does")
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._content.close()
        self._packed.close()
        super().close()
