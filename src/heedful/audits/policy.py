"""The policy: what each number must reach, in a YAML file that says why, and how often its verdict is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from heedful.audits.audit import AUDITS, Measure, Number
from heedful.errors import BadInput, did_you_mean
from heedful.intake.unreadable import Unreadable
from heedful.intake.yaml_text import read_yaml

Outcome = Literal["good", "unclear", "bad", "open", "too few", "not measured", "not counted"]
"""Passes; asks for a caveat; fails; undecided with this many texts; too few texts have an answer; not measured."""

POLICIES: Mapping[str, Path] = MappingProxyType(
    {
        "default": Path(__file__).with_name("policy.yaml"),
        "version-1": Path(__file__).with_name("policy-1.yaml"),
    }
)
"""Policies that are part of heedful, by name."""

VERSIONS = (1, 2)
_VETO = ("sharpness.sharpness",)


class Remedy(BaseModel):
    """What was measured to help where a rule fails."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    options: str
    """Of heedful train, such as --encoder pointer"""
    measured: str
    """What it did, in one sentence with numbers."""


class Rule(BaseModel):
    """One number and its thresholds. Without `forbid` it never forbids: the most it asks for is a caveat."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    measure: str
    """audit.number, such as rationale.sufficiency_share"""
    show: float
    forbid: float | None = None
    reason: str
    optional: bool = False
    """Whether it counts only if it was measured: for audits that run only by name, or that some models do not allow."""
    helps: tuple[Remedy, ...] = ()
    """What to train instead if it fails; empty if nothing is known to help."""

    @property
    def audit(self) -> str:
        """The audit that measures the number."""
        return self.measure.partition(".")[0]

    @property
    def number(self) -> str:
        """The name of the number."""
        return self.measure.partition(".")[2]

    @property
    def about(self) -> Measure:
        """Description, range and direction of the number."""
        return AUDITS.get(self.audit).measures[self.number]

    @property
    def decides(self) -> bool:
        """Whether a verdict cannot be reached without it."""
        return self.forbid is not None and not self.optional

    def judge(self, number: Number | None, *, least_texts: int) -> Outcome:
        """Compare the whole interval with the thresholds, so that only clear cases are clear.

        The true value may be anything above a lower bound: if high is bad, a bound can forbid and cannot pass; if high is
        good, it can pass and cannot forbid.
        """
        if number is None or number.low is None or number.high is None:
            return "not measured"
        if number.count < least_texts:
            return "too few"
        higher = self.about.better == "higher"
        low, high = number.low, self.about.high if number.bound == "lower" else number.high
        worst, best = (low, high) if higher else (-high, -low)
        sign = 1 if higher else -1
        if worst >= sign * self.show:
            return "good"
        if self.forbid is None:
            return "unclear"
        if best < sign * self.forbid:
            return "bad"
        return "open" if worst < sign * self.forbid else "unclear"

    def missing_texts(self, number: Number, *, least_texts: int) -> int:
        """Estimate how many more texts would decide, from how fast intervals narrow; at most a hundred times as many."""
        lacking = max(least_texts - number.count, 0)
        if self.forbid is None or number.estimate is None or number.low is None or number.high is None:
            return lacking
        half = (number.high - number.low) / 2
        if half > 0:  # if all texts are alike, more of them narrow nothing
            away = max(abs(number.estimate - self.forbid), half / 10)
            lacking = max(lacking, round(number.count * min((half / away) ** 2 - 1, 100)))
        # Not every text has an answer.
        return max(1, round(lacking * (number.count + number.missing) / max(number.count, 1)))


class ErrorRates(BaseModel):
    """How often the verdict was wrong on models of one kind whose faithfulness is known and that did not set its thresholds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    unfaithful: int
    shown: int
    faithful: int
    forbidden: int

    def __str__(self) -> str:
        return (
            f"Of {self.unfaithful} unfaithful models {self.shown} passed, and of {self.faithful} faithful ones "
            f"{self.forbidden} {'was' if self.forbidden == 1 else 'were'} refused"
        )


class Policy(BaseModel):
    """Rules that attention must pass to be shown."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1, 2]
    name: str
    least_texts: int = Field(30, ge=1, le=10**9)
    """With fewer texts than this nothing is decided: their bootstrap interval is too narrow to be trusted."""
    rules: tuple[Rule, ...]
    errors: dict[str, ErrorRates] = Field(default_factory=dict)
    """By kind of encoder, and for all together, if they were measured (heedful panel)."""


def read_policy(policy: Path | str | None = None) -> Policy:
    """Read a policy by its name or file, or say in one sentence what is wrong with it."""
    path = POLICIES.get(str(policy or "default"), Path(policy or ""))
    try:
        content = read_yaml(path)
    except FileNotFoundError:
        raise BadInput(
            f"There is no policy {path}: check the path given to --policy, or name one of {', '.join(POLICIES)}."
        ) from None
    except (OSError, ValueError) as error:
        reason = f" ({error})" if isinstance(error, Unreadable) else ""
        raise BadInput(f"{path} cannot be read as YAML{reason}: correct it or leave out --policy.") from None
    if not isinstance(content, dict):
        raise BadInput(f"{path} must hold version, name and rules: start from the default policy.")
    try:
        found = Policy(**content)
    except (ValidationError, TypeError) as error:
        raise BadInput(_explain(error, path)) from None
    for rule in found.rules:
        _check(rule, path, version=found.version)
    if not any(rule.forbid is not None for rule in found.rules):
        raise BadInput(
            f"{path} has no rule that could forbid, so that anything would pass: give at least one."
        )
    return found if path in POLICIES.values() else _with_veto(found, path)


def _with_veto(policy: Policy, path: Path) -> Policy:
    """Add the default's rule on sharpness where a policy has none: flat attention is never shown.

    Error rates belong to the thresholds that they were measured with and are not copied with a file; and the name says
    that a copy of one of heedful's policies is a copy.
    """
    own = {rule.measure for rule in policy.rules}
    veto = [rule for rule in read_policy().rules if rule.measure in _VETO and rule.measure not in own]
    named = {"name": f"{policy.name}, from {path.name}"}
    return policy.model_copy(update={"rules": (*policy.rules, *veto), "errors": {}, **named})


def _check(rule: Rule, path: Path, *, version: int) -> None:
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
    if rule.forbid is None and version == 1:
        raise BadInput(
            f"{rule.measure} in {path} lacks forbid, which version 1 asks for: give it, or write version: 2."
        )
    about = measures[rule.number]
    for name, threshold in (("show", rule.show), ("forbid", rule.forbid)):
        if threshold is not None and not about.low <= threshold <= about.high:
            raise BadInput(
                f"{name} of {rule.measure} in {path} is {threshold}, and must lie between {about.low:g} and {about.high:.4g}."
            )
    if rule.forbid is None:
        return
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
        versions = " and ".join(map(str, VERSIONS))
        return f"{path} is of version {first['input']!r}, and this heedful reads versions {versions}: rewrite it."
    return f"{place} in {path} cannot be {first['input']!r}: {first['msg'].lower()}."
