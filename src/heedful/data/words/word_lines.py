"""Files with words on each line, between tabs, commas or spaces; # begins a remark, and a file may be packed (.gz)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from heedful.errors import BadInput
from heedful.intake.files import lines, open_text
from heedful.intake.unreadable import Unreadable


def word_lines(path: Path, *, holds: str) -> Iterator[tuple[int, list[str]]]:
    """Give the words of each line that has any, and its number from 1."""
    with opened(path, holds=holds) as file:
        for number, line in enumerate(lines(file), start=1):
            if fields := [field for field in re.split(r"[\s,]+", line.partition("#")[0]) if field]:
                yield number, fields


@contextmanager
def opened(path: Path, *, holds: str) -> Iterator[IO[str]]:
    """Open a text file, packed or not, and report its faults in one sentence that says what it should hold."""
    try:
        with open_text(path) as file:
            yield file
    except (OSError, UnicodeDecodeError, Unreadable) as error:
        raise BadInput(f"Cannot read the {holds} in {path} ({error}): give a text file in UTF-8.") from None
