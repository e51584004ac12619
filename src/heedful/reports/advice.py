"""What to do now: what may be shown instead, what was measured to help, what was not asked yet, how neighbours fare."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from heedful.audits.audit import AUDITS, of_attention_alone
from heedful.audits.policy import Remedy, Rule, read_policy
from heedful.audits.running.alternatives import more_is_better
from heedful.audits.running.result import read_findings
from heedful.audits.subject.texts import QUICK_TEXTS
from heedful.errors import BadInput
from heedful.reports.beside import beside
from heedful.reports.finding import audits_of
from heedful.reports.material import Material, from_here, joined, spoken
from heedful.reports.sections import capital

_NEIGHBOURS = 20
_STANDING = {"do not show": 0, "not enough evidence": 0, "show with caveat": 1, "show": 2}
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
    missing = [name for name in AUDITS if name not in material.summaries]
    return [name for name in missing if AUDITS.get(name).refuses(material.scope) is None]


def refused(material: Material) -> list[tuple[str, str]]:
    """Questions that cannot be asked of this model, these scores and these texts, each with the reason."""
    return [
        (AUDITS.get(name).question, f"{reason[0].upper()}{reason[1:]}.")
        for name, reason in refused_by_name(material).items()
    ]


def refused_by_name(material: Material) -> dict[str, str]:
    """Audits that cannot be asked, each with the reason."""
    reasons = {
        name: AUDITS.get(name).refuses(material.scope) for name in AUDITS if name not in material.summaries
    }
    return {name: reason for name, reason in reasons.items() if reason}


def steps(material: Material, near: Sequence[Neighbour]) -> list[Step]:
    """Say what to do, by the verdict and by what is there."""
    run = material.named
    found = list(_by_verdict(material, near, run))
    if missing := not_run(material):
        names = capital(joined([spoken(name) for name in missing]))
        questions = f"{names}: what each of them asks stands at the end of the questions below."
        source = {"attention": "", "own": " --source FILE"}.get(
            material.source, f" --source {material.source}"
        )
        if material.alone and material.source == "own":
            source = " --scores FILE"
        found.append(
            Step(
                "Ask what was not asked", questions, f"heedful audit {run}{source} --only {','.join(missing)}"
            )
        )
    return found


def neighbours(material: Material) -> list[Neighbour]:
    """Find other audits beside this one; damaged ones are passed over, since they are not what was asked for."""
    if material.run is None:
        return []
    folders = [*audits_of(material.run)]
    folders += [
        f
        for run in sorted(material.run.parent.iterdir())
        if run != material.run and run.is_dir()
        for f in audits_of(run)[:1]
    ]
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
    material = Material(about, verdict, {}, {}, folder)
    objective = str(material.config(of_run=True).get("objective", "–"))
    return Neighbour(about.model, objective, about.source, about.data, material.answer, same)


def _by_verdict(material: Material, near: Sequence[Neighbour], run: str) -> Iterator[Step]:
    verdict = material.verdict
    if verdict.partial:
        text = (
            f"A verdict asks every question, and here {material.lacks}. What is there is not measured again."
        )
        yield Step("Ask the others", text, f"heedful audit {run}")
        return
    match verdict.verdict:
        case "show":
            yield Step(
                "Show it",
                "Keep this report with the model, and audit again when the model or its texts change.",
            )
            return
        case "show with caveat":
            yield Step("Say what it is", f"Where the heatmap is shown, write beside it: “{_WORDING}”")
        case "do not show":
            yield Step(
                "Take it out", "Where users take the heatmap for a reason, it misleads them: leave it out."
            )
        case _:
            yield from _more_texts(material, run)
    if material.source == "attention":
        yield from _something_else(material, run)
        yield from _another_model(material, near)


def _more_texts(material: Material, run: str) -> Iterator[Step]:
    """Until it is known, a heatmap is not shown; say how many texts would tell."""
    undecided = [j for j in material.verdict.judgements if j.rule.forbid is not None]
    lacking = max((j.lacking for j in undecided), default=0)
    missing = dict.fromkeys(j.rule.audit for j in undecided if j.rule.audit not in material.summaries)
    options, texts = material.about.options, material.about.texts
    limit, quick = options.get("limit"), options.get("quick")
    cut = any(summary.instances < texts for summary in material.summaries.values())  # for lack of time
    left_out = (limit and limit <= texts) or (quick and (texts >= QUICK_TEXTS or cut))
    sampled = [flag for flag, given in (("--limit", limit), ("--quick", quick)) if given and left_out]
    text = "Until it is known, do not show the heatmap."
    if missing:
        yield Step(
            "Ask what decides",
            f"{text} Not asked yet: {joined([spoken(name) for name in missing])}.",
            f"heedful audit {run} --only {','.join(missing)}",
        )
    elif sampled:
        about = f" About {lacking:,} more would tell." if lacking else ""
        yield Step(
            "Audit more texts",
            f"{text} Leave out {joined(sampled)}, so that more texts count.{about}",
            f"heedful audit {run}",
        )
    elif lacking:
        yield Step(
            "Audit more texts",
            f"{text} About {lacking:,} more texts would tell; labels are not needed.",
            f"heedful audit {material.called} FILE",
        )
    else:
        yield Step("Do not show it yet", text)


def _something_else(material: Material, run: str) -> Iterator[Step]:
    found = material.alternatives
    if found is None:
        rules = [j.rule for j in material.verdict.judgements if j.rule.decides]
        if any(more_is_better(rule) and not of_attention_alone(rule.audit) for rule in rules):
            text = "Other explainers may do better on the same model, and nothing has to be trained: an audit compares them on the same texts."
            yield Step("Compare other explainers", text, f"heedful audit {run} --instead")
        return
    finding, command = (
        beside(found).says,
        f"heedful explain {material.called} --explainer {found.best.source} TEXT",
    )
    if not any(column.decided for column in found.columns):
        yield Step("Compare on more texts", finding)
    elif not found.better or found.best.verdict == "do not show":
        yield Step("Nothing else to show", finding)
    elif found.best.verdict == "not enough evidence":
        yield Step("Look at another explainer", finding, command)
    else:
        yield Step("Show something else", f"{finding} It is drawn beside attention below.", command)


def _another_model(material: Material, near: Sequence[Neighbour]) -> Iterator[Step]:
    """Name what was measured to help against each failure, or that nothing is known to."""
    better = [
        n
        for n in near
        if not n.same_model
        and n.source == "attention"
        and _STANDING.get(n.verdict, 0) > _STANDING[material.verdict.verdict]
    ]
    if better:
        names = ", ".join(f"{n.model} ({n.objective}: {n.verdict})" for n in better)
        yield Step("Show another model's", f"On the same texts these runs did better: {names}.")
    like = f"--config {shlex.quote(str(from_here(material.run or Path('RUN')) / 'config.yaml'))}"
    if not material.about.scope.trained:
        like = material.data  # there is no config of what heedful did not train
    helpless = []
    against: dict[Remedy, list[str]] = {}
    for judgement in material.verdict.judgements:
        rule = judgement.rule
        if judgement.outcome not in ("bad", "unclear"):
            continue
        remedies = _remedies(rule)
        for remedy in remedies:
            against.setdefault(remedy, []).append(f"“{rule.about.description}”")
        if not remedies and rule.decides:
            helpless.append(rule.about.description)
    for options, alike in groupby(against, key=lambda remedy: remedy.options):
        texts = [f"What was measured to help against {joined(against[r])}: {r.measured}" for r in alike]
        yield Step("Train another model", " ".join(texts), f"heedful train {like} {options}")
    if helpless:
        yield Step(
            "Nothing known helps",
            f"Nothing was measured to help against: {'; '.join(dict.fromkeys(helpless))}.",
        )


def _remedies(rule: Rule) -> tuple[Remedy, ...]:
    """What helps where a rule fails: what the policy says, or else the default one of the same measure."""
    return rule.helps or next((r.helps for r in read_policy().rules if r.measure == rule.measure), ())
