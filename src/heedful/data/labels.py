"""Labels of any spelling → class numbers, the same in every split."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.errors import BadInput


def spell(raw: Any) -> str | None:
    """Write a raw label as text; None where there is none. Whole numbers look the same from every format.

    >>> spell(1.0), spell(" 1 "), spell(True), spell(""), spell(float("nan"))
    ('1', '1', 'true', None, None)
    """
    if raw is None or (isinstance(raw, float) and math.isnan(raw)):
        return None
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, float) and raw.is_integer():
        raw = int(raw)
    return str(raw).strip() or None


def class_names(spellings: Sequence[str]) -> tuple[str, ...]:
    """Name the classes of a training split: numbers in numeric order, words in alphabetical order.

    >>> class_names(["10", "9", "9"]), class_names(["pos", "neg"])
    (('9', '10'), ('neg', 'pos'))
    """
    found = set(spellings)
    try:
        return tuple(sorted(found, key=int))
    except ValueError:
        return tuple(sorted(found))


def class_numbers(
    spellings: Sequence[str], names: Sequence[str], *, rows: Sequence[int], where: str
) -> NDArray[np.int64]:
    """Number labels by name, or by position where the file already holds class numbers."""
    by_name = {name: number for number, name in enumerate(names)}
    by_position = {str(number): number for number in range(len(names))}
    known = by_name if any(spelling in by_name for spelling in spellings[:1000]) else by_position
    numbers = np.empty(len(spellings), dtype=np.int64)
    for i, spelling in enumerate(spellings):
        if spelling not in known:
            raise BadInput(
                f"Label {spelling!r} in row {rows[i]} of {where} is not among the classes "
                f"({', '.join(list(names)[:10])}{', …' if len(names) > 10 else ''}), which come from train or "
                f"--label-names: mend the row or add the class there."
            )
        numbers[i] = known[spelling]
    return numbers
