"""What a reader of a comparison should know before believing it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heedful.audits.running.result import PREDICTIONS, AuditResult
from heedful.comparison.compared_numbers import ComparedNumber
from heedful.comparison.comparison import Entry
from heedful.comparison.naming import Trained, hidden

_EMBEDDINGS = ("encoder", "vectors", "embedding_size", "train_embeddings", "dataset")


def remarks(
    results: Sequence[AuditResult],
    trained: Sequence[Trained],
    entries: Sequence[Entry],
    chosen: Sequence[ComparedNumber],
    paired: Sequence[ComparedNumber],
    kept: Mapping[str, int],
) -> tuple[str, ...]:
    """Say how intervals were made, which texts were left out, and which numbers compare badly."""
    sentences = [_intervals(entries)]
    most = max(result.about.texts for result in results)
    if kept[PREDICTIONS] < most:
        sentences.append(
            f"Only the {kept[PREDICTIONS]:,} texts that all runs were audited on count; one had {most:,}."
        )
    for audit, count in kept.items():
        if audit != PREDICTIONS and count < kept[PREDICTIONS]:
            sentences.append(f"{audit} is of the {count:,} texts that it reached for every run.")
    if alone := [f"{c.audit}.{c.number}" for c in chosen if c not in paired]:
        sentences.append(
            f"No single text has a value of {', '.join(alone)}: a difference has no interval, and nothing is called tied."
        )
    if also := hidden(trained, [entry.name for entry in entries]):
        sentences.append(
            f"The runs differ in more than their names say ({', '.join(also)}): a difference may come from that."
        )
    unlike = {tuple(repr(run.options.get(name)) for name in _EMBEDDINGS) for run in trained}
    if len(unlike) > 1 and any(c.number == "sensitivity" for c in chosen):
        sentences.append(
            "Sensitivity is in units of the embeddings, which differ between these runs: do not compare it."
        )
    notes = dict.fromkeys(note for result in results for note in result.about.notes)
    return (*sentences, *notes)


def _intervals(entries: Sequence[Entry]) -> str:
    most = max(len(entry.runs) for entry in entries)
    if most == 1:
        return "Intervals (95 %) come from drawing the texts anew, the same for all runs; they do not speak of other seeds."
    counts = {len(entry.runs) for entry in entries}
    return (
        "Intervals (95 %) speak of other seeds and other texts: Student's over the seeds of each method (paired where two methods "
        "have the same seeds), widened by what texts do that are drawn anew, the same for all."
        + (" Two seeds give no interval over seeds: train a third." if 2 in counts else "")
        + (" The interval of a method with one seed speaks of texts alone." if 1 in counts else "")
    )
