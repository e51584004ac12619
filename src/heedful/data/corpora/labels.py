"""Labels of any spelling → class numbers, the same in every split."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heedful.errors import BadInput
from heedful.intake import limits
from heedful.intake.encodings import encodable


def spell(raw: Any) -> str | None:
    """Write a raw label as text; None where there is none. Whole numbers look the same from every format.

    >>> spell(1.0), spell(" 1 "), spell("1.0"), spell(True), spell(""), spell(float("nan"))
    ('1', '1', '1', 'true', None, None)
    """
    if raw is None or (isinstance(raw, float) and math.isnan(raw)):
        return None
    if isinstance(raw, bool):
        return "true" if raw else "false"
    return re.sub(r"^(-?\d+)\.0+$", r"\1", str(raw).strip()) or None


def check_label(label: str, where: str) -> None:
    """Refuse a label that cannot be written down again: it would be found out when training is over."""
    if not encodable(label):
        raise BadInput(
            f"The label in {where} holds half a character (a lone surrogate), which no file can hold: fix it."
        )
    if len(label) > limits.LABEL:
        raise BadInput(
            f"The label in {where} has {len(label):,} characters, and {limits.LABEL:,} are the most: is it a text?"
        )


def class_names(spellings: Iterable[str]) -> tuple[str, ...]:
    """Name the classes of a training split: numbers in numeric order, words in alphabetical order.

    >>> class_names(["10", "9", "9"]), class_names(["pos", "neg"])
    (('9', '10'), ('neg', 'pos'))
    """
    found = set(spellings)
    try:
        return tuple(sorted(found, key=lambda spelling: (int(spelling), spelling)))
    except ValueError:
        return tuple(sorted(found))


def few(labels: Sequence[str], most: int = 4) -> str:
    """Name some labels, and how many others there are.

    >>> few(["no", "yes"]), few(list("abcdef"))
    ('no / yes', 'a / b / c / d and 2 more')
    """
    more = f" and {len(labels) - most} more" if len(labels) > most else ""
    return " / ".join(label if len(label) <= 30 else f"{label[:29]}…" for label in labels[:most]) + more


def check_names(names: Sequence[str], *, where: str) -> tuple[str, ...]:
    """Refuse names that cannot tell the classes apart."""
    if len(set(names)) < max(2, len(names)) or not all(names):
        raise BadInput(
            f"The label names in {where} ({', '.join(names)}) must be two or more, all different and none empty."
        )
    for name in names:
        check_label(name, where)
    return tuple(names)


def by_names(names: Sequence[str], found: Set[str]) -> dict[str, int] | None:
    """Number spellings that are all names of classes, in capitals or not; None where they are not.

    >>> by_names(["NEG", "POS"], {"pos", "neg"}) == {"neg": 0, "pos": 1}, by_names(["NEG", "POS"], {"0"})
    (True, None)
    """
    exact = {name: number for number, name in enumerate(names)}
    if found <= exact.keys():
        return exact
    folded = {name.casefold(): number for name, number in exact.items()}
    if len(folded) < len(exact) or not {spelling.casefold() for spelling in found} <= folded.keys():
        return None
    return {spelling: folded[spelling.casefold()] for spelling in found}


def numbering(names: Sequence[str], found: Set[str]) -> dict[str, int]:
    """Decide once for all splits what a spelling means: a class by its name, or by its position.

    Names may be numbers themselves, as in one to five stars: the spellings are names if they all can be.

    >>> numbering(["1", "2", "3"], {"1", "3"}), numbering(["1", "2", "3"], {"0", "1", "2"})
    ({'1': 0, '2': 1, '3': 2}, {'0': 0, '1': 1, '2': 2})
    """
    named = by_names(names, found)
    if named is not None:
        return named
    by_name = {name: number for number, name in enumerate(names)}
    by_position = {str(number): number for number in range(len(names))}
    if not found & by_position.keys():
        return by_name
    # Where neither fits, the one that fits more makes the better error message.
    return max((by_position, by_name), key=lambda known: len(found & known.keys()))


def class_numbers(
    spellings: Sequence[str],
    numbers: Mapping[str, int],
    names: Sequence[str],
    *,
    rows: Sequence[int],
    where: str,
) -> NDArray[np.int64]:
    """Number labels, or name the row whose label is not among the classes."""
    for row, spelling in zip(rows, spellings, strict=True):
        if spelling not in numbers:
            raise BadInput(
                f"Label {spelling!r} in row {row} of {where} is not among the classes "
                f"({', '.join(names[:10])}{', …' if len(names) > 10 else ''}), which come from train, from "
                f"what is known of the dataset or from --label-names: fix the row or name the class there."
            )
    return np.fromiter((numbers[spelling] for spelling in spellings), dtype=np.int64, count=len(spellings))
