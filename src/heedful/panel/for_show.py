"""Train a model whose attention may be shown: the cheapest that passes on dev, its verdict on test, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from heedful.audits.running.result import AuditResult
from heedful.audits.running.run import audit
from heedful.audits.verdict import Word
from heedful.checking import read_yaml
from heedful.errors import BadInput
from heedful.models.classifier import Classifier
from heedful.progress import QUIET, Watcher
from heedful.runs import Run
from heedful.training.objectives.objective import OBJECTIVES
from heedful.training.train import resolve, train

ORDINARY: Mapping[str, Any] = {"encoder": "bilstm", "objective": "vanilla"}
"""The model that comes first, and that teaches the other where it does not pass."""

RECIPE: Mapping[str, Any] = {"encoder": "pointer", "objective": "erasure"}
"""A BiLSTM points and words speak for themselves, trained so that deleting a word does what its weight says."""

TEXTS = 1000
"""Dev texts, at most, that a choice between two models is made on."""

MOST = 0.02
"""Of the figure on dev: a model that may be shown with a caveat is not given up for one that costs more."""

WORTH_A_WORD = 1.0
"""Points on test beyond which the other choice is named."""

_BEST_FIRST: tuple[Word, ...] = ("show", "show with caveat", "not enough evidence", "do not show")


class ForShow(NamedTuple):
    """A model made for show, its audit on test, and the ordinary model beside it, which it may be itself."""

    classifier: Classifier
    result: AuditResult
    ordinary: Classifier

    def __repr__(self) -> str:
        return f"ForShow: {self.result.verdict}. {self.cost()}"

    def _repr_html_(self) -> str:
        """What a notebook shows: the audit, and what was given up."""
        from heedful.output.notebook import output, paragraph

        return output(paragraph(self.cost())) + self.result._repr_html_()

    def cost(self) -> str:
        """Say what was given up, in test figures."""
        if self.classifier.run == self.ordinary.run:
            return "It is an ordinary BiLSTM: nothing was given up."
        ours, theirs = (_metrics(c)["test"] for c in (self.classifier, self.ordinary))
        name = _figure(self.classifier)
        change = 100 * (ours[name] - theirs[name])
        figures = (
            f"Test {'F1' if name == 'f1' else 'macro F1'} is {ours[name]:.3f}, that of an ordinary BiLSTM of the same "
            f"options {theirs[name]:.3f}: {change:+.1f} points."
        )
        if round(change, 1) >= -WORTH_A_WORD:
            return figures
        return f"{figures} If that is too much, the ordinary one is the other choice: {self.ordinary.run}"


def train_for_show(
    values: Mapping[str, Any], *, file: Path | None = None, runs: Path, watcher: Watcher = QUIET
) -> ForShow:
    """Train an ordinary model; unless it may be shown as it is, train another, taught by it. The better one is audited.

    Dev texts decide what is tried and chosen; the test texts are read once, for the verdict.
    """
    given = {**(read_yaml(file) if file else {}), **values}
    for name in RECIPE:
        if values.get(name) is not None:
            raise BadInput(f"--for-show chooses the {name} itself: leave out --{name}.")
    rest = {name: value for name, value in given.items() if name not in RECIPE}
    # What the second model cannot be is said before the first is trained.
    OBJECTIVES.get(str(RECIPE["objective"])).check(resolve({**rest, **RECIPE}), classes=2)
    watcher.say("An ordinary BiLSTM comes first: it may do, and it can teach another.")
    ordinary = train(resolve({**rest, **ORDINARY}), runs=runs, watcher=watcher)
    chosen, answer = ordinary, _on_dev(ordinary, watcher)
    if answer != "show":
        watcher.say(f"On dev it is: {answer}. A model made for show is taught by it.")
        made = train(resolve({**rest, **RECIPE, "base": str(ordinary.run)}), runs=runs, watcher=watcher)
        chosen = _better((ordinary, answer), (made, _on_dev(made, watcher)))
    return ForShow(chosen, audit(chosen, keep=True, watcher=watcher), ordinary)


def _on_dev(classifier: Classifier, watcher: Watcher) -> Word:
    """Ask for the verdict on dev texts; it is not kept, so that it is not mistaken for the model's own."""
    return audit(classifier, split="dev", limit=TEXTS, watcher=watcher).verdict.verdict


def _better(ordinary: tuple[Classifier, Word], made: tuple[Classifier, Word]) -> Classifier:
    """Give the model with the better answer, and of two with the same the one that classifies better.

    An ordinary model that may be shown with a caveat stays where the other costs too much.
    """
    figures = [_metrics(model)["dev"][_figure(model)] for model, _ in (ordinary, made)]
    if ordinary[1] == "show with caveat" and figures[1] < figures[0] - MOST:
        return ordinary[0]
    standings = [
        (_BEST_FIRST.index(answer), -figure)
        for (_, answer), figure in zip((ordinary, made), figures, strict=True)
    ]
    return made[0] if standings[1] < standings[0] else ordinary[0]


def _figure(classifier: Classifier) -> str:
    return "f1" if len(classifier.labels) == 2 else "macro_f1"


def _metrics(classifier: Classifier) -> dict[str, Any]:
    assert classifier.run is not None
    return Run(classifier.run).metrics()
