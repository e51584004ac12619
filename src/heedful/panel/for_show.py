"""Train a model whose attention may be shown: the recipe that did best, its verdict, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from heedful.audits.result import AuditResult
from heedful.audits.running import audit
from heedful.config import read_yaml
from heedful.errors import BadInput
from heedful.models.classifier import Classifier
from heedful.runs import Run
from heedful.training.objectives import OBJECTIVES
from heedful.training.train import resolve, train

ORDINARY: Mapping[str, Any] = {"encoder": "bilstm", "objective": "vanilla"}
"""The model that it is compared with, and that teaches it."""

RECIPE: Mapping[str, Any] = {"encoder": "pointer", "objective": "erasure"}
"""A BiLSTM points and words speak for themselves, trained so that deleting a word does what its weight says."""


class ForShow(NamedTuple):
    """A model made for show, what became of it, and the ordinary model beside it."""

    classifier: Classifier
    result: AuditResult
    ordinary: Classifier

    def cost(self) -> str:
        """Say what was given up, in test figures."""
        ours, theirs = (Run(_run(c)).metrics()["test"] for c in (self.classifier, self.ordinary))
        name, spelled = (
            ("f1", "F1") if "f1" in ours and len(self.classifier.labels) == 2 else ("macro_f1", "macro F1")
        )
        change = 100 * (ours[name] - theirs[name])
        return (
            f"Test {spelled} is {ours[name]:.3f}, that of an ordinary BiLSTM of the same options {theirs[name]:.3f}: "
            f"{change:+.1f} points."
        )


def train_for_show(
    values: Mapping[str, Any], *, file: Path | None = None, runs: Path, console: Console | None = None
) -> ForShow:
    """Train an ordinary model and, taught by it, one made for show; then audit that one whole."""
    given = {**(read_yaml(file) if file else {}), **values}
    for name in RECIPE:
        if values.get(name) is not None:
            raise BadInput(f"--for-show chooses the {name} itself: leave out --{name}.")
    console = console or Console(quiet=True)
    rest = {name: value for name, value in given.items() if name not in RECIPE}
    # What the second model cannot be is said before the first is trained.
    OBJECTIVES.get(str(RECIPE["objective"])).check(resolve({**rest, **RECIPE}), classes=2)
    console.print(
        "An ordinary model comes first: it teaches the other, and tells what it costs.", soft_wrap=True
    )
    ordinary = train(resolve({**rest, **ORDINARY}), runs=runs, console=console)
    config = resolve({**rest, **RECIPE, "base": str(ordinary.run)})
    classifier = train(config, runs=runs, console=console)
    return ForShow(classifier, audit(classifier, keep=True, console=console), ordinary)


def _run(classifier: Classifier) -> Path:
    assert classifier.run is not None
    return classifier.run
