"""Every study from nothing to three files, and found again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from heedful.errors import BadInput
from heedful.papers.attefa.studies.study_files import make_page, write

VALUES = {
    "temperature": ["0.25", "entmax15"],
    "placement": ["scattered", "end"],
    "strength": ["any", "weak"],
    "heads": ["1", "4"],
}


@pytest.mark.parametrize("name", VALUES)
def test_a_grid_of_bases(do, tmp_path: Path, name: str, recorder):
    done = do(name, tmp_path / "runs", quick=True, seeds=(10,), watcher=recorder)
    assert [row.value for row in done.rows] == VALUES[name]
    assert len(recorder.cases) == len(VALUES[name]) and done.missing == () and done.points == ()
    for row in done.rows:
        assert 0 <= row.attefa_low <= row.attefa <= row.attefa_high <= 1
        assert row.twins == 1 and row.texts == 500
    write(done, tmp_path / "out")
    rows = pl.read_parquet(tmp_path / "out" / "rows.parquet")
    assert rows["value"].to_list() == VALUES[name]
    assert "AtteFa" in (tmp_path / "out" / "figure.svg").read_text()
    again = do(name, tmp_path / "runs", quick=True, seeds=(10,), only_finished=True)
    assert again.to_frame().equals(done.to_frame())


def test_several_bases_of_each_value(do, tmp_path: Path, recorder):
    """Bases differ more than their twins do: the interval is over them, and each of them is told."""
    done = do("heads", tmp_path / "runs", quick=True, seeds=(10,), bases=3, watcher=recorder)
    assert [row.value for row in done.rows] == ["1", "4"] and len(recorder.cases) == 6
    one = do("heads", tmp_path / "runs", quick=True, seeds=(10,), bases=1, only_finished=True)
    for row, first in zip(done.rows, one.rows, strict=True):
        assert row.bases == 3 and row.attefa_each[0] == first.attefa
        assert row.attefa == pytest.approx(sum(row.attefa_each) / 3)
        half = stats.t.ppf(0.975, 2) * stats.sem(row.attefa_each)  # texts come on top
        assert (
            0 <= row.attefa_low <= max(0, row.attefa - half)
            and min(1, row.attefa + half) <= row.attefa_high <= 1
        )
    write(done, tmp_path / "out")
    table = (tmp_path / "out" / "table.md").read_text()
    each = ", ".join(f"{score:.2f}" for score in done.rows[0].attefa_each)
    assert f" [{each}] |" in table and "Student's" in table
    two = do("heads", tmp_path / "runs", quick=True, seeds=(10,), bases=2, only_finished=True)
    assert all(np.isnan(row.attefa_low) and row.bases == 2 for row in two.rows)
    write(two, tmp_path / "two")
    assert "two bases or two twins allow no interval" in (tmp_path / "two" / "table.md").read_text()
    assert "--bases trains more" in "".join(make_page(one).sections[0].lines)


def test_a_curve_follows_one_base(do, tmp_path: Path):
    with pytest.raises(BadInput, match="follow one base: leave out --bases"):
        do("curve", tmp_path, bases=2)
    assert not list(tmp_path.iterdir())


def test_a_curve_leaves_a_table_a_figure_and_points(curve, tmp_path: Path):
    _, done = curve
    write(done, tmp_path)
    rows = pl.read_parquet(tmp_path / "rows.parquet")
    assert rows["value"].to_list() == ["0.001", "1", "AtteFa"]
    assert rows["divergence"].to_list() == ["kl", "kl", "jsd"]
    assert rows["strength"].to_list() == [0.001, 1.0, 1.0]
    assert rows["twins"].to_list() == [2, 2, 2]
    for name in ("jsd", "tvd"):
        assert (rows[f"{name}_least"] <= rows[name]).all() and (rows[name] <= rows[f"{name}_most"]).all()
        assert rows[name].is_between(0, 1).all()
    figure = (tmp_path / "figure.svg").read_text()
    assert "mock_1 average" in figure and "reading nothing" in figure
    table = (tmp_path / "table.md").read_text()
    assert "| corpus | encoder | λ | JSD | TVD | papers' JSD | papers' TVD |" in table
    assert "| mock_1 | average | AtteFa (JSD, 1) |" in table
    assert [section.title for section in make_page(done).sections] == ["The curve", "The bases"]


def test_points_of_the_curve_are_what_the_audit_measures_text_by_text(curve):
    """AtteFa's own point comes from the twins' metrics, and the audit's rows from reading all texts again."""
    runs, done = curve
    (file,) = runs.glob("*/audits/*/instances/imitation.parquet")
    rows, own = pl.read_parquet(file), done.points[-1]
    for name in ("jsd", "tvd"):
        by_twin = [rows[f"{name}_{seed}"].mean() for seed in (10, 50)]
        assert getattr(own, name) == pytest.approx(sum(by_twin) / 2, abs=1e-5)
        assert getattr(own, f"{name}_least") == pytest.approx(min(by_twin), abs=1e-5)
        assert getattr(own, f"{name}_most") == pytest.approx(max(by_twin), abs=1e-5)
    positive = rows["chances"].list.get(1)
    assert own.blind_tvd == pytest.approx((positive - positive.median()).abs().mean(), abs=1e-6)
    assert own.base_f1 == done.rows[0].f1
