"""What is measured of the texts of a batch: a row for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import torch

from heedful.audits.audit import Audit
from heedful.audits.subject.predictions import prediction_rows
from heedful.audits.subject.reading import Reading
from heedful.audits.subject.subject import Subject
from heedful.explainers.blocks import told_of_blocks

IN_BLOCKS = "deleted_in_blocks"
"""The column that says of which texts leave-one-out deleted blocks; there is none where it deleted every item by itself."""


def predicted_rows(reading: Reading, subject: Subject) -> pl.DataFrame:
    """Give what the model predicts."""
    return prediction_rows(
        reading, subject.classifier, labelled=subject.texts.labelled, source=subject.source
    )


def audit_rows(asked: Audit, reading: Reading, subject: Subject) -> pl.DataFrame:
    """Give what an audit measures."""
    names = subject.classifier.labels
    columns: dict[str, Any] = {
        "row": reading.rows.tolist(),
        "predicted": [names[i] for i in reading.probabilities.argmax(-1).tolist()],
        "items": reading.mask.sum(1).tolist(),
    }
    with told_of_blocks() as in_blocks:
        for name, values in asked.rows(reading).items():
            columns[name] = values.numpy() if isinstance(values, torch.Tensor) else values
    if in_blocks:
        columns[IN_BLOCKS] = [row in in_blocks for row in columns["row"]]
    return pl.DataFrame(columns)


def joined(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Put the rows of batches together."""
    frame = pl.concat(parts, how="diagonal_relaxed")
    return frame.with_columns(pl.col(IN_BLOCKS).fill_null(False)) if IN_BLOCKS in frame.columns else frame


def in_order(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Put the rows of batches together, in the order of the split."""
    return joined(parts).sort("row")
