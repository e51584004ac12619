"""Attention and other explainers side by side: on the same texts, by the same rules, and which of them did best."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from heedful.audits.audit import Number
from heedful.audits.policy import Rule
from heedful.audits.running.run import ALWAYS
from heedful.audits.verdict import Judgement, Verdict, Word
from heedful.intake.json_text import read_json
from heedful.storage import write_json

KEPT, MEASURED, SCORES = "alternatives.json", "alternatives", "scores"

Numbers = TypeVar("Numbers", float, np.ndarray)


class Column(BaseModel):
    """What the common rules say about one explainer, or about attention."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    verdict: Word
    """By these rules alone."""
    judgements: tuple[Judgement, ...]
    """One for each rule, in the order of the policy."""
    gain: Number | None = None
    """How much better than attention it does, text by text; None for attention itself."""

    @property
    def standing(self) -> tuple[int, int]:
        """How few rules it fails, since one failure is enough not to be shown, and then how many it passes."""
        outcomes = [judgement.outcome for judgement in self.judgements]
        return -outcomes.count("bad"), outcomes.count("good")

    @property
    def decided(self) -> bool:
        """Whether any rule by which columns are compared has an answer, from as many texts as the policy asks for."""
        return any(j.outcome in ("good", "unclear", "bad") for j in self.judgements if more_is_better(j.rule))

    @property
    def mean(self) -> float:
        """Average of its numbers, from the worst (0) to the best (1) that each can be."""
        reached = [
            share_of_range(judgement.rule, judgement.number.estimate)
            for judgement in self.judgements
            if more_is_better(judgement.rule) and judgement.number and judgement.number.estimate is not None
        ]
        return sum(reached) / len(reached) if reached else 0.0


class Alternatives(BaseModel):
    """One sample of texts, one set of rules, and a column for attention and for every explainer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    texts: int
    of: int
    """How many texts were audited, from which the sample was drawn."""
    seed: int
    columns: tuple[Column, ...]
    """Attention first."""
    left_out: dict[str, str]
    """Measures of the policy that are not compared here, each with the reason."""
    silent: dict[str, str] = {}
    """Explainers that cannot be asked of this model, each with the reason."""

    @property
    def attention(self) -> Column:
        """What attention itself reached on the sample."""
        return self.columns[0]

    @property
    def best(self) -> Column:
        """The explainer that fails fewest rules and passes most; among equals the one with the best average."""
        return max(self.columns[1:], key=lambda column: (column.standing, column.mean))

    @property
    def better(self) -> bool:
        """Whether the best explainer did better than attention: by the rules it passes, or else clearly on average."""
        best, own = self.best, self.attention
        if not (best.decided or own.decided):
            return False
        if best.standing != own.standing:
            return best.standing > own.standing
        return best.gain is not None and best.gain.low is not None and best.gain.low > 0

    def fits(self, verdict: Verdict) -> bool:
        """Whether these rules belong to the verdict's policy; the audit may have been judged by another one since."""
        own = [judgement.rule for judgement in verdict.judgements]
        return all(judgement.rule in own for judgement in self.attention.judgements)

    def save(self, folder: Path) -> None:
        """Write it beside the audit."""
        write_json(folder / KEPT, self.model_dump(mode="json"))

    @classmethod
    def read(cls, folder: Path) -> Alternatives | None:
        """Read it back; None if there is none, or if it cannot be read, since it only adds to an audit."""
        try:
            return cls(**read_json(folder / KEPT))
        except (OSError, ValueError, TypeError, ValidationError):
            return None


def share_of_range(rule: Rule, numbers: Numbers) -> Numbers:
    """Return where numbers lie between the worst (0) and the best (1) that they can be."""
    about = rule.about
    part = (numbers - about.low) / (about.high - about.low)
    return part if about.better == "higher" else 1 - part


def more_is_better(rule: Rule) -> bool:
    """Whether more of it is better. Sharpness is not compared: a sharper heatmap does not point at a better place."""
    return rule.audit != ALWAYS


def measured_file(folder: Path, source: str) -> Path:
    """Where the measurements of one column are kept, text by text, with the scores that were audited."""
    return folder / MEASURED / f"{source}.parquet"
