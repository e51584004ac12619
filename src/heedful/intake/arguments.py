"""What is handed over in Python: whether it is of the kind that was asked for, or one sentence that says what it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from heedful.errors import BadInput

_LONGEST, _LONGEST_PATH = 255, 4095
"""Bytes of a name and of a path on the file systems there are."""
_SHOWN = 40


def as_path(given: Any, what: str) -> Path:
    """Take a path.

    >>> as_path(3, "A run")
    Traceback (most recent call last):
    heedful.errors.BadInput: A run is given by its name or folder, and this is a int.
    """
    if not isinstance(given, str | Path):
        raise BadInput(f"{what} is given by its name or folder, and this is a {type(given).__name__}.")
    check_name(given)
    return Path(given)


def check_name(given: str | Path) -> None:
    """Refuse what no file system takes as a name, before it is asked for.

    >>> check_name("x" * 300)
    Traceback (most recent call last):
    heedful.errors.BadInput: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' is no name of a file: it is longer than 255 bytes.
    """
    named = str(given)
    try:
        parts = [len(os.fsencode(part)) for part in Path(named).parts]
        reason = f"it is longer than {_LONGEST} bytes" if max(parts, default=0) > _LONGEST else None
        if sum(parts) + len(parts) > _LONGEST_PATH:
            reason = f"its path is longer than {_LONGEST_PATH:,} bytes"
    except UnicodeEncodeError:
        reason = "it holds half a character"
    if "\0" in named:
        reason = "a zero byte, which it holds, ends a name"
    if reason is not None:
        shown = named if len(named) <= _SHOWN else f"{named[:_SHOWN]}…"
        raise BadInput(f"{shown!r} is no name of a file: {reason}.")


def as_list(given: Any, what: str) -> list[Any]:
    """Take a list of things, and not one thing in the place of a list.

    >>> as_list("a text", "texts")
    Traceback (most recent call last):
    heedful.errors.BadInput: A list of texts is needed: put the one into brackets.
    """
    if isinstance(given, str | bytes | Path):
        raise BadInput(f"A list of {what} is needed: put the one into brackets.")
    try:
        return list(given)
    except TypeError:
        raise BadInput(f"A list of {what} is needed, and this is a {type(given).__name__}.") from None


def as_texts(given: Any) -> list[str]:
    """Take a list of strings."""
    texts = as_list(given, "texts")
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise BadInput(f"Text {number} is a {type(text).__name__}: give a list of strings.")
    return texts
