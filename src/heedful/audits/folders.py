"""Where the audit of a run is kept: inside the run, named by its texts and hashed by what decides its numbers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heedful.audits.texts import choose_texts
from heedful.config import AuditOptions, build
from heedful.errors import BadInput
from heedful.models.classifier import Classifier
from heedful.runs import identity

_NOT_IDENTITY = {"batch_size", "text_column", "query_column", "label_column"}
"""Options that change no number, or only through the texts, which are in the hash themselves."""


def audit_folder(classifier: Classifier, dataset: str | None, options: Mapping[str, Any]) -> Path:
    """Name the folder of an audit: the same for the same model, texts and options."""
    if classifier.run is None:
        raise BadInput("This model is not a run's: name a folder for its audit.")
    chosen = build(AuditOptions, options)
    texts = choose_texts(classifier, dataset, chosen)
    values = chosen.model_dump(mode="json", exclude=_NOT_IDENTITY)
    source = Path(chosen.source).expanduser()
    if source.is_file():
        values["source"] = hashlib.sha256(source.read_bytes()).hexdigest()
    values |= {"texts": texts.fingerprint, "model": _fingerprint(classifier)}
    slug = re.sub(r"[^A-Za-z0-9_.-]+", "-", texts.name).strip("-").lower()
    return classifier.run / "audits" / f"{slug}{'-quick' if chosen.quick else ''}-{identity(values)}"


def _fingerprint(classifier: Classifier) -> str:
    """Hash a model's weights."""
    digest = hashlib.sha256()
    for name, tensor in sorted(classifier.model.state_dict().items()):
        digest.update(name.encode() + tensor.contiguous().numpy().tobytes())
    return digest.hexdigest()
