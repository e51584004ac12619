"""Attention that gives most words no weight at all is audited like any other."""

from __future__ import annotations

import math

import pytest

import heedful
from heedful.audits.audit import AUDITS

GOOD, BAD = ("great", "warm", "funny", "lovely"), ("dull", "slow", "grim", "boring")


@pytest.fixture(scope="module")
def reviews(tmp_path_factory):
    """Where one of eight words decides; the others are names, numbers and filling."""
    lines = ["text,label"]
    for row in range(240):
        word = (GOOD if row % 2 else BAD)[row // 2 % 4]
        filling = ["the film", f"of {row % 7}", "was", word, "and", "that", f"is number {row % 5}"]
        lines.append(f"{' '.join(filling[row % 3 :])},{'pos' if row % 2 else 'neg'}")
    path = tmp_path_factory.mktemp("reviews") / "reviews.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("encoder", ["average", "bilstm"])
@pytest.mark.parametrize("normaliser", ["sparsemax", "entmax15"])
def test_every_usual_audit_answers_for_a_trained_sparse_model(reviews, tmp_path, normaliser, encoder):
    classifier = heedful.train(
        str(reviews),
        runs=tmp_path,
        progress=False,
        normaliser=normaliser,
        encoder=encoder,
        epochs=6,
        learning_rate=0.03,
        embedding_size=12,
        hidden=6,
        temperature=0.2,
    )
    result = heedful.audit(classifier, progress=False, permutations=10, sensitivity=True)
    assert set(result.summaries) == {name for name in AUDITS if not AUDITS.get(name).only_named}
    weights = result.to_frame()["weights"].to_list()
    assert any(0.0 in row for row in weights)  # sparse indeed
    for name, summary in result.summaries.items():
        for number in summary.numbers:
            found = [number.estimate, number.low, number.high]
            assert all(value is None or math.isfinite(value) for value in found), (name, number)
        assert summary.instances == len(weights)
    assert result.summaries["rationale"].number("sensitivity").count > 0
