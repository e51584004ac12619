"""Where attention fails: which other explainers do better on the same model and texts, by the same policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console

from heedful.audits.result import AuditResult
from heedful.audits.running import audit
from heedful.models.classifier import Classifier

EXPLAINERS = ("gradient", "leave_one_out", "integrated_gradients")
SECONDS = 10.0
"""For each explainer: a sample is enough for advice, and says so."""


def try_others(
    classifier: Classifier,
    dataset: str | None,
    *,
    policy: Path | str | None = None,
    console: Console | None = None,
    **options: Any,
) -> list[AuditResult]:
    """Audit the usual explainers in the place of attention, quickly, and keep the audits in the model's run."""
    quick = {**options, "quick": True, "budget": SECONDS}
    return [
        audit(classifier, dataset, policy=policy, keep=True, console=console, **quick, source=name)
        for name in EXPLAINERS
    ]
