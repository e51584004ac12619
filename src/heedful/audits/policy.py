"""The policy: what each number must reach, in a YAML file that says why; and the verdict that follows."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from heedful.audits.audit import AUDITS, Measure, Number, Summary
from heedful.errors import BadInput, did_you_mean

Outcome = Literal["good", "unclear", "bad", "not measured"]
Word = Literal["show", "show with caveat", "do not show"]
DEFAULT = Path(__file__).with_name("policy.yaml")
VERSION = 1
_VETO = ("sharpness.sharpness", "sharpness.flat")


class Rule(BaseModel):
    """One number and its two thresholds."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    measure: str
    """audit.number, such as counterfactual.replaceable"""
    show: float
    forbid: float
    reason: str
    optional: bool = False
    """Whether it counts only where it was measured: for audits that must be named, or that some models cannot have."""

    @property
    def audit(self) -> str:
        """Whose number it is."""
        return self.measure.partition(".")[0]

    @property
    def number(self) -> str:
        """Which of its numbers."""
        return self.measure.partition(".")[2]

    @property
    def about(self) -> Measure:
        """What the number is."""
        return AUDITS.get(self.audit).measures[self.number]

    def judge(self, number: Number | None, *, least_texts: int) -> Outcome:
        """Compare the whole interval with the thresholds, so that only clear cases are clear."""
        if number is None or number.low is None or number.high is None:
            return "not measured"
        if number.count < least_texts:
            return "unclear"
        sign = 1 if self.about.better == "higher" else -1
        low, high = sorted((sign * number.low, sign * number.high))
        if low >= sign * self.show:
            return "good"
        return "bad" if high < sign * self.forbid else "unclear"


class Policy(BaseModel):
    """Rules that attention must pass to be shown."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    name: str
    least_texts: int = Field(30, ge=1)
    """Fewer texts than this leave a rule unclear: their bootstrap interval is too narrow to be believed."""
    rules: tuple[Rule, ...]


class Judgement(BaseModel):
    """A rule, the number it looked at, and what came of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: Rule
    number: Number | None
    outcome: Outcome


class Verdict(BaseModel):
    """May attention be shown? With everything that was weighed, what decided first."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    verdict: Word
    policy: str
    because: tuple[str, ...]
    """The findings that decided it, at most three."""
    judgements: tuple[Judgement, ...]

    def __str__(self) -> str:
        return self.verdict


def read_policy(path: Path | None = None) -> Policy:
    """Read a policy, or say in one sentence what is wrong with it."""
    path = path or DEFAULT
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(f"There is no policy {path}: check the path given to --policy.") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        raise BadInput(f"{path} cannot be read as YAML: mend it or leave out --policy.") from None
    if not isinstance(content, dict):
        raise BadInput(f"{path} must hold version, name and rules: start from the default policy.")
    try:
        policy = Policy(**content)
    except (ValidationError, TypeError) as error:
        raise BadInput(_explain(error, path)) from None
    for rule in policy.rules:
        _check(rule, path)
    if not policy.rules:
        raise BadInput(f"{path} has no rules, so that anything would pass: give one at least.")
    return policy if path == DEFAULT else _with_veto(policy)


def _with_veto(policy: Policy) -> Policy:
    """Add the default's rules on sharpness that a policy does not set itself: flat attention is never shown."""
    own = {rule.measure for rule in policy.rules}
    veto = [rule for rule in read_policy().rules if rule.measure in _VETO and rule.measure not in own]
    return policy.model_copy(update={"rules": (*policy.rules, *veto)})


def _check(rule: Rule, path: Path) -> None:
    measures = AUDITS.get(rule.audit).measures if rule.audit in AUDITS else {}
    known = [
        f"{audit}.{name}"
        for audit in AUDITS
        for name, about in AUDITS.get(audit).measures.items()
        if about.better
    ]
    if rule.number not in measures or rule.measure not in known:
        raise BadInput(
            f"There is no measure {rule.measure!r} to judge by in {path}: {did_you_mean(rule.measure, known)}"
        )
    about = measures[rule.number]
    for name, threshold in (("show", rule.show), ("forbid", rule.forbid)):
        if not about.low <= threshold <= about.high:
            raise BadInput(
                f"{name} of {rule.measure} in {path} is {threshold}, and must lie between {about.low:g} and {about.high:.4g}."
            )
    stricter = rule.show >= rule.forbid if about.better == "higher" else rule.show <= rule.forbid
    if not stricter:
        raise BadInput(f"show of {rule.measure} in {path} asks for less than forbid: exchange them.")


def _explain(error: ValidationError | TypeError, path: Path) -> str:
    if isinstance(error, TypeError):
        return f"{path} has a key that is not a word: its keys are version, name and rules."
    first = error.errors(include_url=False)[0]
    place = ".".join(str(part + 1) if isinstance(part, int) else str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = Rule.model_fields if first["loc"][0] == "rules" else Policy.model_fields
        return f"{path} has an unknown key {place}: {did_you_mean(str(first['loc'][-1]), known)}"
    if first["type"] == "missing":
        return f"{path} lacks {place}: give it."
    if first["loc"] == ("version",):
        return f"{path} is of version {first['input']!r}, and this heedful reads version {VERSION}: write it anew."
    return f"{place} in {path} cannot be {first['input']!r}: {first['msg'].lower()}."


def judge(policy: Policy, summaries: dict[str, Summary], *, source: str = "attention") -> Verdict:
    """Weigh all findings: one clear failure forbids, and only clear passes of everything show.

    Rules about the weights themselves do not apply to other scores than attention.
    """
    judgements = []
    for rule in policy.rules:
        if source != "attention" and AUDITS.get(rule.audit).of_weights:
            continue
        summary = summaries.get(rule.audit)
        number = (
            next((n for n in summary.numbers if n.name == rule.number and n.group == "all"), None)
            if summary
            else None
        )
        outcome = rule.judge(number, least_texts=policy.least_texts)
        if not (rule.optional and outcome == "not measured"):
            judgements.append(Judgement(rule=rule, number=number, outcome=outcome))
    by_outcome = {
        outcome: [j for j in judgements if j.outcome == outcome]
        for outcome in ("bad", "unclear", "not measured", "good")
    }
    word: Word
    if by_outcome["bad"]:
        word, deciding = "do not show", by_outcome["bad"]
    elif by_outcome["unclear"] or by_outcome["not measured"]:
        word, deciding = "show with caveat", by_outcome["unclear"] + by_outcome["not measured"]
    elif not judgements:
        word, deciding = "show with caveat", []
    else:
        word, deciding = "show", by_outcome["good"]
    because = dict.fromkeys(_finding(judgement, summaries) for judgement in deciding)
    if not judgements:
        because = {f"No rule of the policy can be asked of other scores than attention ({source}).": None}
    ordered = sorted(judgements, key=lambda j: list(by_outcome).index(j.outcome))
    return Verdict(
        verdict=word,
        policy=f"{policy.name} (version {policy.version})",
        because=tuple(because)[:3],
        judgements=tuple(ordered),
    )


def _finding(judgement: Judgement, summaries: dict[str, Summary]) -> str:
    audit = judgement.rule.audit
    if audit not in summaries:
        return f"{audit} was not measured (heedful audit --only {audit})."
    if judgement.outcome == "not measured":
        return f"{audit} could not tell the {judgement.rule.about.description}."
    return summaries[audit].finding
