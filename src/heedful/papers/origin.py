"""Where numbers come from: the command, the commit and the versions of the runs that they are of, where these are known."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

import polars as pl

from heedful.intake.json_text import read_json
from heedful.papers.measured_numbers import Numbers
from heedful.papers.results import MeasuredRun, Results

ORIGIN = pl.Schema({"command": pl.String(), "commit": pl.String(), "versions": pl.String()})


def origin(numbers: Numbers, results: Results) -> pl.DataFrame:
    """Give a row for each number: null where its runs do not say, and side by side where they differ."""
    rows = []
    for n in numbers.rows:
        runs = results.of(n.dataset, n.model) or results.runs  # a claim is about all models of an encoder
        known = [_known(run) for run in runs if n.seed in (None, run.seed)]
        rows.append({name: _together(each.get(name) for each in known) for name in ORIGIN})
    return pl.DataFrame(rows, schema=ORIGIN)


def _together(values: Iterable[str | None]) -> str | None:
    return "; ".join(dict.fromkeys(value for value in values if value)) or None


def _known(run: MeasuredRun) -> Mapping[str, str | None]:
    """Where its audit was made, or else its training."""
    return (environment(run.audited) if run.audited else {}) or environment(run.folder)


@lru_cache(maxsize=4096)
def environment(folder: Path) -> Mapping[str, str | None]:
    """Give command, commit and versions of a run or an audit; nothing where it does not say."""
    try:
        content = read_json(folder / "environment.json")
        versions = {"python": content.get("python"), **content.get("versions", {})}
        return {
            "command": shlex.join(content.get("command") or []),
            "commit": content.get("commit"),
            "versions": ", ".join(f"{name} {version}" for name, version in versions.items() if version),
        }
    except (OSError, ValueError, AttributeError, TypeError):  # missing, or damaged
        return {}
