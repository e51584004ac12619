"""What is handed over in Python: whether it is of the kind that was asked for, or one sentence that says what it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from heedful.errors import BadInput


def as_path(given: Any, what: str) -> Path:
    """Take a path.

    >>> as_path(3, "A run")
    Traceback (most recent call last):
    heedful.errors.BadInput: A run is given by its name or folder, and this is a int.
    """
    if not isinstance(given, str | Path):
        raise BadInput(f"{what} is given by its name or folder, and this is a {type(given).__name__}.")
    return Path(given)


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
