"""heedful explain: any explainer's scores over the words."""

from __future__ import annotations

import json

import pytest


@pytest.mark.parametrize("explainer", ["attention", "gradient", "leave_one_out", "random"])
def test_scores_are_given_for_every_word(run, trained, explainer):
    result = run("explain", trained, "a great film .", "dull", "-e", explainer, "--json")
    assert result.code == 0
    first, second = (json.loads(line) for line in result.out.splitlines())
    assert [item["text"] for item in first["items"]] == ["a", "great", "film", "."]
    assert [item["text"] for item in second["items"]] == ["dull"]


def test_scores_are_drawn_as_predictions_are(run, trained):
    result = run("explain", trained, "a great film .", "--explainer", "leave_one_out")
    assert result.code == 0
    assert "a great film ." in result.out


def test_a_misspelt_explainer_is_named(run, trained):
    result = run("explain", trained, "a film", "-e", "gradeint")
    assert (result.code, result.out) == (2, "")
    assert "There is no explainer named 'gradeint': did you mean gradient?" in result.err


def test_attention_is_what_predict_shows(run, trained):
    explained, predicted = (
        run("explain", trained, "a great film .", "--json"),
        run("predict", trained, "a great film .", "--json"),
    )
    weights = [[i["weight"] for i in json.loads(result.out)["items"]] for result in (explained, predicted)]
    assert weights[0] == pytest.approx(weights[1], abs=1e-6)
