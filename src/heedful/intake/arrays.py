"""Arrays of numpy, whose headers are compared with what is there before anything is allocated."""

from __future__ import annotations

import math
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from heedful.intake import limits
from heedful.intake.unreadable import Unreadable

_FAULTS = (
    ValueError,
    TypeError,
    KeyError,
    EOFError,
    OverflowError,
    MemoryError,
    RecursionError,
    SyntaxError,
    NotImplementedError,
    UnicodeError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
    RuntimeError,  # an archive with a password
)
"""What numpy and zipfile raise for bytes that are no array: headers are parsed as Python, and members may be anything."""


def read_npz(path: Path, names: tuple[str, ...]) -> list[NDArray[Any]]:
    """Read arrays of an .npz by name. KeyError if one is missing, `Unreadable` for whatever else is wrong."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename: info for info in archive.infolist()}
            for name in names:
                if f"{name}.npy" in members:
                    _check_member(archive, members[f"{name}.npy"], name)
        with np.load(path, allow_pickle=False) as arrays:
            if missing := [name for name in names if name not in arrays]:
                raise _Missing(missing[0])
            return [arrays[name] for name in names]
    except _Missing as missing_array:
        raise KeyError(missing_array.args[0]) from None
    except Unreadable:
        raise
    except _FAULTS as error:
        raise Unreadable(_reason(error)) from None


def map_npy(path: Path) -> NDArray[Any]:
    """Map an .npy into memory; `Unreadable` if its header does not fit the file."""
    try:
        with path.open("rb") as file:
            _check_header(file, path.stat().st_size, "it")
        mapped: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
        return mapped
    except Unreadable:
        raise
    except _FAULTS as error:
        raise Unreadable(_reason(error)) from None


class _Missing(LookupError):
    """An array that is not there; other KeyErrors are those of a header."""


def _check_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> None:
    most = max(limits.UNPACKED, limits.ARRAY_RATIO * member.compress_size)
    if member.file_size > most:
        raise Unreadable(
            f"`{name}` unpacks to more than {limits.ARRAY_RATIO} times its size, as no vectors do"
        )
    with archive.open(member) as file:
        _check_header(file, member.file_size, f"`{name}`")


def _check_header(file: IO[bytes], size: int, name: str) -> None:
    """Compare the shape that a header claims with the bytes that follow it."""
    version = npy.read_magic(file)
    read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
    if read is None:  # version 3 is for records whose fields have names in other scripts
        raise Unreadable(f"{name} holds records, not numbers")
    shape, _, kind = read(file)
    if kind.hasobject:
        raise Unreadable(f"{name} holds objects")
    claimed, there = math.prod(shape) * kind.itemsize, size - file.tell()
    if any(side < 0 for side in shape) or claimed > there:
        told = " × ".join(f"{side:,}" for side in shape)
        raise Unreadable(
            f"{name} says it has {told or 'one'} numbers, {claimed:,} bytes, and {there:,} bytes are there"
        )


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split())[:100] or type(error).__name__
