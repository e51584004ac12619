"""Run audits one after the other; an interrupted run continues with the first that is not finished."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch

from heedful.audits.audit import AUDITS, Audit, Summary
from heedful.audits.policy import Policy, read_policy
from heedful.audits.running.estimate import say_how_long
from heedful.audits.running.finished import FinishedAudits
from heedful.audits.running.folders import (
    LOCK,
    audit_folder,
    check_same_audit,
    deciding_values,
    is_new,
    leave_nothing,
)
from heedful.audits.running.measured_rows import IN_BLOCKS, audit_rows, in_order, predicted_rows
from heedful.audits.running.preface import REACH, opening_remarks
from heedful.audits.running.result import OWN, PREDICTIONS, RESULT, About, AuditResult, read_findings
from heedful.audits.running.shards import Shards
from heedful.audits.subject.reading import Reading
from heedful.audits.subject.scope import Scope
from heedful.audits.subject.scores import Scores
from heedful.audits.subject.subject import Subject
from heedful.audits.subject.texts import Dataset, choose_texts
from heedful.audits.verdict import judge_findings
from heedful.checking import build
from heedful.config import AuditOptions, check_top_k
from heedful.errors import BadInput
from heedful.explainers.blocks import BLOCKS, LONG
from heedful.measures.performance import performance
from heedful.models.stages import Auditable, Opaque
from heedful.progress import QUIET, Watcher
from heedful.runs import Run
from heedful.storage import folder_for, write_json

ALWAYS = "sharpness"
_OF_BLOCKS = (
    "Leave-one-out of long texts is an estimate here: a block of neighbours is deleted together, and they share what that does, so "
    "that it tells blocks apart and not the words in them. --exact-leave-one-out deletes every word by itself."
)


def audit(
    classifier: Auditable,
    dataset: Dataset = None,
    *,
    only: Sequence[str] | None = None,
    policy: Path | str | None = None,
    folder: Path | None = None,
    keep: bool = False,
    scores: Scores | None = None,
    named: Mapping[str, Any] | None = None,
    watcher: Watcher = QUIET,
    **options: Any,
) -> AuditResult:
    """Run every audit, or `only` some, and judge by a policy.

    Finished audits are kept in the folder, or with `keep` in the model's own run, and not repeated; nor are
    those that were run with other values of options which they do not read. Where the model is `named` by arguments of
    `find_model`, other processes find it too, and texts can be audited in several places.
    """
    chosen = build(AuditOptions, usual_source(classifier, options, only=only, scored=scores is not None))
    rules = read_policy(policy)
    for name in only or ():
        AUDITS.get(name)
    with watcher.status("Reading the texts"):
        texts = choose_texts(classifier, dataset, chosen, scored=scores is not None)
        check_top_k(chosen, longest=int(texts.instances.tokens.items.max()))
        subject = Subject(classifier, texts, chosen, scores=scores)
        names = usual_audits(subject.scope) if only is None else _named(only, subject.scope)
        audits = [AUDITS.get(name)(chosen, source=subject.source, task=classifier.task) for name in names]
        for each in audits:
            each.check()
    if folder is None and not keep:
        return _mark_partial(
            _judged(rules, subject, _run(subject, audits, FinishedAudits(None), watcher=watcher)), rules, only
        )
    decides = deciding_values(classifier, texts, chosen, scores)
    folder = folder or audit_folder(classifier, texts, chosen, decides)
    run = Run(folder)
    check_same_audit(run, decides)
    new = is_new(folder)
    with folder_for(folder, lock=LOCK), run.locked():
        config = chosen.model_dump(mode="json") | decides
        run.begin(config, seed=chosen.seed, threads=torch.get_num_threads())
        finished = FinishedAudits(folder)
        if keep and classifier.home is not None:
            finished.take_from(sorted((classifier.home / "audits").glob("*/")), decides)
        shards = Shards(subject, folder, named, dataset)
        try:
            _run(subject, audits, finished, shards, watcher=watcher)
        except BadInput:
            if new and finished.summaries.keys() <= {ALWAYS}:  # nothing that was asked for is there
                leave_nothing(folder)
            raise
        result = _with_all_asked(_judged(rules, subject, finished), folder)
        write_json(folder / RESULT, result.to_json())
        shards.forget()
    return _mark_partial(result, rules, only)


def _mark_partial(result: AuditResult, rules: Policy, only: Sequence[str] | None) -> AuditResult:
    """Report findings and no verdict if only some audits were named, even if others were found finished."""
    return result if only is None else replace(result, verdict=result.judged(rules, partial=True))


def _with_all_asked(result: AuditResult, folder: Path) -> AuditResult:
    """Count what a function was asked for when this was measured, and not only what it was asked for to find it again."""
    if result.about.asked is None or not (folder / RESULT).is_file():
        return result
    before = read_findings(folder)[0].asked or 0
    return replace(result, about=result.about.model_copy(update={"asked": max(before, result.about.asked)}))


def _judged(rules: Policy, subject: Subject, finished: FinishedAudits) -> AuditResult:
    about = _about(subject, finished.frames[PREDICTIONS])
    verdict = judge_findings(
        rules,
        finished.summaries,
        source=subject.source,
        encoder=about.encoder,
        scope=about.scope,
        first=opening_remarks(about, finished.frames[ALWAYS], finished.frames.get(REACH)),
        partial=not finished.summaries.keys() >= set(usual_audits(subject.scope)),
        copies=about.copies,
    )
    # Always in the same order, whichever of them were found finished.
    done = [name for name in dict.fromkeys((ALWAYS, *AUDITS)) if name in finished.summaries]
    summaries = {name: finished.summaries[name] for name in done}
    frames = {name: finished.frames[name] for name in (PREDICTIONS, *done)}
    return AuditResult(about, verdict, summaries, frames, finished.folder)


def _named(only: Sequence[str], scope: Scope) -> list[str]:
    """Return the audits that were named, sharpness first; one that cannot be asked is bad input."""
    for name in only:
        if reason := AUDITS.get(name).refuses(scope):
            raise BadInput(f"{name} cannot be asked here: {reason}.")
    return list(dict.fromkeys((ALWAYS, *only)))


def usual_source(
    classifier: Auditable, options: dict[str, Any], *, only: Sequence[str] | None = None, scored: bool
) -> dict[str, Any]:
    """Audit leave-one-out where predictions alone are known and nobody says what else.

    So too where there is no attention and every audit that was named scores no word: sharpness, which is always told, needs
    scores of some kind.
    """
    if "source" in options or scored:
        return options
    unscored = bool(only) and not any(AUDITS.get(name).scores_words for name in only or ())
    if isinstance(classifier.model, Opaque) or (unscored and not classifier.model.has_attention):
        return options | {"source": "leave_one_out"}
    return options


def usual_audits(scope: Scope) -> list[str]:
    """Return the audits that a verdict needs, sharpness first: all that can be asked and need not be named."""
    kinds = {name: AUDITS.get(name) for name in AUDITS}
    able = [name for name, kind in kinds.items() if not kind.only_named and kind.refuses(scope) is None]
    return list(dict.fromkeys((ALWAYS, *able)))


def _run(
    subject: Subject,
    audits: list[Audit],
    finished: FinishedAudits,
    shards: Shards | None = None,
    *,
    watcher: Watcher,
) -> FinishedAudits:
    options = subject.options
    deadline = time.perf_counter() + options.budget
    todo = [audit for audit in audits if audit.name not in finished.summaries]
    kept = _kept_predictions(subject, finished)
    measured = {} if shards is None else shards.measure(todo, predictions=not kept, watcher=watcher)
    if PREDICTIONS in measured:
        finished.add_predictions(measured[PREDICTIONS])
    elif not kept:
        with watcher.bar(PREDICTIONS, subject.texts.size) as advance:
            finished.add_predictions(
                _collect(subject, lambda reading: predicted_rows(reading, subject), advance)
            )
    say_how_long(subject, [audit for audit in todo if audit.name not in measured], watcher)
    for place, asked in enumerate(todo):
        started = time.perf_counter()
        asked.prepare(subject, watcher)
        begun = time.perf_counter()
        deadline += begun - started  # the budget is for measuring; training twins has limits of its own
        # The remaining time is shared among the remaining audits.
        share = max(deadline - begun, 0) / (len(todo) - place)
        with watcher.bar(asked.name, subject.texts.size) as advance:
            until = begun + share if options.quick else None
            finished.add(*_measure(asked, subject, until, advance, measured.get(asked.name)))
    return finished


def _kept_predictions(subject: Subject, finished: FinishedAudits) -> bool:
    """Whether what a function said is there from before, for the same texts and labels; it is not asked again then."""
    kept = finished.kept_predictions() if isinstance(subject.model, Opaque) else None
    if kept is None:
        return False
    rows = np.sort(np.concatenate(subject.texts.rows))
    names, split = subject.classifier.labels, subject.texts.instances.split
    labels = [names[split.labels[row]] if subject.texts.labelled else None for row in rows]
    if kept["row"].to_list() != rows.tolist() or kept["label"].to_list() != labels:
        return False
    finished.frames[PREDICTIONS] = kept
    return True


def _measure(
    asked: Audit,
    subject: Subject,
    until: float | None,
    advance: Callable[[int], None],
    rows: pl.DataFrame | None = None,
) -> tuple[pl.DataFrame, Summary]:
    begun = time.perf_counter()
    if rows is None:
        rows = _collect(subject, lambda reading: audit_rows(asked, reading, subject), advance, until)
    summary = asked.summarise(rows)
    notes, caveats = summary.notes, summary.caveats
    if IN_BLOCKS in rows.columns:
        caveats = (*caveats, _OF_BLOCKS)
        notes = (
            *notes,
            f"In {rows[IN_BLOCKS].sum()} texts of more than {LONG:,} items leave-one-out deleted blocks of neighbours, {BLOCKS} in each text.",
        )
    if len(rows) < subject.texts.size:
        notes = (
            *notes,
            f"Stopped after {len(rows)} of {subject.texts.size} texts, drawn at random, to keep within "
            f"{subject.options.budget:g} seconds.",
        )
    seconds = round(time.perf_counter() - begun, 2)
    return rows, summary.model_copy(update={"notes": notes, "caveats": caveats, "seconds": seconds})


def _collect(
    subject: Subject,
    rows: Callable[[Reading], pl.DataFrame],
    advance: Callable[[int], None],
    until: float | None = None,
) -> pl.DataFrame:
    """Measure batch after batch, and return the rows in the order of the split; stop between chunks when time is up."""
    parts = []
    for chunk in subject.texts.rows:
        for reading in subject.readings(chunk):
            parts.append(rows(reading))
            advance(len(reading.rows))
        if until is not None and time.perf_counter() > until:
            break
    return in_order(parts)


def _distinct(predictions: pl.DataFrame) -> int:
    """Count the distinct texts, each with its question."""
    return predictions.select(
        column for column in ("text", "query") if column in predictions.columns
    ).n_unique()


def _about(subject: Subject, predictions: pl.DataFrame) -> About:
    classifier, texts = subject.classifier, subject.texts
    measured: dict[str, float] = {}
    majority = None
    if texts.labelled:
        labels = np.array([classifier.labels.index(label) for label in predictions["label"]], dtype=np.int64)
        measured = performance(labels, np.array(predictions["probabilities"].to_list()))
        majority = float(np.bincount(labels).max() / len(labels))
    return About(
        model=classifier.name,
        called=getattr(classifier, "called", ()),
        encoder=classifier.encoder,
        labels=classifier.labels,
        data=texts.name,
        texts=len(predictions),
        distinct=_distinct(predictions),
        source=OWN if subject.source == "own" else subject.source,
        scope=subject.scope,
        options=subject.options.model_dump(mode="json"),
        performance=measured,
        majority=majority,
        asked=subject.model.asked if isinstance(subject.model, Opaque) else None,
        notes=texts.notes,
    )
