"""What to do now: what was not asked yet, what may be shown instead, and how neighbours fare."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from heedful.audits.audit import AUDITS
from heedful.audits.result import read_findings
from heedful.errors import BadInput
from heedful.explainers.explainer import EXPLAINERS
from heedful.report.finding import audits_of
from heedful.report.material import Material
from heedful.training.objectives import OBJECTIVES

_NEIGHBOURS = 20
_INSTEAD = "integrated_gradients"
_BETTER = "steady"
_WORDING = "This picture shows where the model looked. It is not the reason for its decision."


class Step(NamedTuple):
    """One thing to do, with the command for it."""

    title: str
    text: str
    command: str = ""


class Neighbour(NamedTuple):
    """Another audit of the same model, or of another model on the same texts."""

    model: str
    objective: str
    source: str
    data: str
    verdict: str
    same_model: bool


def not_run(material: Material) -> list[str]:
    """Audits that could be asked of these scores on any texts, and were not."""
    other, own = material.source != "attention", material.source == "own"
    known = [(name, AUDITS.get(name)) for name in AUDITS if name not in material.summaries]
    return [n for n, a in known if not (a.wants or (other and a.of_weights) or (own and a.renews))]


def steps(material: Material, near: Sequence[Neighbour]) -> list[Step]:
    """Say what to do, by the verdict and by what is there."""
    run = shlex.quote(str(material.run or material.about.model))
    found = list(_by_verdict(material, near, run))
    if missing := not_run(material):
        questions = " ".join(
            f"{name.replace('_', ' ').capitalize()}: {AUDITS.get(name).question}" for name in missing
        )
        source = {"attention": "", "own": " --source FILE"}.get(
            material.source, f" --source {material.source}"
        )
        found.append(Step("Ask what was not asked", questions, f"heedful audit {run}{source} --only {','.join(missing)}"))  # fmt: skip
    return found


def neighbours(material: Material) -> list[Neighbour]:
    """Find other audits beside this one; damaged ones are passed over, since they are not what was asked for."""
    if material.run is None:
        return []
    folders = [*audits_of(material.run)]
    folders += [f for run in sorted(material.run.parent.iterdir()) if run != material.run and run.is_dir() for f in audits_of(run)[:1]]  # fmt: skip
    found = []
    for folder in folders:
        if folder.resolve() == (material.folder or Path()).resolve():
            continue
        same = folder.parent.parent == material.run
        made = _neighbour(folder, same)
        if made is not None and (same or made.data == material.about.data):
            found.append(made)
    return found[:_NEIGHBOURS]


def _neighbour(folder: Path, same: bool) -> Neighbour | None:
    try:
        about, verdict, _ = read_findings(folder)
    except BadInput:
        return None
    objective = str(Material(about, verdict, {}, {}, folder).config(of_run=True).get("objective", "–"))
    return Neighbour(about.model, objective, about.source, about.data, verdict.verdict, same)


def _by_verdict(material: Material, near: Sequence[Neighbour], run: str) -> Iterator[Step]:
    word = material.verdict.verdict
    if word == "show":
        yield Step(
            "Show it", "Keep this report with the model, and audit again when the model or its texts change."
        )
        return
    if word == "show with caveat":
        yield Step("Say what it is", f"Where the heatmap is shown, write beside it: “{_WORDING}”")
    else:
        yield Step(
            "Take it out", "Where users take the heatmap for a reason, it misleads them: leave it out."
        )
    passing = [n for n in near if n.same_model and n.source != "attention" and n.verdict != "do not show"]
    if passing:
        names = ", ".join(f"{n.source.replace('_', ' ')} ({n.verdict})" for n in passing)
        yield Step("Show something else", f"Of this model, these explanations did better here: {names}.")
    elif material.source == "attention" and _INSTEAD in EXPLAINERS:
        text = "Another explainer may pass on the same model. Audit one; nothing has to be trained."
        yield Step("Show something else", text, f"heedful audit {run} --source {_INSTEAD}")
    trained = [n for n in near if not n.same_model and n.source == "attention"]
    if better := [n for n in trained if n.verdict != "do not show"]:
        names = ", ".join(f"{n.model} ({n.objective}: {n.verdict})" for n in better)
        yield Step("Train another model", f"On the same texts these runs did better: {names}.")
    elif _BETTER in OBJECTIVES and not any(n.objective == _BETTER for n in trained):
        text = "Trained so, attention holds still under noise and stays as sharp as it is. That answers doubts about stability; audit it again for the others."
        config = (material.run or Path("RUN")) / "config.yaml"
        yield Step("Train another model", text, f"heedful train --config {shlex.quote(str(config))} --objective {_BETTER}")  # fmt: skip
