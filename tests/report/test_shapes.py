"""Audits as they really come, of models of every shape: each gives a report without help from the report."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

import heedful
from heedful.audits.running.run import audit

TEXTS = [
    "a fine film. It holds up well!",
    "the plot is thin, the jokes are old. Nobody laughed. I left early",
    "wonderful acting. A warm, funny script",
    "Great. Great film. Great.",
]
SHAPES = {
    "three classes": {"classes": 3},
    "sentences": {"hierarchical": True, "encoder": "bigru"},
    "two heads": {"heads": 2, "encoder": "average"},
    "hidden layer": {"decoder": "mlp", "encoder": "average"},
    "questions": {"query": True, "classes": 3},
}


def data_of(page: str) -> dict:
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', page, re.S)[1])  # type: ignore[index]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_model_gives_a_report(toy_classifier, tmp_path, shape) -> None:
    options = SHAPES[shape]
    rows = [{"text": text} | ({"query": "is it good?"} if options.get("query") else {}) for text in TEXTS]
    file = tmp_path / "texts.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    named = {"query_column": "query"} if options.get("query") else {}
    found = audit(toy_classifier(**options), str(file), permutations=5, **named)
    page = found.report(tmp_path / "a.html").read_text(encoding="utf-8")
    shown = {text["row"]: text for text in data_of(page)["texts"]}
    for row in found.frames["predictions"].iter_rows(named=True):
        text = shown[row["row"]]
        assert "".join(text["parts"]) == row["text"]
        items = [row["text"][a:b] for a, b in zip(row["starts"], row["ends"], strict=True)]
        assert text["parts"][1::2] == items
        assert [w / 100_000 for w in text["weights"][0]] == pytest.approx(row["weights"], abs=1e-5)
        assert text["query"] == row["query"]
        # Whatever the other heatmap is, its answer is nearly the model's own: that is what it was made for.
        assert text["probabilities"][1] == pytest.approx(text["probabilities"][0], abs=0.06)


def test_the_pieces_of_a_word_are_one_word_to_a_reader(toy_classifier, tmp_path) -> None:
    file = tmp_path / "texts.jsonl"
    file.write_text(json.dumps({"text": TEXTS[2]}) + "\n")
    found = audit(toy_classifier(), str(file), permutations=5)
    said = found.frames["predictions"]
    (words,) = said["words"].to_list()
    found.frames["predictions"] = said.with_columns(words=pl.Series([[0, 0, *words[2:]]]))
    flips = found.frames["flip_set"]
    found.frames["flip_set"] = flips.with_columns(members=pl.Series([[1, 3]]), minimum_fraction=pl.lit(0.5))
    (text,) = data_of(found.report(tmp_path / "a.html").read_text(encoding="utf-8"))["texts"]
    assert text["parts"][1:4] == ["wonderful acting", "", "."]
    (weights,) = said["weights"].to_list()
    assert text["weights"][0][0] / 100_000 == pytest.approx(weights[0] + weights[1], abs=1e-5)
    assert len(text["weights"][0]) == len(text["weights"][1]) == len(words) - 1
    assert text["marks"] == [0, 2]


def test_other_scores_than_attention(toy_classifier, tmp_path) -> None:
    file = tmp_path / "texts.jsonl"
    file.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS))
    found = audit(toy_classifier(), str(file), source="gradient")
    page = found.report(tmp_path / "a.html").read_text(encoding="utf-8")
    assert re.search(r"<h1[^>]*>[^<]*the scores of gradient", page)
    assert data_of(page)["maps"] == ["The model's attention, which was not audited here"]
    assert "--only counterfactual" not in page  # it asks about attention alone


def test_heedful_audit_writes_the_report(tmp_path, monkeypatch, capsys) -> None:
    from heedful.cli.app import main
    from heedful.cli.console import console

    monkeypatch.chdir(tmp_path)
    lines = [f"film {i} was {('dull', 'great')[i % 2]} .,{('neg', 'pos')[i % 2]}" for i in range(60)]
    Path("reviews.csv").write_text("text,label\n" + "\n".join(lines) + "\n")
    model = heedful.train("reviews.csv", runs="runs", progress=False, embedding_size=8, hidden=4, epochs=1)
    console.cache_clear()
    with pytest.raises(SystemExit):
        main(["audit", str(model.run), "--permutations", "5"])
    path = re.search(r"^Report: (.*)$", capsys.readouterr().out, re.M)[1]  # type: ignore[index]
    page = Path(path).read_text(encoding="utf-8")
    assert Path(path).name == "report.html"
    assert "<dt>objective</dt><dd><bdi>vanilla</bdi>" in page
    assert "<dt>command</dt>" in page
