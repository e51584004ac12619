"""Scores that the user gives, to be audited in place of attention: one number per item of every text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.data.corpora.rows import RawRow, has_known_suffix, read_rows
from heedful.data.instances import Instances
from heedful.errors import BadInput
from heedful.intake.arguments import as_list
from heedful.intake.json_text import parse_json

Scores = Sequence[Sequence[Any]]
"""Of each text a number for every item, or (start, end, number) for stretches of the text."""


_LARGEST = 1e100
"""Of a score: sums and squares of such scores are still numbers."""


def read_scores(path: Path) -> list[list[Any]]:
    """Read one list of scores per row: a column 'scores', or the items that `heedful explain -o` writes."""
    return _read(read_rows(path), str(path), "scores")


def scores_named(named: str, data: str | None) -> list[list[Any]]:
    """Read the scores that a command line names: a file of them, or a column of the file with the texts."""
    path = Path(named).expanduser()
    if has_known_suffix(path):
        return read_scores(path)
    beside = None if data is None else Path(data).expanduser()
    if beside is None or not (has_known_suffix(beside) and beside.is_file()):
        raise BadInput(
            f"--scores names neither a file nor, since the data are no file, a column of them: {named!r}."
        )
    return _read(read_rows(beside), str(beside), named)


def _read(rows: Iterable[tuple[int, RawRow]], where: str, column: str) -> list[list[Any]]:
    return [_row(row, number, where, column) for number, row in rows]


def _row(row: dict[str, Any], number: int, where: str, column: str) -> list[Any]:
    found = row.get(column)
    if found is None and column == "scores" and isinstance(row.get("items"), list):
        found = [item.get("weight") if isinstance(item, dict) else None for item in row["items"]]
    if isinstance(found, str):  # a file of commas holds a list as text
        try:
            found = parse_json(found)
        except ValueError:
            found = None
    if not isinstance(found, list) or not all(map(_is_score, found)):
        raise BadInput(
            f"Row {number} of {where} has no list of numbers named {column!r}: give one number for every item of its text, or "
            f"(start, end, number)."
        )
    return found


def _is_score(score: Any) -> bool:
    if isinstance(score, list | tuple):
        return len(score) == 3 and all(isinstance(place, int) for place in score[:2]) and _is_score(score[2])
    if not isinstance(score, int | float | np.integer | np.floating):
        return False
    return bool(-_LARGEST <= score <= _LARGEST)  # which NaN and infinities are not


def fit_scores(scores: Scores, instances: Instances, counts: np.ndarray, *, where: str) -> list[list[float]]:
    """Give a number for every item of every text, or name the first text that the scores do not fit."""
    scores = [as_list(row, "scores for each text") for row in as_list(scores, "scores")]
    if len(scores) != len(instances):
        raise BadInput(
            f"{where} has scores for {len(scores)} texts, and there are {len(instances)}: give one row for each, in their order."
        )
    fitted = []
    for row, (given, count) in enumerate(zip(scores, counts, strict=True)):
        if not all(map(_is_score, given)):
            raise BadInput(
                f"Text {row + 1} has scores in {where} that are no finite numbers: give a number for each item, or (start, end, number)."
            )
        placed = [isinstance(score, list | tuple) for score in given]
        if placed and all(placed):
            fitted.append(_by_place(given, instances, row, where=where))
            continue
        if any(placed) or len(given) != count:
            raise BadInput(
                f"Text {row + 1} has {count} items and {where} gives it {len(given)} scores: give one for each item "
                f"(heedful.words shows a function's), or (start, end, number) for all."
            )
        fitted.append([float(score) for score in given])
    return fitted


def _by_place(
    given: Sequence[tuple[int, int, float]], instances: Instances, row: int, *, where: str
) -> list[float]:
    """Give each word what the stretches that lie in it add up to; one that covers several is shared out by characters."""
    tokens, text = instances.tokens, instances.split.texts[row]
    own = slice(tokens.rows[row], tokens.rows[row + 1])
    spans = tokens.offsets[own]
    if tokens.word_of is not None:
        spans = spans[tokens.word_of[own] >= 0]
    total = np.zeros(len(spans))
    for start, end, score in given:
        if not 0 <= start < end <= len(text):
            raise BadInput(
                f"Text {row + 1} has {len(text)} characters, and {where} gives a score from {start} to {end}: count characters from 0."
            )
        shared = (np.minimum(spans[:, 1], end) - np.maximum(spans[:, 0], start)).clip(min=0)
        if shared.sum():
            total += score * shared / shared.sum()
    return [float(score) for score in total]


def padded(
    scores: Sequence[Sequence[float]], rows: Int[Tensor, " batch"], mask: Bool[Tensor, "batch items"]
) -> Float[Tensor, "batch items"]:
    """Lay out the scores of some rows like a batch, whose items need not start at its first position."""
    laid = torch.zeros(mask.shape, dtype=torch.float64)
    for place, row in enumerate(rows.tolist()):
        laid[place, mask[place]] = torch.tensor(scores[row], dtype=torch.float64)
    return laid
