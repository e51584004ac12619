"""Find a trained classifier again, by folder or by name."""

from __future__ import annotations

from pathlib import Path

from heedful.errors import BadInput, did_you_mean
from heedful.models.classifier import Classifier
from heedful.runs import list_runs


def load(run: str | Path, *, runs: str | Path = "runs") -> Classifier:
    """Load the classifier of a run, or any folder that `save_pretrained` wrote."""
    for folder in (Path(run).expanduser(), Path(runs) / run):
        if folder.is_dir():
            return Classifier.from_pretrained(folder)
    names = [found.name for found in list_runs(Path(runs))]
    hint = did_you_mean(Path(run).name, names) if names else "train one with heedful train."
    raise BadInput(f"There is no run {str(run)!r}: {hint}")
