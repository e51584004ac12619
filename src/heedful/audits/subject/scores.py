"""Scores that the user gives, to be audited in place of attention: one number per item of every text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from heedful.data.corpora.rows import read_rows
from heedful.data.instances import Instances
from heedful.errors import BadInput

Scores = Sequence[Sequence[float]]


def read_scores(path: Path) -> list[list[float]]:
    """Read one list of scores per row: a column 'scores', or the items that `heedful explain -o` writes."""
    return [_row(row, number, path) for number, row in read_rows(path)]


def _row(row: dict[str, Any], number: int, path: Path) -> list[float]:
    found = row.get("scores")
    if found is None and isinstance(row.get("items"), list):
        found = [item.get("weight") if isinstance(item, dict) else None for item in row["items"]]
    if not isinstance(found, list) or not all(
        isinstance(score, int | float) and math.isfinite(score) for score in found
    ):
        raise BadInput(
            f"Row {number} of {path} has no list of numbers named 'scores': give one number for every item of its text."
        )
    return [float(score) for score in found]


def check_scores(scores: Scores, instances: Instances, counts: np.ndarray, *, where: str) -> None:
    """Refuse scores that do not fit the texts, and name the first text that they do not fit."""
    if len(scores) != len(instances):
        raise BadInput(
            f"{where} has scores for {len(scores)} texts, and there are {len(instances)}: give one row for each, in their order."
        )
    for row, (given, count) in enumerate(zip(scores, counts, strict=True)):
        if len(given) != count:
            raise BadInput(
                f"Text {row + 1} has {count} items and {where} gives it {len(given)} scores: give one for each item."
            )


def padded(
    scores: Scores, rows: Int[Tensor, " batch"], mask: Bool[Tensor, "batch items"]
) -> Float[Tensor, "batch items"]:
    """Lay out the scores of some rows like a batch, whose items need not start at its first position."""
    laid = torch.zeros(mask.shape, dtype=torch.float64)
    for place, row in enumerate(rows.tolist()):
        laid[place, mask[place]] = torch.tensor(scores[row], dtype=torch.float64)
    return laid
