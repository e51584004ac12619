"""A model and the texts it is audited on, read batch by batch, and only once if memory allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import torch

from heedful.audits.subject.reading import Reading, as_audited, read_batch
from heedful.audits.subject.scope import Scope
from heedful.audits.subject.scores import Scores, fit_scores, padded, read_scores
from heedful.audits.subject.texts import Texts, item_counts
from heedful.config import AuditOptions
from heedful.data.batches import inference_batches
from heedful.data.corpora.rows import has_known_suffix
from heedful.errors import BadInput
from heedful.explainers.explainer import check_access
from heedful.models.stages import Auditable, Layered, Stages, access_to

_KEEP = 1 << 27
"""How many numbers of states are kept between audits: half a gigabyte."""


_ALL = slice(None)


class Subject:
    """What is audited; `source` names whose scores are used in place of attention."""

    def __init__(
        self, classifier: Auditable, texts: Texts, options: AuditOptions, *, scores: Scores | None = None
    ) -> None:
        self.classifier, self.texts, self.options = classifier, texts, options
        self.source = options.source
        self.scores: list[list[float]] | None = None
        path = Path(options.source).expanduser()
        if scores is not None or has_known_suffix(path):
            self.source = "own"
            given = read_scores(path) if scores is None else scores
            where = "the list of scores" if scores is not None else str(path)
            counts = item_counts(classifier, texts.instances)
            self.scores = fit_scores(given, texts.instances, counts, where=where)
        elif self.source != "attention":
            check_access(self.source, classifier.model)
        self.model = _acting_on(as_audited(classifier.model), options)
        self.attacks: dict[str, pl.DataFrame] = {}
        """What attacks made of the texts, by what decides that."""
        evidence, rows = texts.instances.split.evidence, np.concatenate(texts.rows)
        self.scope = Scope(
            source=self.source,
            access=access_to(self.model),
            trained=classifier.home is not None and classifier.trained is not None,
            checkpoints=bool(getattr(options, "checkpoints", None)),
            rationales=evidence is not None and any(evidence[row] for row in rows),
            pairs=texts.instances.paired,
        )
        self._kept: dict[int, Reading] = {}
        self._room = _KEEP

    def batches(self, rows: np.ndarray) -> list[np.ndarray]:
        """Say which of these texts are read together."""
        return inference_batches(self.texts.instances.lengths[rows], self.options.batch_size)

    def readings(self, rows: np.ndarray, part: slice = _ALL) -> Iterator[Reading]:
        """Read these texts, or a part of their batches, or return how they were read before."""
        self.model.eval()
        for batch_rows in self.batches(rows)[part]:
            chosen = rows[batch_rows]
            yield self._kept.get(int(chosen[0])) or self._read(chosen)

    def let_go(self) -> None:
        """Forget how texts were read, before others are."""
        self._kept.clear()
        self._room = _KEEP

    def _read(self, rows: np.ndarray) -> Reading:
        batch = self.texts.instances.batch(rows)
        reading = read_batch(
            self.model, batch, seed=self.options.seed, exact=self.options.exact_leave_one_out
        )
        if self.scores is not None:
            scores = padded(self.scores, torch.from_numpy(rows), reading.mask)
            reading = replace(reading, user_scores=scores)
        size = reading.states.h.numel()
        if size <= self._room:
            self._room -= size
            self._kept[int(rows[0])] = reading
        return reading


def _acting_on(model: Stages, options: AuditOptions) -> Stages:
    """Give the stages in which other weights act where the user asks for it: in the last layer, or in all."""
    if options.layers == "last":
        return model
    if not isinstance(model, Layered):
        raise BadInput(
            "--layers all acts on every attention layer of a transformer, and this model has one layer of attention, or none: leave it out."
        )
    return model.in_every_layer()
