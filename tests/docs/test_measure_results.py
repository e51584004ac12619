"""What is measured for docs is kept as numbers, one row for each run and measure."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest

DOCS = Path(__file__).parents[2] / "docs"
FLAGS = "babi_1_generated --limit 60 --epochs 1 --hidden 4 --embedding-size 4"


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> tuple[ModuleType, ModuleType]:
    """Both scripts, with a tiny training and a folder of their own."""
    monkeypatch.syspath_prepend(str(DOCS))
    found = tuple(importlib.import_module(name) for name in ("measure_results", "make_results"))
    row = importlib.import_module("asked").Training("tiny", "accuracy", 0.5, 2, FLAGS)
    for script in found:
        monkeypatch.setattr(script, "TRAININGS", [row])
        monkeypatch.setattr(script, "TRAINED", tmp_path / "measured" / "trained.parquet")
    monkeypatch.setattr(found[0], "RUNS", tmp_path / "runs")
    return found


def test_a_training_is_measured_kept_and_shown(scripts) -> None:
    measuring, making = scripts
    assert measuring.trained(measuring.TRAININGS[0]) is None
    for seed in range(2):
        measuring.train(f"tiny {seed}", f"{FLAGS} --seed {seed}")
    measuring.keep_trained()
    frame = pl.read_parquet(measuring.TRAINED)
    one = frame.filter(pl.col("seed") == 1)
    runs = sorted(measuring.list_runs(measuring.RUNS), key=lambda run: run.config()["seed"])
    metrics = [run.metrics() for run in runs]
    values = dict(one.select("measure", "estimate").iter_rows())
    assert values["accuracy"] == metrics[1]["test"]["accuracy"]
    assert values["train texts"] == metrics[1]["sizes"]["train"]
    assert one["command"].unique().to_list() == [f"heedful train {FLAGS} --seed 1"]
    assert "torch " in one["versions"][0]
    table, notes = making.trained()
    reached = ", ".join(f"{each['test']['accuracy']:.3f}" for each in metrics)
    assert f"({reached})" in table and f"`heedful train {FLAGS}`" in table
    assert notes == "\n".join(f"- tiny: {note}" for note in metrics[0]["notes"])


def test_numbers_stay_where_runs_are_gone(scripts, tmp_path: Path) -> None:
    measuring, _ = scripts
    kept = pl.read_parquet(DOCS / "measured" / "trained.parquet").filter(pl.col("dataset") == "sst2")
    before = kept.with_columns(dataset=pl.lit("tiny"))
    measuring.TRAINED.parent.mkdir()
    before.write_parquet(measuring.TRAINED)
    measuring.keep_trained()
    assert pl.read_parquet(measuring.TRAINED).equals(before)
