"""Find a trained classifier by folder or by name."""

from __future__ import annotations

from pathlib import Path

from heedful.errors import BadInput, did_you_mean
from heedful.models.classifier import WEIGHTS, Classifier
from heedful.runs import Run, list_runs


def load(run: str | Path, *, runs: str | Path = "runs") -> Classifier:
    """Load the classifier of a run, or any folder that `save_pretrained` wrote."""
    for folder in (Path(run).expanduser(), Path(runs) / run):
        if folder.is_dir():
            _check_finished(Run(folder))
            return Classifier.from_pretrained(folder)
    names = [found.name for found in list_runs(Path(runs))]
    hint = did_you_mean(Path(run).name, names) if names else "train one with heedful train."
    raise BadInput(f"There is no run {str(run)!r}: {hint}")


def _check_finished(run: Run) -> None:
    config = run.folder / "config.yaml"
    if config.is_file() and not run.complete and not (run.folder / WEIGHTS).is_file():
        raise BadInput(
            f"{run.folder} is unfinished: heedful train --config {config} --runs {run.folder.parent} continues it."
        )
