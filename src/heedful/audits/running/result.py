"""The result of an audit: the verdict, the findings, and the measurements of every text."""

from __future__ import annotations

import io
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError

from heedful import reporting
from heedful.audits.audit import AUDITS, Summary
from heedful.audits.policy import Policy
from heedful.audits.subject.scope import Scope
from heedful.audits.verdict import Verdict, judge_findings
from heedful.errors import BadInput
from heedful.intake import frames
from heedful.intake.json_text import read_json
from heedful.intake.unreadable import Unreadable
from heedful.storage import write_bytes, write_json

if TYPE_CHECKING:
    from heedful.output.terminal import Screen

RESULT, INSTANCES, SUMMARIES = "audit.json", "instances", "summaries"
PREDICTIONS = "predictions"
OWN = "own scores"
"""What scores of the user's own are called."""
_GROUP = 8192  # rows that are decompressed together, also by a reader who needs only a few


class About(BaseModel):
    """What was audited, on what, and how: everything a reader needs to do it again."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    called: tuple[str, ...] = ()
    """The words by which a command names the model; none where it has a run, or was in memory only."""
    encoder: str
    labels: tuple[str, ...]
    data: str
    texts: int
    distinct: int | None = None
    """How many of them are distinct."""
    source: str
    scope: Scope = Scope()
    """Which questions could be asked about it."""
    options: dict[str, Any]
    performance: dict[str, float]
    """Of the model on the audited texts; empty where there are no labels."""
    majority: float | None = None
    """Accuracy of always giving the most frequent label; None where there are no labels."""
    asked: int | None = None
    """Of a model of which predictions alone are known: how many texts it was asked for, when this was last measured."""
    notes: tuple[str, ...]

    @property
    def copies(self) -> float:
        """How often each text occurs among the audited ones, on average."""
        return self.texts / self.distinct if self.distinct else 1.0

    @property
    def counted(self) -> str:
        """How many texts, in words."""
        return f"{self.texts:,} text{'' if self.texts == 1 else 's'}"


def judge_again(
    about: About,
    verdict: Verdict,
    summaries: dict[str, Summary],
    rules: Policy,
    *,
    partial: bool | None = None,
) -> Verdict:
    """Judge what an audit found by a policy, which need not be the one that it was judged by before."""
    return judge_findings(
        rules,
        summaries,
        source="own" if about.source == OWN else about.source,
        encoder=about.encoder,
        scope=about.scope,
        first=verdict.first,
        partial=verdict.partial if partial is None else partial,
        copies=about.copies,
    )


@dataclass(repr=False)
class AuditResult:
    """`verdict`, `show()`, `to_frame()`, `save()`, `report()`."""

    about: About
    verdict: Verdict
    summaries: dict[str, Summary]
    frames: dict[str, pl.DataFrame] = field(repr=False)
    folder: Path | None = None

    def __repr__(self) -> str:
        verdict, about = self.verdict, self.about
        word = "findings, not a verdict" if verdict.partial else verdict.verdict
        lines = [f"AuditResult: {word}", *(f"  {finding}" for finding in verdict.because)]
        return "\n".join(
            [*lines, f"  {about.model} on {about.counted} of {about.data}; show() tells all of it"]
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdict, heatmaps, and every finding to unfold."""
        from heedful.audits.running.audit_html import audit_html

        return audit_html(self)

    def show(self, screen: Screen | None = None) -> None:
        """Print what every question found, and last the verdict and what to do next, in at most forty lines."""
        from heedful.output.terminal import Screen

        assert reporting.printer is not None  # the package sets it when it is imported
        reporting.printer(self, screen or Screen())

    def to_frame(self, audit: str | None = None) -> pl.DataFrame:
        """Measurements of every text by one audit, or by all of them side by side (columns as audit.measure)."""
        if audit is not None:
            if audit not in self.frames:
                raise BadInput(f"{audit} was not run: there are {', '.join(self.frames)}.")
            return self.frames[audit]
        whole = self.frames[PREDICTIONS]
        for name, frame in self.frames.items():
            if name != PREDICTIONS:
                own = frame.drop("predicted", "items")
                whole = whole.join(
                    own.rename({c: f"{name}.{c}" for c in own.columns if c != "row"}), on="row", how="left"
                )
        return whole

    def to_json(self) -> dict[str, Any]:
        """Everything but the measurements of single texts, as plain data."""
        return {
            "verdict": self.verdict.model_dump(mode="json"),
            "about": self.about.model_dump(mode="json"),
            "audits": {name: summary.model_dump(mode="json") for name, summary in self.summaries.items()},
            "not_asked": self.refused(),
        }

    def refused(self) -> dict[str, str]:
        """Why other audits cannot be asked of this model, these scores and these texts."""
        scope = replace(self.about.scope, source="own" if self.about.source == OWN else self.about.source)
        reasons = {name: AUDITS.get(name).refuses(scope) for name in AUDITS if name not in self.summaries}
        return {name: reason for name, reason in reasons.items() if reason}

    def save(self, folder: str | Path) -> Path:
        """Write audit.json and one Parquet file per audit; `AuditResult.load` reads them back."""
        folder = Path(folder)
        for name, frame in self.frames.items():
            write_frame(folder / INSTANCES / f"{name}.parquet", frame)
        for name, summary in self.summaries.items():
            write_json(folder / SUMMARIES / f"{name}.json", summary.model_dump(mode="json"))
        write_json(folder / RESULT, self.to_json())
        self.folder = folder
        return folder

    def judged(self, rules: Policy, *, partial: bool | None = None) -> Verdict:
        """Judge by a policy, which need not be the one that was used before."""
        return judge_again(self.about, self.verdict, self.summaries, rules, partial=partial)

    def report(self, path: str | Path) -> Path:
        """Write one HTML file that a person reads: verdict, heatmaps, evidence, what to do."""
        assert reporting.writer is not None  # the package sets it when it is imported
        return reporting.writer([self], Path(path))

    @classmethod
    def load(cls, folder: str | Path) -> AuditResult:
        """Read what `save` or `heedful audit` wrote."""
        folder = Path(folder)
        about, verdict, summaries = read_findings(folder)
        frames = {
            name: read_frame(folder / INSTANCES / f"{name}.parquet") for name in (PREDICTIONS, *summaries)
        }
        return cls(about, verdict, summaries, frames, folder)


def read_findings(folder: Path) -> tuple[About, Verdict, dict[str, Summary]]:
    """Read what an audit found, without the measurements of single texts."""
    try:
        content = read_json(folder / RESULT)
        summaries = {name: Summary(**found) for name, found in content["audits"].items()}
        return About(**content["about"]), Verdict(**content["verdict"]), summaries
    except FileNotFoundError:
        raise BadInput(
            f"There is no finished audit in {folder} ({RESULT} is missing): run heedful audit."
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ValidationError) as error:
        reason = str(error).splitlines()[0]
        raise BadInput(
            f"{folder / RESULT} is damaged ({reason}): delete the folder and audit again."
        ) from None


def write_frame(path: Path, frame: pl.DataFrame) -> None:
    """Write a Parquet file whole or not at all."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, row_group_size=_GROUP)
    write_bytes(path, buffer.getvalue())


def read_frame(path: Path) -> pl.DataFrame:
    """Read a Parquet file, or say that it is damaged."""
    try:
        return frames.read_frame(path)
    except Unreadable as error:
        raise BadInput(
            f"{path} is missing or damaged ({error}): delete its folder and audit again."
        ) from None
