"""From end to end on texts whose evidence is known: one opinion word among fifty to a hundred others (Mock-1)."""

from __future__ import annotations

import numpy as np
import pytest

import heedful
from heedful.data.corpora.synthetic.mock import mock_corpus

SMALL = {"embedding_size": 32, "hidden": 32, "learning_rate": 0.005}


@pytest.fixture(scope="module")
def average(tmp_path_factory):
    """Audit of an average encoder, and the texts with their evidence."""
    folder = tmp_path_factory.mktemp("mock")
    model = heedful.train("mock_1", encoder="average", epochs=6, runs=folder, progress=False, **SMALL)
    return heedful.audit(model, progress=False), mock_corpus(informative=1).splits["test"]


@pytest.mark.slow
def test_attention_finds_the_planted_word(average):
    found, split = average
    rows = found.to_frame()
    assert rows["text"].to_list() == split.texts
    hits = 0
    for row in rows.iter_rows(named=True):
        top = int(np.argmax(row["weights"]))
        (planted,) = split.evidence[row["row"]]
        hits += (row["starts"][top], row["ends"][top]) == planted
    assert hits / len(rows) >= 0.9


@pytest.mark.slow
def test_a_model_whose_attention_finds_the_word_is_shown(average):
    found, _ = average
    assert str(found.verdict) == "show"


@pytest.mark.slow
def test_a_model_that_has_learnt_nothing_yet_points_nowhere_and_is_not_shown(tmp_path):
    options = SMALL | {"hidden": 8, "limit": 1000}
    model = heedful.train("mock_1", encoder="bilstm", epochs=1, runs=tmp_path, progress=False, **options)
    found = heedful.audit(model, progress=False, limit=100, permutations=20)
    assert found.about.performance["roc_auc"] < 0.7
    assert found.summaries["sharpness"].number("flat").estimate == 1.0
    assert (str(found.verdict), found.verdict.exit_code) == ("do not show", 1)
    first = found.verdict.judgements[0]
    assert (first.rule.measure, first.outcome) == ("sharpness.sharpness", "bad")
    assert found.verdict.because == (found.summaries["sharpness"].finding,)
    for summary in found.summaries.values():
        assert summary.instances == 100
