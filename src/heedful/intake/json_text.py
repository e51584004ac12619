"""JSON that is what it seems to be: no key twice, nothing nested beyond reason, no number that is none."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from heedful.intake import limits
from heedful.intake.files import read_text
from heedful.intake.unreadable import Unreadable


def read_json(path: Path, *, most: int = limits.DOCUMENT) -> Any:
    """Read a JSON file; raises OSError, or ValueError for everything else that can be wrong with it."""
    return parse_json(read_text(path, most=most))


def parse_json(text: str, *, finite: bool = True) -> Any:
    """Parse JSON, or raise `Unreadable`; NaN and Infinity, which are no JSON, are let through unless numbers must be finite.

    >>> parse_json('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    >>> parse_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    heedful.intake.unreadable.Unreadable: the key 'a' stands twice in one object
    """
    try:
        found = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_whole,
            parse_float=_finite if finite else None,
            parse_constant=_refuse if finite else None,
        )
    except json.JSONDecodeError as error:
        raise Unreadable(f"{error.msg} at line {error.lineno} column {error.colno}") from None
    except RecursionError:
        raise Unreadable(_DEEP) from None
    # Fewer brackets than that cannot be nested deeper; most lines of a file of rows are done here.
    if text.count("[") + text.count("{") > limits.DEPTH:
        check_depth(found)
    return found


_DEEP = f"lists or objects nested more than {limits.DEPTH} deep"


def check_depth(content: Any) -> None:
    """Refuse lists and objects that are nested too deep, without nesting calls."""
    level = [content]
    for _ in range(limits.DEPTH + 1):
        level = [
            part
            for whole in level
            if isinstance(whole, dict | list)
            for part in (whole.values() if isinstance(whole, dict) else whole)
            if isinstance(part, dict | list)
        ]
        if not level:
            return
    raise Unreadable(_DEEP)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Unreadable(f"the key {twice[:60]!r} stands twice in one object")
    return found


def _whole(digits: str) -> int:
    if len(digits) > limits.DIGITS:
        raise Unreadable(f"a number of {len(digits):,} digits")
    return int(digits)


def _finite(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise Unreadable(f"a number too large to compute with ({written[:20]})")
    return number


def _refuse(name: str) -> float:
    raise Unreadable(f"{name}, which is no number of JSON")
