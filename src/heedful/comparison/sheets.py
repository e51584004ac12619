"""A comparison as tables of words: one for the models, and one for each audit, with sharpness beside steadiness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heedful.audits.audit import AUDITS
from heedful.audits.running.result import PREDICTIONS
from heedful.comparison.compared_numbers import ComparedNumber
from heedful.comparison.comparison import Comparison, Entry, Value
from heedful.comparison.marking import F1_LOST, SHARP_ENOUGH
from heedful.output.numbers import NOTHING, decimals, in_column, interval, percentage
from heedful.output.tables import Cell, Table

KEEPS = "keeps sharpness and F1"
_MODELS = (PREDICTIONS, "sharpness")
_ARROWS = {"higher": "↑", "lower": "↓", None: ""}


@dataclass(frozen=True)
class Sheet(Table):
    """A table, and what its numbers are."""

    lines: Sequence[str] = ()
    below: bool = False
    """Whether it belongs to the table before it."""


def sheets(comparison: Comparison) -> list[Sheet]:
    """Give every table: numbers, and below them their differences to the reference."""
    columns = comparison.columns
    beside = next(column for column in columns if column.audit == "sharpness")
    models = [column for column in columns if column.audit in _MODELS]
    found = _pair(comparison, "Models", models, keeps=True)
    for audit in dict.fromkeys(column.audit for column in columns):
        if audit not in _MODELS:
            own = [column for column in columns if column.audit == audit]
            has = any(column.number == "sharpness" for column in own)
            title = f"{audit}: {AUDITS.get(audit).question}"
            found += _pair(comparison, title, own if has else [beside, *own])
    return found


def legend(comparison: Comparison) -> list[str]:
    """Say what the marks mean."""
    values = [value for entry in comparison.entries for value in entry.values.values()]
    lost = round(100 * F1_LOST, 1)
    return [
        "Marked are the best, and what is not clearly worse: the interval of the paired difference to the best holds 0.",
        f"Compared with {comparison.reference}: sharpness is kept within {percentage(1 - SHARP_ENOUGH)} and F1 within {lost:g} points, "
        "or above.",
        *(
            [
                "A warning stands where attention lost its sharpness: what is flat cannot move, so its steadiness is never marked."
            ]
            if any(value.warning for value in values)
            else []
        ),
    ]


def runs(comparison: Comparison) -> list[str]:
    """Say which folders each row is of."""
    return [f"{entry.name}: {', '.join(map(str, entry.runs))}" for entry in comparison.entries]


def _pair(
    comparison: Comparison, title: str, columns: Sequence[ComparedNumber], *, keeps: bool = False
) -> list[Sheet]:
    entries = comparison.entries
    heads = [f"{heading(column)} {_ARROWS[column.measure.better]}".strip() for column in columns]
    digits = {c.key: decimals([e.values[c.key].estimate for e in entries]) for c in columns}
    values = [
        [
            Cell(e.name),
            *(_cell(e.values[c.key], digits=digits[c.key]) for c in columns),
            *([Cell(_keeps(e, comparison.reference))] if keeps else []),
        ]
        for e in entries
    ]
    apart = [
        [Cell(e.name), *(_difference(e.values[c.key], digits=digits[c.key]) for c in columns)]
        for e in entries
        if e.name != comparison.reference
    ]
    meant = [f"{heading(column)}: {column.measure.description}" for column in columns]
    shown = Sheet(["run", *heads, *([KEEPS] if keeps else [])], values, title, meant)
    below = Sheet(["run", *heads], apart, f"Difference to {comparison.reference}", below=True)
    return [shown, below] if apart else [shown]


def heading(column: ComparedNumber) -> str:
    """A number's name as a person says it.

    >>> from heedful.audits.audit import Measure
    >>> heading(ComparedNumber("rationale", "beats_random", Measure("")))
    'beats random'
    """
    known = {"f1": "F1", "jsd": "JSD", "tvd": "TVD", "linf": "ℓ∞", "l2": "ℓ2", "l1": "ℓ1"}
    return " ".join(known.get(word, word) for word in column.number.split("_"))


def _keeps(entry: Entry, reference: str) -> str:
    if entry.name == reference:
        return "reference" if entry.comparable else "reference, flat"
    known = {"less sharp": entry.keeps_sharpness, "lower F1": entry.keeps_f1}
    lost = [name for name, kept in known.items() if kept is False]
    return "yes" if not lost else f"no: {', '.join(lost)}"


def _cell(value: Value, *, digits: int | None) -> Cell:
    if value.estimate is None:
        return Cell(NOTHING)
    interval = _interval(value.low, value.high, digits=digits)
    return Cell(_number(value.estimate, digits=digits), interval, value.mark, value.warning)


def _difference(value: Value, *, digits: int | None) -> Cell:
    if value.difference is None:
        return Cell(NOTHING)
    interval = _interval(value.difference_low, value.difference_high, digits=digits, sign=True)
    return Cell(_number(value.difference, digits=digits, sign=True), interval, "", value.warning)


def _interval(low: float | None, high: float | None, *, digits: int | None, sign: bool = False) -> str:
    return f" ({interval(low, high, lambda end: _number(end, digits=digits, sign=sign))})"


def _number(value: float, *, digits: int | None, sign: bool = False) -> str:
    """A number of a column; differences have one decimal more."""
    return in_column(value, None if digits is None else digits + sign, sign=sign)
