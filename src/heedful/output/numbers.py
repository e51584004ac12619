"""One way to write a number: decimals, small ones, shares, intervals, and what stands where there is none."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np

NOTHING = "–"
_TINY, _SMALL = 1e-3, 0.05
_DECIMAL, _LEAST = 5e-3, 1e-6
"""Beside a number from here on, one down to there is written with decimals."""
_SHORT = 3

WriteNumber = Callable[[float], str]


class Estimated(Protocol):
    """A number with its 95 % interval; None where it is unknown."""

    @property
    def estimate(self) -> float | None: ...  # noqa: D102
    @property
    def low(self) -> float | None: ...  # noqa: D102
    @property
    def high(self) -> float | None: ...  # noqa: D102


def known(x: float | None) -> bool:
    """Whether there is a number."""
    return x is not None and not math.isnan(x)


def fixed(x: float | None, digits: int = 3, *, sign: bool = False) -> str:
    """A number with that many decimals; a dash where there is none.

    >>> fixed(0.8468), fixed(0.25, 1, sign=True), fixed(None), fixed(float("nan"))
    ('0.847', '+0.2', '–', '–')
    """
    return f"{x:{'+' if sign else ''}.{digits}f}" if known(x) else NOTHING


def power(x: float, *, sign: bool = False) -> str:
    """A number as two digits and a power of ten.

    >>> power(0.000183), power(-3.4e-8)
    ('1.8e-04', '-3.4e-08')
    """
    return f"{x:{'+' if sign else ''}.1e}"


def written(x: float, digits: int = 2) -> str:
    """A number as a person reads it; a small one keeps digits that say something.

    >>> written(0.834), written(0.0), written(0.0073), written(0.00021), written(-3.4e-8)
    ('0.83', '0.00', '0.007', '2.1e-04', '-3.4e-08')
    """
    if x == 0 or abs(x) >= 10.0**-digits:
        return fixed(x, digits)
    return f"{x:.1g}" if abs(x) >= _TINY else power(x)


def significant(x: float | None) -> str:
    """A number of any size, by the digits that count; a dash where there is none.

    >>> significant(0.8471), significant(0.00419), significant(0.000183), significant(0.0), significant(None)
    ('0.847', '0.0042', '1.8e-04', '0', '–')
    """
    if x is None or math.isnan(x):
        return NOTHING
    if 0 < abs(x) < _TINY:
        return power(x)
    return fixed(x) if abs(x) >= 0.1 else f"{x:.2g}"


def decimals(estimates: Iterable[float | None]) -> int | None:
    """How many decimals a column needs for its least number; None where a power of ten is easier to read.

    >>> decimals([0.8, 0.06]), decimals([0.8, 0.01, 0.0]), decimals([0.8, 0.0002]), decimals([None])
    (3, 4, None, 3)
    """
    least = min((abs(estimate) for estimate in estimates if estimate), default=1.0)
    return None if least < _TINY else _SHORT + 1 if least < _SMALL else _SHORT


def in_column(x: float, digits: int | None, *, sign: bool = False) -> str:
    """A number among others with these decimals; one that they would make 0 is written by its power of ten.

    >>> in_column(0.8468, 3), in_column(0.000183, None), in_column(-0.0004, 3), in_column(0.0, None)
    ('0.847', '1.8e-04', '-4.0e-04', '0')
    """
    if x == 0:
        return "0"
    return power(x, sign=sign) if digits is None or round(x, digits) == 0 else fixed(x, digits, sign=sign)


def percentage(share: float, digits: int = 0) -> str:
    """A share in percent; a dash where it is unknown.

    >>> percentage(0.834), percentage(0.8345, 1), percentage(float("nan"))
    ('83 %', '83.5 %', '–')
    """
    return NOTHING if math.isnan(share) else f"{share * 100:.{digits}f} %"


def interval(low: float | None, high: float | None, write: WriteNumber = written) -> str:
    """Both ends of an interval; a dash where it has none.

    >>> interval(0.81, 0.86), interval(-0.04, -0.00018), interval(-0.0004, -0.00018), interval(None, None)
    ('0.81 to 0.86', '-0.04 to -0.0002', '-4.0e-04 to -1.8e-04', '–')
    """
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return NOTHING
    return " to ".join(alike([low, high], write))


def alike(numbers: Sequence[float], write: WriteNumber = written) -> list[str]:
    """Numbers that are read together: beside one with decimals, a small one has decimals too, and no power of ten.

    >>> alike([0.0002, -0.01, 0.02]), alike([0.0002, 0.0001]), alike([3e-9, 0.5])
    (['0.0002', '-0.01', '0.02'], ['2.0e-04', '1.0e-04'], ['3.0e-09', '0.50'])
    """
    decimal = max(map(abs, numbers), default=0.0) >= _DECIMAL
    told = [write(x) for x in numbers]
    return [
        _with_decimals(x) if decimal and _LEAST <= abs(x) < _TINY and "e-" in each else each
        for x, each in zip(numbers, told, strict=True)
    ]


def _with_decimals(x: float) -> str:
    """A small number by its first digit, without a power of ten."""
    return f"{x:.{-math.floor(math.log10(abs(x)))}f}"


def with_interval(x: float, low: float | None, high: float | None, write: WriteNumber = written) -> str:
    """A number with its interval in brackets; alone where it has none.

    >>> with_interval(0.834, 0.81, 0.86), with_interval(0.834, float("nan"), float("nan"))
    ('0.83 (0.81 to 0.86)', '0.83')
    """
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return write(x)
    written_x, *ends = alike([x, low, high], write)
    return f"{written_x} ({' to '.join(ends)})"


def apart(number: Estimated | None, digits: int = 3) -> tuple[str, str]:
    """A mean and its interval, for two columns of a table."""
    if number is None or number.estimate is None:
        return NOTHING, NOTHING

    def write(x: float) -> str:
        return written(x, digits)

    if number.low is None or number.high is None or math.isnan(number.low) or math.isnan(number.high):
        return write(number.estimate), NOTHING
    estimate, low, high = alike([number.estimate, number.low, number.high], write)
    return estimate, f"{low} to {high}"


def value(number: Estimated, digits: int = 2) -> str:
    """A mean as a sentence says it: '0.83 (95 % interval 0.81 to 0.86)'."""
    if number.estimate is None:
        return "unknown"
    if number.low is None or number.high is None:
        return f"{written(number.estimate, digits)} (no interval)"
    estimate, low, high = alike([number.estimate, number.low, number.high], lambda x: written(x, digits))
    return f"{estimate} (95 % interval {low} to {high})"


def percent(number: Estimated) -> str:
    """A share as a sentence says it: '83 % (95 % interval 81–86 %)'."""
    if number.estimate is None:
        return "an unknown share"
    if number.low is None or number.high is None:
        return f"{100 * number.estimate:.0f} % (no interval)"
    estimate, low, high = (100 * share for share in (number.estimate, number.low, number.high))
    return f"{estimate:.0f} % (95 % interval {low:.0f}–{high:.0f} %)"


def mean(values: np.ndarray) -> str:
    """A mean, or a dash where there is no value."""
    present = values[~np.isnan(values)]
    return fixed(float(present.mean()), 2) if len(present) else NOTHING


def mean_and_deviation(values: np.ndarray) -> str:
    """A mean ± the standard deviation over texts, as the papers print it.

    >>> mean_and_deviation(np.array([0.0, 1.0, np.nan])), mean_and_deviation(np.array([]))
    ('0.50 ± 0.71', '–')
    """
    present = values[~np.isnan(values)]
    if not len(present):
        return NOTHING
    return give_or_take(float(present.mean()), float(present.std(ddof=1)) if len(present) > 1 else 0.0)


def give_or_take(x: float, deviation: float, digits: int = 2) -> str:
    """A number ± another.

    >>> give_or_take(0.5, 0.071, 3)
    '0.500 ± 0.071'
    """
    return f"{fixed(x, digits)} ± {fixed(deviation, digits)}"


def quartiles(values: np.ndarray, write: WriteNumber | None = None) -> str:
    """A median with the two quartiles around it: a box of a box plot.

    >>> quartiles(np.array([0.0, 0.5, 1.0]))
    '0.50 [0.25–0.75]'
    """
    present = values[~np.isnan(values)]
    if not len(present):
        return NOTHING
    spell = write or (lambda x: fixed(x, 2))
    low, middle, high = (spell(float(x)) for x in np.quantile(present, [0.25, 0.5, 0.75]))
    return f"{middle} [{low}–{high}]"


def duration(seconds: float) -> str:
    """Write how long something takes, roughly.

    >>> duration(5), duration(70), duration(5400), duration(400_000)
    ('5 seconds', '1 minute', '1.5 hours', '4.6 days')
    """
    for unit, size in (("day", 86_400), ("hour", 3600)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}s"
    number, unit = (seconds / 60, "minute") if seconds >= 60 else (seconds, "second")
    return f"{number:.0f} {unit}" + ("" if round(number) == 1 else "s")
