"""heedful audit, predict, explain and attack with predict:module:function: a model of which predictions alone are known."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

MODEL = """
import math
print("imported")
WORDS = {"great": 2, "warm": 1.5, "funny": 1, "lovely": 2, "dull": -2, "slow": -1, "grim": -1.5, "boring": -2}
asked = []

def predict(texts):
    print("asked")
    asked.extend(texts)
    sums = [sum(WORDS.get(word, 0) for word in text.split()) for text in texts]
    return [[1 / (1 + math.exp(s)), 1 - 1 / (1 + math.exp(s))] for s in sums]

def raises(texts):
    raise KeyError("no such word")

def nan(texts):
    return [[float("nan"), 0.5] for _ in texts]

def logits(texts):
    return [[3.0, -1.0] for _ in texts]

def flat(texts):
    return [0.5 for _ in texts]

def changes(texts):
    asked.append(texts)
    return [[1 / (1 + len(asked)), 1 - 1 / (1 + len(asked))] for _ in texts]

number = 7
"""


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A module in the current folder, with a name that no other test imports."""
    name = f"model_{abs(hash(tmp_path)):x}"
    Path(f"{name}.py").write_text(MODEL)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield name
    sys.modules.pop(name, None)


@pytest.fixture
def reviews():
    """240 texts, enough for a verdict."""
    words = ("great", "warm", "funny", "lovely", "dull", "slow", "grim", "boring")
    lines = ["text,label"]
    for i in range(240):
        word = words[i % 8]
        lines.append(f"film {i} was {word} and {words[(i % 8) // 4 * 4 + i // 8 % 4]} .,{int(i % 8 < 4)}")
    path = Path("reviews.csv")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_an_audit_from_a_command_to_a_report(run, model, reviews):
    shown = run("audit", f"predict:{model}:predict", reviews)
    assert (
        shown.code == 0
        and "Show the scores of leave-one-out as an explanation only with a caveat." in shown.out
    )
    assert re.search(
        r"^Cannot be asked here: .*embedding stability.*; it needs embeddings and gradients", shown.out, re.M
    )
    assert "accuracy 1.000" in shown.out and "imported" not in shown.out and "imported" in shown.err
    asked = len(sys.modules[model].asked)
    twice = 8  # the texts it is asked for again, to see whether its answers are the same
    assert asked - twice == len(set(sys.modules[model].asked))
    assert f"The function was asked for {asked:,} texts." in shown.out
    (folder,) = Path("audits").iterdir()
    page = (folder / "report.html").read_text()
    assert f"{asked:,} texts" in page
    for name in ("permutation", "counterfactual"):
        assert re.search(rf"^Cannot be asked here: .*{name}", shown.out, re.M)
    assert "attention, which was not audited" not in page


def test_the_same_question_finds_the_audit_and_another_function_does_not(run, model, reviews):
    run("audit", f"predict:{model}:predict", reviews)
    before = len(sys.modules[model].asked)
    run("audit", f"predict:{model}:predict", reviews)
    assert len(list(Path("audits").iterdir())) == 1
    assert len(sys.modules[model].asked) - before < 200  # the texts themselves, and none with a word deleted
    sys.modules[model].WORDS["great"] = -3
    run("audit", f"predict:{model}:predict", reviews)
    assert len(list(Path("audits").iterdir())) == 2


def test_scores_of_ones_own_are_a_file_or_a_column(run, model, reviews):
    rows = []
    for line in reviews.read_text().splitlines()[1:]:
        text, label = line.rsplit(",", 1)
        good = [
            float(word in ["great", "warm", "funny", "lovely", "dull", "slow", "grim", "boring"])
            for word in text.split()
        ]
        rows.append({"text": text, "label": label, "heat": good, "scores": good[::-1]})
    Path("scored.jsonl").write_text("\n".join(map(json.dumps, rows)))
    right = run("audit", f"predict:{model}:predict", "scored.jsonl", "--scores", "heat", "--json")
    wrong = run(
        "audit", f"predict:{model}:predict", reviews, "--scores", "scored.jsonl", "-o", "wrong", "--json"
    )
    found, lost = json.loads(right.out), json.loads(wrong.out)
    assert (right.code, wrong.code) == (0, 1)
    assert found["verdict"]["verdict"] == "show with caveat" and lost["verdict"]["verdict"] == "do not show"
    tau = next(n["estimate"] for n in found["audits"]["agreement"]["numbers"] if n["name"] == "tau_loo")
    assert tau > 0.9 and "tau_g" not in {n["name"] for n in found["audits"]["agreement"]["numbers"]}
    assert "permutation" in found["not_asked"]


def test_predict_explain_and_attack(run, model, reviews):
    name = f"predict:{model}:predict"
    found = json.loads(run("predict", name, "a great , funny film", "--json").out)
    assert found["label"] == "1" and found["items"] == []
    explained = json.loads(run("explain", name, "a great film", "--json").out)
    scores = {item["text"]: item["weight"] for item in explained["items"]}
    assert max(scores, key=scores.get) == "great" and scores["a"] == 0
    Path("synonyms.txt").write_text("great dull\nwarm slow\nlovely grim\nfunny boring\n")
    bare = ("--no-similarity", "--same-part-of-speech", "no", "--synonyms", "synonyms.txt")
    attacked = run("attack", name, reviews, *bare, "--limit", "8", "--json")
    assert attacked.code == 0, attacked.err
    assert Path("attacks").is_dir()


BAD = {
    "no module": ("predict:no_such_module:predict reviews.csv", "There is no module 'no_such_module' in"),
    "no function": ("predict:MODEL:predcit reviews.csv", "has no 'predcit': did you mean predict?"),
    "no name": ("predict:MODEL reviews.csv", "names no function: write predict:module:function"),
    "no function at all": ("predict:MODEL:number reviews.csv", "is a int: name a function"),
    "raises": ("predict:MODEL:raises reviews.csv", "KeyError: 'no such word'"),
    "nan": ("predict:MODEL:nan reviews.csv", "no numbers (NaN)"),
    "logits": ("predict:MODEL:logits reviews.csv", "apply a softmax"),
    "shape": ("predict:MODEL:flat reviews.csv", "gave an array [1] for 1 texts"),
    "changes": ("predict:MODEL:changes reviews.csv", "changes its answer to the same text"),
    "labels": ("predict:MODEL:predict named.csv", "Label 'good' in row 1 of named.csv is not among the classes"),
    "too many names": ("predict:MODEL:predict reviews.csv --label-names a,b,c", "3 classes are named"),
    "names of a run": ("somewhere reviews.csv --label-names a,b", "are for functions"),
    "no data": ("predict:MODEL:predict", "No data are given"),
    "attention": ("predict:MODEL:predict reviews.csv --source attention", "no attention"),
    "gradient": (
        "predict:MODEL:predict reviews.csv --source gradient",
        "gradient needs more of a model than predictions",
    ),
    "permutation": (
        "predict:MODEL:predict reviews.csv --only permutation",
        "permutation cannot be asked here: it needs attention weights that can be replaced",
    ),
    "pairs": ("predict:MODEL:predict reviews.csv --source lime --only agreement --pairs lime:gradient", "gradient needs more"),
    "sensitivity": ("predict:MODEL:predict reviews.csv --only rationale --sensitivity", "--sensitivity cannot be asked here: it needs embeddings"),
    "no column": ("predict:MODEL:predict reviews.csv --scores heat", "Row 1 of reviews.csv has no list of numbers named 'heat'"),
    "short scores": ("predict:MODEL:predict named.csv --label-names good,bad --scores short.jsonl", "Text 1 has 3 items and the list of scores gives it 2"),
    "broken": ("predict:broken_model:predict reviews.csv", "needs the module 'no_such_library', which is not installed"),
    "wrong": ("predict:wrong_model:predict reviews.csv", "wrong_model cannot be imported (ZeroDivisionError: division by zero)"),
}  # fmt: skip


@pytest.mark.parametrize(("words", "sentence"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_one_sentence(run, model, reviews, words, sentence):
    Path("named.csv").write_text("text,label\nfilm was great,good\nfilm was dull,bad\n")
    Path("short.jsonl").write_text('{"scores": [1, 2]}\n{"scores": [1, 2]}\n')
    Path("broken_model.py").write_text("import no_such_library\n")
    Path("wrong_model.py").write_text("1 / 0\n")
    refused = run("audit", *words.replace("MODEL", model).split())
    assert refused.code == 2 and refused.out == "", refused.err
    error = refused.err[refused.err.index("Error:") :]
    assert sentence in error and "Traceback" not in refused.err and error.count("\n") == 1
