"""Where the audit of a run is saved: inside the run, named by its texts and by a hash of all that its numbers depend on."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from heedful.audits.audit import AUDITS
from heedful.audits.subject.scores import Scores
from heedful.audits.subject.texts import Texts
from heedful.config import AuditOptions
from heedful.content import by_content
from heedful.declared import complete
from heedful.errors import BadInput
from heedful.models.stages import Auditable
from heedful.runs import Run, identity

LOCK = ".lock"

_NOT_IDENTITY = {"batch_size", "text_column", "query_column", "label_column", "skip_bad_rows"}
"""Options that change no number, or only through the texts, which are in the hash themselves."""
_FILES = ("source", "synonyms", "attack_vectors", "attack_synonyms", "attack_sememes")
_MODELS = ("attack_language_model",)
"""Options that may name a file, or the folder of a model."""


def audit_folder(
    classifier: Auditable, texts: Texts, options: AuditOptions, decides: Mapping[str, Any]
) -> Path:
    """Name the folder of an audit: the same for the same model, texts and options.

    Options at their defaults are not in the name, so that an option added later does not rename anything.
    """
    if classifier.home is None:
        raise BadInput("This model does not belong to a run: name a folder for its audit.")
    slug = re.sub(r"[^A-Za-z0-9_.-]+", "-", texts.name).strip("-").lower()
    usual = options.model_dump(mode="json", exclude_defaults=True)
    deciding = {
        key: value
        for key, value in decides.items()
        if key in usual or key not in complete(AuditOptions).model_fields
    }
    if (
        classifier.home.name != classifier.name
    ):  # no run of its own: several models may be audited beside the same data
        slug = f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', classifier.name).strip('-').lower()}-{slug}"
    return classifier.home / "audits" / f"{slug}{'-quick' if options.quick else ''}-{identity(deciding)}"


def is_new(folder: Path) -> bool:
    """Whether nothing was kept in a folder yet."""
    return not folder.is_dir() or {path.name for path in folder.iterdir()} <= {LOCK}


def leave_nothing(folder: Path) -> None:
    """Delete what an audit has written that came to nothing; its lock goes with the folder, when it is let go."""
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != LOCK:
            path.unlink()


def deciding_values(
    classifier: Auditable, texts: Texts, options: AuditOptions, scores: Scores | None = None
) -> dict[str, Any]:
    """Collect everything that an audit's numbers depend on, long parts as hashes."""
    values = files_by_content(options.model_dump(mode="json", exclude=_NOT_IDENTITY))
    if scores is not None:
        values["source"] = identity(
            {"scores": [np.asarray(row, dtype=np.float64).tolist() for row in scores]}
        )
    return values | {"texts": texts.fingerprint, "model": classifier.fingerprint()}


def files_by_content(values: Mapping[str, Any]) -> dict[str, Any]:
    """Put what files and models hold in the place of their paths: the same for the same content, on any machine."""
    return by_content(by_content(values, _FILES, folders=False), _MODELS)


def same_numbers(audit: str, decides: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """Whether an audit saved under other options would give the same numbers: options that it does not read may differ."""
    others = {name for other in AUDITS for name in AUDITS.get(other).options}
    read = set(decides) - (others - set(AUDITS.get(audit).options))
    usual = complete(AuditOptions)().model_dump(mode="json")
    return all(found.get(key, usual.get(key)) == decides[key] for key in read)


def check_same_audit(run: Run, decides: Mapping[str, Any]) -> None:
    """Refuse a folder in which other texts, another model or other options were audited."""
    if not (run.folder / "config.yaml").is_file():
        return
    found = run.config()
    if other := [key for key, value in decides.items() if found.get(key, value) != value]:
        raise BadInput(
            f"{run.folder} holds another audit ({', '.join(other)} differ): choose another folder or delete it."
        )
