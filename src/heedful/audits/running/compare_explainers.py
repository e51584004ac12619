"""If attention may not simply be shown: attention and the usual explainers on one sample of texts, by the same rules.

Every column is of the same texts: a text for which a measure is undefined for one explainer is left out for all of them.
Every column has the same rules: a rule that does not apply to all, or that would compare an explainer with itself, is
left out for all of them, and the result says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import torch

from heedful.audits.audit import AUDITS, Audit, Number, Summary, of_attention_alone
from heedful.audits.policy import Policy, Rule, read_policy
from heedful.audits.questions.sensitivity import sample
from heedful.audits.running.alternatives import (
    SCORES,
    Alternatives,
    Column,
    measured_file,
    more_is_better,
    share_of_range,
)
from heedful.audits.running.result import PREDICTIONS, AuditResult, read_frame, write_frame
from heedful.audits.subject.ragged import ragged
from heedful.audits.subject.reading import Reading
from heedful.audits.subject.scope import Scope
from heedful.audits.subject.subject import Subject
from heedful.audits.subject.texts import Texts, choose_texts
from heedful.audits.verdict import judge_findings
from heedful.checking import build
from heedful.config import AuditOptions
from heedful.errors import BadInput, Unanswerable
from heedful.models.stages import Auditable, Layered
from heedful.progress import QUIET, Watcher
from heedful.runs import Run

EXPLAINERS = ("gradient", "leave_one_out", "integrated_gradients")
OF_LAYERS = ("attention_gradient", "rollout", "gradient_rollout", "value_zeroing", "knockout")
"""What else is proposed, and shown, of a transformer's attention."""

TEXTS, TOKENS, PIECES = 300, 25_000, 8_000
"""Largest size of the sample, if nobody asks for another; pieces are a transformer's tokens, which take longer to read."""

_BY_DEFINITION = ("rationale.first_share",)
"""Leave-one-out finds the single word whose deletion loses most by its definition."""

Asked = dict[str, dict[str, Audit]]
"""By the source of the scores, and then by the audit's name."""


def compare_explainers(
    result: AuditResult,
    classifier: Auditable,
    dataset: str | None = None,
    *,
    policy: Path | str | None = None,
    many: int | None = None,
    watcher: Watcher = QUIET,
    **options: Any,
) -> Alternatives | None:
    """Compare attention with the usual explainers on a sample of the audited texts, and save it with the audit.

    The sample has so `many` texts, however long they are; without it, as many as are read in reasonable time. None if no rule
    of the policy applies to all of them. What was measured before is not measured again.
    """
    if many is not None and many < 1:
        raise BadInput("A comparison needs at least one text (--instead-texts).")
    chosen = build(AuditOptions, options | {"sensitivity": False, "source": "attention"})
    rules = read_policy(policy)
    sources = (*EXPLAINERS, *(OF_LAYERS if isinstance(classifier.model, Layered) else ()))
    common, left_out = _common(rules, chosen, sources)
    if not any(more_is_better(rule) for rule in common):
        return None
    with watcher.status("Reading the texts"):
        texts = choose_texts(classifier, dataset, chosen)
        audited = np.array(result.frames[PREDICTIONS]["row"])
        rows = _sample(classifier, texts, audited, seed=chosen.seed, many=many)
        silent = _silent(Subject(classifier, texts._replace(rows=[rows[:1]]), chosen), sources)
    names = dict.fromkeys(rule.audit for rule in common)
    asked: Asked = {
        source: {name: AUDITS.get(name)(chosen, source=source, task=classifier.task) for name in names}
        for source in ("attention", *sources)
        if source not in silent
    }
    frames = _found(result.folder, asked, rows)
    if frames is None:
        frames = _measure(Subject(classifier, texts._replace(rows=[rows]), chosen), asked, watcher)
    measured = [rule for rule in common if all(rule.measure in frame.columns for frame in frames.values())]
    left_out |= {rule.measure: "it is not measured text by text" for rule in common if rule not in measured}
    if not any(more_is_better(rule) for rule in measured):
        return None
    found = Alternatives(
        texts=len(rows),
        of=len(audited),
        seed=chosen.seed,
        left_out=left_out,
        silent=silent,
        columns=_columns(rules, measured, asked, _of_the_same_texts(frames, measured)),
    )
    if (folder := result.folder) is not None:
        with Run(folder).locked():
            for source, frame in frames.items():
                write_frame(measured_file(folder, source), frame)
            found.save(folder)
    return found


def _common(
    rules: Policy, options: AuditOptions, sources: Sequence[str]
) -> tuple[list[Rule], dict[str, str]]:
    """Return the rules that apply to attention and to every explainer, and why others do not."""
    common, left_out = [], {}
    for rule in rules.rules:
        kind = AUDITS.get(rule.audit)
        if rule.optional:
            continue
        if of_attention_alone(rule.audit):
            left_out[rule.measure] = "it asks about attention itself"
        elif kind.only_named or kind.refuses(Scope(source="own")):  # it trains, or scores changed texts
            left_out[rule.measure] = "it takes too long for a comparison"
        elif rule.measure in _BY_DEFINITION or any(
            _with_itself(kind(options, source=source), rule) for source in sources
        ):
            left_out[rule.measure] = "it would compare an explainer with itself"
        else:
            common.append(rule)
    return common, left_out


def _with_itself(asked: Audit, rule: Rule) -> bool:
    """Whether a number measures the agreement of scores with themselves."""
    pairs: dict[str, tuple[str, str]] = getattr(asked, "pairs", {})
    return any(
        one == other and rule.number in (name, f"{name}_significant", f"{name}_top")
        for name, (one, other) in pairs.items()
    )


def _sample(
    classifier: Auditable, texts: Texts, rows: np.ndarray, *, seed: int, many: int | None
) -> np.ndarray:
    lengths = texts.instances.lengths[rows]
    if many is not None:
        return sample(rows, lengths, texts=many, tokens=int(lengths.sum()), seed=seed)
    return sample(rows, lengths, texts=TEXTS, tokens=PIECES if classifier.model.slow else TOKENS, seed=seed)


def _silent(subject: Subject, sources: Sequence[str]) -> dict[str, str]:
    """Ask each explainer of layers about one text, and say why it cannot be asked of this network, where it cannot."""
    (reading,) = subject.readings(subject.texts.rows[0])
    reasons = {}
    for source in sources:
        if source in OF_LAYERS:
            try:
                reading.scores(source)
            except Unanswerable as error:
                reasons[source] = error.reason
    return reasons


def _found(folder: Path | None, asked: Asked, rows: np.ndarray) -> dict[str, pl.DataFrame] | None:
    """Return what was measured before on the same texts, if all of it is there."""
    frames = {}
    for source, audits in asked.items():
        if folder is None or not measured_file(folder, source).is_file():
            return None
        try:
            frame = read_frame(measured_file(folder, source))
            if frame["row"].to_list() != rows.tolist() or SCORES not in frame.columns:
                return None
            if any(set(frame[_revision(name)]) != {audit.revision} for name, audit in audits.items()):
                return None  # measured by an audit whose numbers meant something else
        except (BadInput, pl.exceptions.ColumnNotFoundError):
            return None  # damaged: measured again
        frames[source] = frame
    return frames


def _measure(subject: Subject, asked: Asked, watcher: Watcher) -> dict[str, pl.DataFrame]:
    """Ask every audit about attention and every explainer, batch by batch, so that each text is scored once."""
    for audits in asked.values():
        for audit in audits.values():
            audit.prepare(subject, watcher)
    parts: dict[str, list[pl.DataFrame]] = {source: [] for source in asked}
    with watcher.bar("other explainers", subject.texts.size) as advance:
        for reading in subject.readings(subject.texts.rows[0]):
            for source, audits in asked.items():
                parts[source].append(_rows(reading, source, audits, subject.classifier.labels))
            advance(len(reading.rows))
    return {source: pl.concat(part, how="vertical_relaxed").sort("row") for source, part in parts.items()}


def _rows(reading: Reading, source: str, audits: dict[str, Audit], labels: tuple[str, ...]) -> pl.DataFrame:
    """Measure a batch; the scores themselves are kept too, to be drawn beside attention."""
    columns: dict[str, Any] = {
        "row": reading.rows.tolist(),
        "predicted": [labels[i] for i in reading.probabilities.argmax(-1).tolist()],
        "items": reading.mask.sum(1).tolist(),
        SCORES: ragged(reading.scores(source), reading.mask),
    }
    for name, audit in audits.items():
        columns[_revision(name)] = [audit.revision] * len(reading.rows)
        for column, values in audit.rows(reading).items():
            columns[f"{name}.{column}"] = values.numpy() if isinstance(values, torch.Tensor) else values
    return pl.DataFrame(columns, schema_overrides={SCORES: pl.List(pl.Float32)})


def _revision(audit: str) -> str:
    return f"{audit}.revision"


def _of_the_same_texts(frames: dict[str, pl.DataFrame], common: list[Rule]) -> dict[str, pl.DataFrame]:
    """Leave out of each measure the texts for which it is undefined for attention or any explainer."""
    same = dict(frames)
    for measure in dict.fromkeys(rule.measure for rule in common):
        values = {source: frame[measure].cast(pl.Float64).to_numpy() for source, frame in frames.items()}
        everywhere = np.logical_and.reduce([np.isfinite(measured) for measured in values.values()])
        for source, measured in values.items():
            column = pl.Series(measure, np.where(everywhere, measured, np.nan))
            same[source] = same[source].with_columns(column)
    return same


def _columns(
    rules: Policy, common: list[Rule], asked: Asked, frames: dict[str, pl.DataFrame]
) -> tuple[Column, ...]:
    """Judge attention and every explainer by the common rules."""
    policy = rules.model_copy(update={"rules": tuple(common)})
    columns = []
    for source, audits in asked.items():
        judged = judge_findings(policy, _summaries(frames[source], audits), source=source)
        gain = None if source == "attention" else _gain(frames, source, common, audits)
        in_order = sorted(judged.judgements, key=lambda judgement: common.index(judgement.rule))
        columns.append(Column(source=source, verdict=judged.verdict, judgements=tuple(in_order), gain=gain))
    return tuple(columns)


def _summaries(frame: pl.DataFrame, audits: dict[str, Audit]) -> dict[str, Summary]:
    found = {}
    for name, audit in audits.items():
        own = {c: c.removeprefix(f"{name}.") for c in frame.columns if c.startswith(f"{name}.")}
        found[name] = audit.summarise(frame.select("row", "predicted", "items", *own).rename(own))
    return found


def _gain(
    frames: dict[str, pl.DataFrame], source: str, common: list[Rule], audits: dict[str, Audit]
) -> Number:
    """How much better than attention an explainer does, averaged over the rules text by text."""
    rules = [rule for rule in common if more_is_better(rule)]
    own, attention = (
        np.mean([share_of_range(rule, frames[name][rule.measure].to_numpy()) for rule in rules], axis=0)
        for name in (source, "attention")
    )
    return audits[rules[0].audit].number("gain", own - attention)
