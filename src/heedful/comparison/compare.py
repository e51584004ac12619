"""Audit several runs on the same texts, or find their audits finished, and set them side by side."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from heedful.audits.audit import AUDITS, of_attention_alone
from heedful.audits.running.run import ALWAYS, audit
from heedful.audits.subject.texts import choose_texts
from heedful.checking import build
from heedful.comparison.assembling import assemble
from heedful.comparison.compared_numbers import DEFAULT
from heedful.comparison.comparison import Comparison
from heedful.comparison.naming import Trained, describe
from heedful.config import AuditOptions
from heedful.data.corpora.rows import has_known_suffix
from heedful.errors import BadInput
from heedful.explainers.explainer import EXPLAINERS
from heedful.loading import find_model
from heedful.models.stages import Auditable
from heedful.progress import QUIET, Watcher


class _Read(NamedTuple):
    """What must be the same for all: checked before anything is measured or written."""

    model: Auditable
    folder: Path
    """Of its run; of another model, what it was named by."""
    data: str
    labels: tuple[str, ...]
    texts: str
    """A hash of all texts of the split, whichever are audited."""


def compare(
    runs: Sequence[str | Path],
    dataset: str | None = None,
    *,
    only: Sequence[str] | None = None,
    against: str | Path | None = None,
    by_method: bool | None = None,
    every_number: bool = False,
    root: Path = Path("runs"),
    watcher: Watcher = QUIET,
    **options: Any,
) -> Comparison:
    """Compare runs with the first vanilla one among them, or with `against`, on their own test split or another dataset.

    Runs that differ in their seed alone are one method, unless `by_method` is False or that would leave one method.
    """
    if not runs:
        raise BadInput("No run is given: name two or more to compare.")
    chosen = build(AuditOptions, options)
    audits = choose_audits(only, chosen)
    with watcher.status("Reading the texts"):
        read = [_read(run, dataset, chosen, root) for run in (*runs, *([against] if against else []))]
        models = {one.folder: one.model for one in read}
        folders = _distinct(read[: len(runs)])
        trained = [describe(folder) for folder in folders]
        reference = folders[_usual(trained)]
        if against:
            reference = _same(read[-1].folder, folders) or read[-1].folder
            if reference not in folders:
                folders, trained = [reference, *folders], [describe(reference), *trained]
        if len(folders) < 2:
            raise BadInput("Only one run is given: name two or more to compare.")
        for other in read[1:]:
            _refuse_unlike(read[0], other)
    results = []
    for place, folder in enumerate(folders, start=1):
        watcher.say(f"{place} of {len(folders)}: {folder.name}")
        results.append(audit(models[folder], dataset, only=audits, keep=True, watcher=watcher, **options))
    return assemble(
        results,
        trained,
        audits,
        reference=folders.index(reference),
        by_method=by_method,
        every=every_number,
        options=chosen,
    )


def _usual(trained: Sequence[Trained]) -> int:
    """Place of the run that others are naturally compared with: the first vanilla one, however a shell orders names."""
    return next((place for place, run in enumerate(trained) if run.options.get("objective") == "vanilla"), 0)


def choose_audits(only: Sequence[str] | None, options: AuditOptions) -> list[str]:
    """Which audits to run, sharpness always and first; without a choice, those that SEAT compares methods by."""
    if has_known_suffix(Path(options.source).expanduser()):
        raise BadInput(
            "Scores of a file belong to no model, so that there is nothing to compare: choose attention or an explainer as --source."
        )
    other = options.source != "attention"
    if other:
        EXPLAINERS.get(options.source)
    for name in only or ():
        AUDITS.get(name)
    asked = only or [name for name in DEFAULT if not (other and of_attention_alone(name))]
    return list(dict.fromkeys((ALWAYS, *asked)))


def _read(run: str | Path, dataset: str | None, options: AuditOptions, root: Path) -> _Read:
    classifier: Auditable = find_model(run, runs=root, data=dataset)
    folder = (
        Path(run) if classifier.home is None or classifier.home.name != classifier.name else classifier.home
    )
    try:
        texts = choose_texts(classifier, dataset, options)
    except BadInput as error:
        raise BadInput(f"{folder.name}: {error}") from None
    digest = hashlib.sha256()
    for part in (*texts.instances.split.texts, *(texts.instances.split.queries or ())):
        content = part.encode("utf-8")
        digest.update(len(content).to_bytes(8, "little") + content)
    return _Read(classifier, folder, texts.name, classifier.labels, digest.hexdigest())


def _distinct(read: Sequence[_Read]) -> list[Path]:
    found: list[Path] = []
    for one in read:
        if _same(one.folder, found):
            raise BadInput(f"{one.folder} is given twice: name each run once.")
        found.append(one.folder)
    return found


def _same(folder: Path, others: Sequence[Path]) -> Path | None:
    return next((other for other in others if other.resolve() == folder.resolve()), None)


def _refuse_unlike(one: _Read, other: _Read) -> None:
    if one.labels != other.labels:
        raise BadInput(
            f"{one.folder.name} and {other.folder.name} have different labels ({_few(one.labels)}; {_few(other.labels)}): "
            f"compare models of the same task."
        )
    if one.texts != other.texts:
        raise BadInput(
            f"{one.folder.name} and {other.folder.name} would be read on different texts ({one.data}; {other.data}): "
            f"name one dataset for all with --data."
        )


def _few(labels: Sequence[str]) -> str:
    return ", ".join(labels[:4]) + (", …" if len(labels) > 4 else "")
