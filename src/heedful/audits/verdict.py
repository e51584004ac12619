"""The verdict: all findings against a policy, in one of four answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict

from heedful.audits.audit import ALL, AUDITS, Number, Summary, of_attention_alone
from heedful.audits.policy import Outcome, Policy, Rule
from heedful.audits.subject.scope import Scope

Word = Literal["show", "show with caveat", "do not show", "not enough evidence"]

EXIT_CODES: Mapping[Word, int] = {
    "show": 0,
    "show with caveat": 0,
    "do not show": 1,
    "not enough evidence": 3,
}
"""Exit codes of commands, so that a build can fail; 2 is bad input."""

_ORDER: tuple[Outcome, ...] = ("bad", "not measured", "not counted", "too few", "open", "unclear", "good")
_UNDECIDED: tuple[Outcome, ...] = ("not measured", "not counted", "too few", "open")

MOST = 0.5
"""Of more than this share of the texts no weights move the prediction: then the audited place decides nothing."""

LEAST_MODELS = 10
"""Faithful ones and unfaithful ones; with fewer of its kind, a verdict's error rates are those of all kinds."""

KINDS: Mapping[str, str] = {
    **dict.fromkeys(("none", "average"), "words alone"),
    **dict.fromkeys(("rnn", "lstm", "gru", "bilstm", "bigru"), "recurrent"),
    "cnn": "convolution",
    "pointer": "pointer",
}
"""Kinds of encoder, which are alike in what a heatmap over them can hide."""


class Judgement(BaseModel):
    """A rule, the number it was applied to, and the outcome."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: Rule
    number: Number | None
    outcome: Outcome
    lacking: int = 0
    """About how many more texts would decide it."""


class Verdict(BaseModel):
    """May attention be shown? With all judgements, the decisive ones first."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    verdict: Word
    policy: str
    because: tuple[str, ...]
    """The findings that decided it, at most three."""
    judgements: tuple[Judgement, ...]
    first: tuple[str, ...] = ()
    """What a reader must know before anything else."""
    record: str = ""
    """How often this verdict is wrong on models of this kind."""
    partial: bool = False
    """Whether only some questions were asked, so that these are findings and not a verdict."""
    least_texts: int = 1
    """The least number of texts that the policy accepts."""

    @property
    def exit_code(self) -> int:
        """The exit code of a command."""
        return EXIT_CODES[self.verdict]

    def __str__(self) -> str:
        return self.verdict

    def __repr__(self) -> str:
        return f"Verdict({'findings, not a verdict' if self.partial else self.verdict!r}: {' '.join(self.because)})"

    def __eq__(self, other: object) -> bool:
        """Equal to its own answer as a word, so that `verdict == "show"` says what it seems to say."""
        return self.verdict == other if isinstance(other, str) else super().__eq__(other)

    def __hash__(self) -> int:
        return hash(self.verdict)  # what is equal to a word has its hash

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from heedful.audits.verdict_html import verdict_parts
        from heedful.output.notebook import output

        return output(verdict_parts(self))


def judge_findings(
    policy: Policy,
    summaries: dict[str, Summary],
    *,
    source: str = "attention",
    encoder: str = "",
    scope: Scope | None = None,
    partial: bool = False,
    first: tuple[str, ...] = (),
    copies: float = 1.0,
) -> Verdict:
    """Weigh all findings: one clear failure forbids; decisive rules need enough texts; only clear passes show.

    Rules about the weights themselves do not apply to scores other than attention; what other weights do is counted neither
    for nor against them where the audited place decides nothing. A `partial` audit has findings, and
    never a verdict. If each text occurs in several `copies`, these count as one.
    """
    idle = decides_nothing(summaries)
    judgements = [
        _set_aside(judgement) if idle and AUDITS.get(rule.audit).needs_reach else judgement
        for rule in policy.rules
        if source == "attention" or not of_attention_alone(rule.audit)
        if (judgement := _judged(rule, summaries.get(rule.audit), policy.least_texts, copies)) is not None
    ]
    word, deciding = _word(judgements, partial=partial)
    because = dict.fromkeys(
        _finding(judgement, summaries, policy.least_texts, scope) for judgement in deciding
    )
    if not judgements:
        because = {f"No rule of the policy applies to scores other than attention ({source}).": None}
    return Verdict(
        verdict=word,
        policy=f"{policy.name} (version {policy.version})",
        because=tuple(because)[:3],
        judgements=tuple(sorted(judgements, key=lambda j: _ORDER.index(j.outcome))),
        first=first,
        record=_record(policy, encoder) if source == "attention" else "",
        partial=partial,
        least_texts=policy.least_texts,
    )


def decides_nothing(summaries: Mapping[str, Summary]) -> bool:
    """Whether for most texts no weights were found that move the prediction; not known unless it was asked."""
    found = (
        [n for n in summaries["reach"].numbers if n.name == "out_of_reach"] if "reach" in summaries else []
    )
    return any(n.group == ALL and n.estimate is not None and n.estimate > MOST for n in found)


def _set_aside(judgement: Judgement) -> Judgement:
    return judgement.model_copy(update={"outcome": "not counted", "lacking": 0})


def _judged(rule: Rule, summary: Summary | None, least_texts: int, copies: float) -> Judgement | None:
    """Judge one rule; None if it is optional and was not measured."""
    numbers = summary.numbers if summary else ()
    number = next((n for n in numbers if n.name == rule.number and n.group == ALL), None)
    if number is not None and copies > 1:
        number = _of_distinct_texts(number, copies)
    outcome = rule.judge(number, least_texts=least_texts)
    if rule.optional and outcome == "not measured":
        return None
    lacking = 0
    if number is not None and outcome in ("too few", "open") and number.bound is None:
        lacking = rule.missing_texts(number, least_texts=least_texts)
    return Judgement(rule=rule, number=number, outcome=outcome, lacking=lacking)


def _of_distinct_texts(number: Number, copies: float) -> Number:
    """Correct a number for texts that were each counted that many times: fewer texts, and a wider interval."""
    changed: dict[str, float | int] = {"count": int(number.count / copies)}
    if number.estimate is not None and number.low is not None and number.high is not None:
        wider = copies**0.5
        changed["low"] = number.estimate - (number.estimate - number.low) * wider
        changed["high"] = number.estimate + (number.high - number.estimate) * wider
    return number.model_copy(update=changed)


def _word(judgements: list[Judgement], *, partial: bool) -> tuple[Word, list[Judgement]]:
    """Return the answer and what decided it."""
    bad = [j for j in judgements if j.outcome == "bad"]
    if partial:
        known = [j for j in judgements if j.outcome not in ("not measured", "not counted")]
        return "not enough evidence", bad or known
    if bad:
        return "do not show", bad
    # Optional rules too: with fewer texts, a rule that forbids must not turn into a permission.
    open_ones = [j for j in judgements if j.rule.forbid is not None and j.outcome in _UNDECIDED]
    if open_ones or not any(j.rule.decides for j in judgements):
        return "not enough evidence", sorted(open_ones, key=lambda j: _ORDER.index(j.outcome))
    doubtful = [j for j in judgements if j.outcome != "good"]
    if doubtful:
        return "show with caveat", sorted(doubtful, key=lambda j: _ORDER.index(j.outcome))
    return "show", [j for j in judgements if j.rule.decides]


def _finding(
    judgement: Judgement, summaries: dict[str, Summary], least_texts: int, scope: Scope | None
) -> str:
    audit, number = judgement.rule.audit, judgement.number
    if audit not in summaries:
        if scope is not None and (reason := AUDITS.get(audit).refuses(scope)):
            return f"{audit} cannot be asked here: {reason}."
        return f"{audit} was not measured (heedful audit RUN --only {audit})."
    described = f"“{judgement.rule.about.description}”"
    if judgement.outcome == "not counted":
        return f"{audit} counts neither for nor against the heatmap: this place decides nothing, whatever the weights."
    if judgement.outcome == "not measured" or number is None:
        return f"{audit} was asked, and for no text is there an answer to {described}."
    if judgement.outcome == "too few":
        return f"{number.count} of the texts have an answer to {described}, and {least_texts} are needed{_others(judgement, least_texts)}."
    if judgement.outcome == "open":
        side = f"on which side of {judgement.rule.forbid:g} the number for {described} lies"
        if number.bound is not None:
            return f"{summaries[audit].finding} It is a bound, found by a search, and does not show {side}."
        return f"{summaries[audit].finding} These texts are too few to show {side}: about {judgement.lacking:,} more would."
    return summaries[audit].finding


def _others(judgement: Judgement, least_texts: int) -> str:
    """Say how many more texts to audit: for an answer at all, and where it lies close to the line, for one that tells."""
    number, lacking = judgement.number, judgement.lacking
    if number is None or not lacking:
        return ""
    least = least_texts - number.count
    if judgement.rule.forbid is None or lacking <= 10 * least:
        return f": audit about {lacking:,} others"
    return (
        f" at the least: audit about {least:,} others or more; a number so close to {judgement.rule.forbid:g} may take as many as "
        f"{lacking:,} to tell on which side it lies"
    )


def _record(policy: Policy, encoder: str) -> str:
    """Say how often the policy was wrong on models like this one, or that this is not known."""
    if not policy.errors:
        return "How often this policy is wrong was never measured: heedful panel --policy FILE measures it."
    kind, every = KINDS.get(encoder), policy.errors.get(ALL)
    known = policy.errors.get(kind) if kind is not None else None
    where = "whose truth is known, each judged by a line that was set on other corpora"
    if known is not None and min(known.faithful, known.unfaithful) >= LEAST_MODELS:
        return f"{known} (models with encoders of this kind, {kind}, {where})."
    few = "None or few models of this kind stand in the panel, so that the error rates of this verdict are hardly known."
    return f"{few} {every} (models of all kinds, {where})." if every else few
