"""One case of the panel: a model, whose heatmap is judged, the truth of it, and every number that was measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from heedful.audits.audit import Number
from heedful.audits.questions.sharpness import FLAT

Sort = Literal["faithful", "unfaithful", "in between", "flat", "not counted"]

FAITHFUL, UNFAITHFUL = 0.75, 0.25
"""From chance (0) to every text (1): how often the first word must be evidence for a heatmap to count as either."""

LEAST_TEXTS = 50
"""Texts that need their evidence; with fewer the truth is not known well enough."""

LEAST_SKILL = 0.4
"""From the most frequent label (0) to no error (1): below this a model is hardly one, and no fair case."""


LEAST_ALONE = 0.5
"""From accuracy without the evidence (0) to accuracy with all words (1): what ordinary models must reach on the evidence alone."""


class Case(BaseModel):
    """What is known of one heatmap of one model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    corpus: str
    member: str
    encoder: str
    normaliser: str
    kind: str
    """How the model came by its attention."""
    seed: int
    source: str
    """Whose scores are judged: attention, or an explainer."""
    contextual: bool
    accuracy: float
    majority: float
    """Accuracy of the most frequent label."""
    truth: float | None
    """From chance (0) to all (1): how much of what comes first is evidence, of texts that need it."""
    share: float | None
    """The same as a plain share."""
    texts: int
    """How many texts needed their evidence."""
    limit: int = 300
    """Of how many at most."""
    without: float
    """Accuracy without the evidence."""
    alone: float
    """Accuracy on the evidence alone."""
    numbers: dict[str, Number]
    """By audit.number, over all texts."""

    @property
    def skill(self) -> float:
        """How much better than the most frequent label, of what is possible."""
        return (self.accuracy - self.majority) / (1 - self.majority) if self.majority < 1 else 0.0

    @property
    def sort(self) -> Sort:
        """What the truth makes of it; a flat heatmap points nowhere, is never shown, and would make a policy look better than it is."""
        if self.truth is None or self.texts < LEAST_TEXTS or self.skill < LEAST_SKILL:
            return "not counted"
        sharpness = self.numbers.get("sharpness.sharpness")
        if sharpness is not None and sharpness.estimate is not None and sharpness.estimate < FLAT:
            return "flat"
        if self.truth >= FAITHFUL:
            return "faithful"
        return "unfaithful" if self.truth <= UNFAITHFUL else "in between"

    @property
    def name(self) -> str:
        """How a person calls it."""
        return f"{self.corpus} {self.member}" + ("" if self.source == "attention" else f" ({self.source})")


def fails_its_check(corpus: str, cases: Sequence[Case]) -> bool:
    """Whether the evidence of a corpus does not decide by itself, for the ordinary models that learnt it."""
    ordinary = [
        case
        for case in cases
        if case.corpus == corpus
        and case.kind == "vanilla"
        and case.source == "attention"
        and case.skill >= LEAST_SKILL
    ]
    gained = sum(case.accuracy - case.without for case in ordinary)
    return bool(ordinary) and sum(case.alone - case.without for case in ordinary) < LEAST_ALONE * gained


def sound(cases: Sequence[Case]) -> list[Case]:
    """Give the cases of corpora that are what they claim; of others it is not known what a heatmap should point at."""
    failed = {corpus for corpus in {case.corpus for case in cases} if fails_its_check(corpus, cases)}
    return [case for case in cases if case.corpus not in failed]
