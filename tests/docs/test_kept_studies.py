"""A study that is kept is the study that was done."""

from __future__ import annotations

import importlib
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from heedful.papers.results import Missing

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(("study", "figure"), [("temperature", "temperature"), ("curve", "curve-bilstm")])
def test_what_is_kept_is_read_again(monkeypatch, tmp_path: Path, study: str, figure: str) -> None:
    monkeypatch.syspath_prepend(str(DOCS))
    studies = importlib.import_module("kept_studies")
    assert studies.kept(study, figure, tmp_path) is None
    done = studies.kept(study, figure, DOCS / "measured")
    done = replace(done, missing=(Missing("mock_1 seed 2", "not trained: no time"),), notes=())
    studies.keep(done, figure, tmp_path, command="heedful study x", commit="c")
    assert studies.kept(study, figure, tmp_path) == done
    for path in tmp_path.glob("*.parquet"):
        origin = pl.read_parquet(path).select("command", "commit", "versions").unique().row(0)
        assert origin == ("heedful study x", "c", None)
