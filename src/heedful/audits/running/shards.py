"""Rows of audits in shards: batches of texts that are measured where the user chose, each written when it is finished.

A shard holds the very batches that one process would read, so that every number is the same to the last bit.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from heedful.audits.audit import AUDITS, Audit
from heedful.audits.running.measured_rows import audit_rows, in_order, joined, predicted_rows
from heedful.audits.running.result import PREDICTIONS, read_frame, write_frame
from heedful.audits.subject.subject import Subject
from heedful.audits.subject.texts import choose_texts
from heedful.checking import build
from heedful.config import AuditOptions
from heedful.loading import find_model
from heedful.models.stages import Opaque
from heedful.progress import QUIET, Watcher
from heedful.scale.chosen import spreads
from heedful.scale.piece import Piece
from heedful.scale.share_out import share_out

BATCHES = 16
"""Of a shard: a thousand texts, unless they are long or the user chose smaller batches."""
_FOLDER = "shards"


class Shards:
    """Where audits of one folder are measured in shards; nowhere, if the user chose this process or there is too little."""

    def __init__(
        self, subject: Subject, folder: Path | None, model: Mapping[str, Any] | None, dataset: Any
    ) -> None:
        self._subject, self._model, self._dataset = subject, model, dataset
        self._count = len(subject.batches(np.concatenate(subject.texts.rows)))
        apart = folder is not None and spreads() and model is not None and self._count > BATCHES
        known = subject.scores is None and isinstance(dataset, str | None)
        able = apart and known and not (subject.options.quick or isinstance(subject.model, Opaque))
        self.folder = (
            folder / _FOLDER / str(subject.options.batch_size) if able and folder is not None else None
        )

    def measure(
        self, audits: Sequence[Audit], *, predictions: bool, watcher: Watcher
    ) -> dict[str, pl.DataFrame]:
        """Give the rows of those audits that can be measured so."""
        if self.folder is None:
            return {}
        names = [audit.name for audit in audits if _in_shards(audit)]
        names = [PREDICTIONS, *names] if predictions else names
        firsts = range(0, self._count, BATCHES)
        lacking = {
            first: [n for n in names if not _file(self.folder, first, n).is_file()] for first in firsts
        }
        pieces = [
            Piece(
                f"batches {first + 1} to {min(first + BATCHES, self._count)}",
                measure_shard,
                {
                    "subject": {
                        "model": dict(self._model or {}),
                        "data": self._dataset,
                        "options": self._subject.options.model_dump(mode="json"),
                    },
                    "first": first,
                    "batches": BATCHES,
                    "audits": some,
                    "folder": str(self.folder),
                },
            )
            for first, some in lacking.items()
            if some
        ]
        if names:
            for outcome in share_out(pieces, title="Texts in shards", unit="shards", watcher=watcher):
                outcome.taken()
        return {name: self._joined(name, firsts) for name in names}

    def _joined(self, name: str, firsts: Sequence[int]) -> pl.DataFrame:
        assert self.folder is not None
        parts = [read_frame(_file(self.folder, first, name)) for first in firsts]
        return in_order(parts)

    def forget(self) -> None:
        """Remove them when their rows are kept elsewhere."""
        if self.folder is not None:
            shutil.rmtree(self.folder.parent, ignore_errors=True)


def measure_shard(config: Mapping[str, Any]) -> None:
    """Measure the batches of one shard, audit after audit, and write the rows of each."""
    subject = _subject(json.dumps(config["subject"]))
    rows, folder, first = np.concatenate(subject.texts.rows), Path(config["folder"]), config["first"]
    part = slice(first, first + config["batches"])
    for name in config["audits"]:
        if name == PREDICTIONS:
            frames = [predicted_rows(reading, subject) for reading in subject.readings(rows, part)]
        else:
            asked = AUDITS.get(name)(subject.options, source=subject.source, task=subject.classifier.task)
            asked.prepare(subject, QUIET)
            frames = [audit_rows(asked, reading, subject) for reading in subject.readings(rows, part)]
        write_frame(_file(folder, first, name), joined(frames))
    subject.let_go()


def _in_shards(audit: Audit) -> bool:
    """Whether it is prepared at no great cost: others train models or search before they measure, which is done once."""
    return not audit.only_named and not (
        "sensitivity" in audit.options and getattr(audit.config, "sensitivity", False)
    )


def _file(folder: Path, first: int, name: str) -> Path:
    return folder / f"{first:07}" / f"{name}.parquet"


@lru_cache(maxsize=1)
def _subject(named: str) -> Subject:
    """Load a model and its texts once for all shards that this process measures."""
    found = json.loads(named)
    options = build(AuditOptions, found["options"])
    classifier = find_model(**found["model"])
    return Subject(classifier, choose_texts(classifier, found["data"], options), options)
