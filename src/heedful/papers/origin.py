"""Where numbers come from: the command, the commit and the versions of the runs that they are of, where these are known."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

import polars as pl

from heedful.papers.numbers import Numbers
from heedful.papers.results import Results

ORIGIN = pl.Schema({"command": pl.String(), "commit": pl.String(), "versions": pl.String()})


def origin(numbers: Numbers, results: Results) -> pl.DataFrame:
    """Give a row for each number; what its runs do not tell is null, and what they tell differently stands side by side."""
    rows = []
    for n in numbers.rows:
        runs = results.of(n.dataset, n.model) or results.runs  # a claim is about all models of an encoder
        told = [_told(run.audited or run.folder) for run in runs if n.seed in (None, run.seed)]
        rows.append({name: _together(each.get(name) for each in told) for name in ORIGIN})
    return pl.DataFrame(rows, schema=ORIGIN)


def _together(values: Iterable[str | None]) -> str | None:
    return "; ".join(dict.fromkeys(value for value in values if value)) or None


def _told(folder: Path) -> Mapping[str, str | None]:
    return _environment(folder / "environment.json")


@lru_cache(maxsize=4096)
def _environment(path: Path) -> Mapping[str, str | None]:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        versions = {"python": told.get("python"), **told.get("versions", {})}
        return {
            "command": shlex.join(told.get("command") or []),
            "commit": told.get("commit"),
            "versions": ", ".join(f"{name} {version}" for name, version in versions.items() if version),
        }
    except (OSError, ValueError):
        return {}
