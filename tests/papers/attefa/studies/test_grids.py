"""Grids of the studies: which corpora they name."""

from __future__ import annotations

import pytest

from heedful.data.corpora.synthetic import is_synthetic
from heedful.papers.attefa.studies.study import STUDIES


@pytest.mark.parametrize(
    ("name", "datasets"),
    [
        ("placement", ["mock_5", "mock_5_start", "mock_5_middle", "mock_5_end"]),
        ("strength", ["mock_2", "mock_2_strong", "mock_2_weak"]),
        ("heads", ["mock_5"] * 3),
        ("temperature", ["mock_1"] * 7 + ["mock_10"] * 7),
    ],
)
def test_grids_name_corpora_that_there_are(name, datasets):
    study = STUDIES.get(name)
    found = [setting.dataset for corpus in study.corpora for setting in study.settings(corpus)]
    assert found == datasets
    assert all(map(is_synthetic, found))
