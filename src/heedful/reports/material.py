"""What a report is made of: an audit's findings, and its measurements, of which only what is shown is read."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from heedful.audits.audit import AUDITS, Audit, Summary
from heedful.audits.policy import Policy
from heedful.audits.running.alternatives import SCORES, Alternatives, measured_file
from heedful.audits.running.result import (
    INSTANCES,
    OWN,
    PREDICTIONS,
    About,
    AuditResult,
    judge_again,
    read_findings,
)
from heedful.audits.subject.scope import Scope
from heedful.audits.verdict import Verdict
from heedful.checking import build
from heedful.config import AuditOptions
from heedful.declared import complete
from heedful.errors import BadInput
from heedful.intake.frames import parquet_faults
from heedful.intake.json_text import read_json
from heedful.intake.unreadable import Unreadable
from heedful.intake.yaml_text import read_yaml

_SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Material:
    """One audit."""

    about: About
    verdict: Verdict
    summaries: dict[str, Summary]
    frames: dict[str, pl.LazyFrame] = field(repr=False)
    folder: Path | None = None

    @classmethod
    def read(cls, folder: Path) -> Material:
        """Read the findings of a kept audit; its measurements stay on the disk until they are asked for."""
        about, verdict, summaries = read_findings(folder)
        frames = {
            name: pl.scan_parquet(folder / INSTANCES / f"{name}.parquet")
            for name in (PREDICTIONS, *summaries)
        }
        return cls(about, verdict, summaries, frames, folder)

    @classmethod
    def of(cls, result: AuditResult) -> Material:
        """Take the result of an audit as it is in memory."""
        frames = {name: frame.lazy() for name, frame in result.frames.items()}
        return cls(result.about, result.verdict, result.summaries, frames, result.folder)

    def judged(self, rules: Policy) -> Material:
        """The same audit with the verdict of a policy, whatever it was judged by before."""
        return replace(self, verdict=judge_again(self.about, self.verdict, self.summaries, rules))

    @property
    def run(self) -> Path | None:
        """The run that was audited, where the audit is kept inside it; what heedful did not train has none."""
        if self.alone or not self.about.scope.trained:
            return None
        inside = self.folder is not None and self.folder.resolve().parent.name == "audits"
        return self.folder.resolve().parent.parent if inside and self.folder else None

    @property
    def alone(self) -> bool:
        """Whether predictions alone are known of the model."""
        return self.about.scope.access == "predictions"

    @property
    def called(self) -> str:
        """What a command calls the model."""
        if self.about.called:
            return shlex.join(self.about.called)
        if self.alone:
            return shlex.quote(
                f"predict:{self.about.model if ':' in self.about.model else 'MODULE:FUNCTION'}"
            )
        run = None if self.run is None else from_here(self.run)
        name, _, adapter = str(run or self.about.model).partition(" with adapter ")
        return shlex.join([name, *(["--adapter", adapter] if adapter else [])])

    @property
    def named(self) -> str:
        """The same, with the data where these do not come with the model."""
        if self.run is not None or (self.about.scope.trained and not self.alone):
            return self.called
        return f"{self.called} {self.data}"

    @property
    def data(self) -> str:
        """What a command calls the data."""
        dataset, _, split = self.about.data.rpartition(" ")
        given = " " in dataset or dataset == "a"  # a list of texts, a DataFrame
        return shlex.quote("FILE" if given else dataset if split in _SPLITS and dataset else self.about.data)

    @property
    def source(self) -> str:
        """Whose scores were audited, as audits call it."""
        return "own" if self.about.source == OWN else self.about.source

    @property
    def scope(self) -> Scope:
        """What questions could be asked of what was audited."""
        return replace(self.about.scope, source=self.source)

    @property
    def scores(self) -> str:
        """Whose scores, as a sentence calls it."""
        if self.source == "attention":
            return "this model’s attention"
        return "these scores" if self.source == "own" else f"the scores of {spoken(self.source)}"

    @property
    def answer(self) -> str:
        """The verdict in a few words; of an audit that asked only some questions, that it is none."""
        return "findings, not a verdict" if self.verdict.partial else self.verdict.verdict

    @property
    def lacks(self) -> str:
        """What keeps this from being a whole audit; empty where it is one."""
        if self.verdict.partial:
            return f"only {joined([spoken(name) for name in self.summaries])} {'was' if len(self.summaries) == 1 else 'were'} asked"
        if self.about.texts < self.verdict.least_texts:
            return (
                f"it is of {self.about.texts:,} texts, and the policy asks for {self.verdict.least_texts:,}"
            )
        return ""

    @property
    def alternatives(self) -> Alternatives | None:
        """Attention beside other explainers, where that was measured and is judged by the policy of this verdict."""
        if self.folder is None or self.source != "attention" or self.verdict.verdict == "show":
            return None
        found = Alternatives.read(self.folder)
        return found if found is not None and found.fits(self.verdict) else None

    def scored(self, source: str, rows: Sequence[int] | None = None) -> dict[int, list[float]]:
        """The scores of an explainer for the texts it was compared on, or for some of them."""
        if self.folder is None:
            return {}
        path = measured_file(self.folder, source)
        with _readable(path):
            frame = pl.scan_parquet(path).select("row", SCORES)
            kept = frame if rows is None else frame.filter(pl.col("row").is_in(list(rows)))
            return dict(kept.collect().iter_rows())

    def audit(self, name: str) -> Audit | None:
        """Make the audit again, to draw its figures; None where this version has no such audit."""
        if name not in AUDITS:
            return None
        known = {k: v for k, v in self.about.options.items() if k in complete(AuditOptions).model_fields}
        return AUDITS.get(name)(build(AuditOptions, known), source=self.source)

    def columns(self, name: str) -> dict[str, pl.DataType]:
        """Which measurements an audit kept."""
        with _readable(self._path(name)):
            return dict(self.frames[name].collect_schema())

    def numbers(self, name: str, only: Sequence[str] | None = None) -> pl.DataFrame:
        """Measurements of all texts, without the texts themselves and without lists."""
        kinds = self.columns(name)
        plain = [
            c for c, kind in kinds.items() if not isinstance(kind, pl.List) and c not in ("text", "query")
        ]
        wanted = plain if only is None else [c for c in only if c in plain]
        with _readable(self._path(name)):
            return self.frames[name].select(wanted).collect()

    def rows(self, name: str, rows: Sequence[int]) -> pl.DataFrame:
        """All that is kept of a few texts."""
        with _readable(self._path(name)):
            return self.frames[name].filter(pl.col("row").is_in(list(rows))).collect(engine="streaming")

    def _path(self, name: str) -> Path | str:
        return self.folder / INSTANCES / f"{name}.parquet" if self.folder else name

    def environment(self) -> dict[str, Any]:
        """On what and by which command the audit was made; empty where it was not kept."""
        return _read(self.folder, "environment.json", read_json)

    def config(self, *, of_run: bool = False) -> dict[str, Any]:
        """Options of the audit, or of the training."""
        return _read(self.run if of_run else self.folder, "config.yaml", read_yaml)


def from_here(path: Path) -> Path:
    """A path as a command of this folder names it, and whole where it lies elsewhere."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def spoken(name: str) -> str:
    """An explainer or an audit as a sentence calls it.

    >>> spoken("leave_one_out"), spoken("integrated_gradients")
    ('leave-one-out', 'integrated gradients')
    """
    return "leave-one-out" if name == "leave_one_out" else name.replace("_", " ")


def joined(names: Sequence[str]) -> str:
    """Words as a list in a sentence.

    >>> joined(["one"]), joined(["one", "two", "three"])
    ('one', 'one, two and three')
    """
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


@contextmanager
def _readable(path: Path | str) -> Iterator[None]:
    """Turn what a damaged file does into one sentence."""
    try:
        with parquet_faults():
            yield
    except (Unreadable, KeyError) as error:
        raise BadInput(
            f"{path} is missing or damaged ({error}): delete its folder and audit again."
        ) from None


def _read(folder: Path | None, name: str, read: Callable[[Path], Any]) -> dict[str, Any]:
    """Read a file beside the audit. It only adds to a report, so that a damaged one is left out of it."""
    if folder is None:
        return {}
    try:
        content = read(folder / name)
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
