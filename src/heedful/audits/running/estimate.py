"""How long audits of long texts will take, from a probe of a few texts: told before they start."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from heedful.audits.audit import Audit
from heedful.audits.subject.reading import read_batch
from heedful.audits.subject.scores import padded
from heedful.audits.subject.subject import Subject
from heedful.progress import QUIET, Watcher

WORTH_TELLING = 100_000
"""Tokens of all texts together, from which on the time is estimated."""

PROBE = 2_000
"""Tokens of the texts that are measured for it; one text at least, of middling length."""


def say_how_long(subject: Subject, audits: Sequence[Audit], watcher: Watcher) -> None:
    """Measure a few texts, and say how long all will take; of few or short texts, nothing.

    Every audit that runs without being named takes time in proportion to the length of texts, or less. Those that train
    or attack say by themselves how long that takes.
    """
    rows = np.concatenate(subject.texts.rows)
    lengths = subject.texts.instances.lengths[rows]
    probed = [audit for audit in audits if not audit.only_named]
    if int(lengths.sum()) < WORTH_TELLING or not probed or subject.options.quick:
        return
    chosen = middling(lengths)
    with watcher.status("Estimating how long this takes"):
        seconds = _measured(subject, probed, rows[chosen])
    whole = seconds * float(lengths.sum()) / float(lengths[chosen].sum())
    watcher.say(
        f"{len(rows):,} texts with {int(lengths.sum()):,} words or pieces: about {_spelled(whole)}, by a probe of {len(chosen)}."
    )


def middling(lengths: np.ndarray) -> np.ndarray:
    """Choose texts of middling length, as many as fit the probe.

    >>> middling(np.array([10, 5000, 900, 700, 800])).tolist()
    [2, 4]
    """
    order = np.argsort(np.abs(lengths - np.median(lengths)), kind="stable")
    fits = max(1, int(np.searchsorted(lengths[order].cumsum(), PROBE, side="right")))
    return np.sort(order[:fits])


def _measured(subject: Subject, audits: Sequence[Audit], rows: np.ndarray) -> float:
    """Ask every audit about these texts, as they will be asked about all."""
    options = subject.options
    begun = time.perf_counter()
    subject.model.eval()
    batch = subject.texts.instances.batch(rows)
    reading = read_batch(subject.model, batch, seed=options.seed, exact=options.exact_leave_one_out)
    if subject.scores is not None:
        reading = replace(reading, user_scores=padded(subject.scores, reading.rows, reading.mask))
    for audit in audits:
        config = audit.config.model_copy(
            update={"sensitivity": False}
        )  # of a sample, however many texts there are
        again = type(audit)(config, source=audit.source, task=audit.task)
        again.prepare(subject, QUIET)
        again.rows(reading)
    return time.perf_counter() - begun


def _spelled(seconds: float) -> str:
    if seconds < 90:
        return f"{max(2, round(seconds))} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
