"""heedful compare: trained models side by side, and what is refused before anything is written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml

import heedful
from heedful.audits.audit import AUDITS
from heedful.comparison.compare import compare
from heedful.errors import BadInput

SMALL = {"embedding_size": 8, "hidden": 4, "epochs": 2}
WORDS = {"pos": ("great", "warm", "funny"), "neg": ("dull", "slow", "grim")}


def write(path: Path, rows: int = 80, classes: tuple[str, ...] = ("neg", "pos")) -> Path:
    lines = ["text,label"]
    for i in range(rows):
        label = classes[i % len(classes)]
        words = WORDS.get(label, (label, "so", "so"))
        lines.append(f"film {i} was {words[i % 3]} and {words[(i // 3) % 3]} at times .,{label}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """Runs of three methods, one of them with two seeds."""
    root = tmp_path_factory.mktemp("compared")
    data = str(write(root / "reviews.csv"))
    for options in (
        {"encoder": "bilstm"},
        {"encoder": "bilstm", "seed": 1},
        {"encoder": "average", "temperature": 0.01},
        {"encoder": "average", "temperature": 1000.0},
    ):
        folder = heedful.train(
            data, runs=root / "made", progress=False, test_fraction=0.4, **(SMALL | options)
        ).run
        assert folder is not None
        name = f"{options['encoder']}{options.get('seed', '')}{'-flat' if options.get('temperature') == 1000 else ''}"
        folder.rename(root / name)
    return root


@pytest.fixture
def runs(made, tmp_path) -> dict[str, Path]:
    """Copies of one's own, into which audits may be written."""
    found = {}
    for name in ("bilstm", "bilstm1", "average", "average-flat"):
        found[name] = Path(shutil.copytree(made / name, tmp_path / "runs" / name))
    return found


def numbers(out: str) -> dict[tuple[str, str, str], dict]:
    return {
        (entry["name"], number["audit"], number["number"]): number
        for entry in json.loads(out)["entries"]
        for number in entry["numbers"]
    }


def test_tables_and_files(run, runs):
    shown = run(
        "compare",
        *runs.values(),
        "--only",
        "embedding_stability,certificate",
        "--figure",
        "f.svg",
        "-o",
        "t.md",
    )
    assert shown.code == 0
    assert "3 methods (4 runs) side by side" in shown.out
    for words in (
        "bilstm, 2 seeds",
        "average, temperature 1000",
        "Difference to bilstm, 2 seeds",
        "embedding_stability:",
        "★",
    ):
        assert words in shown.out
    assert "**" in Path("t.md").read_text()
    assert Path("f.svg").read_text().startswith("<svg")
    assert "Written: t.md" in shown.err
    for folder in runs.values():
        assert len(list((folder / "audits").iterdir())) == 1


def test_flat_attention_is_warned_of_and_never_best(run, runs):
    flags = ("--only", "embedding_stability", "--format", "json")
    shown = run("compare", runs["average"], runs["average-flat"], *flags)
    found = numbers(shown.out)
    (sharp, flat) = (entry["name"] for entry in json.loads(shown.out)["entries"])
    jsd = {name: found[name, "embedding_stability", "jsd"] for name in (sharp, flat)}
    assert jsd[flat]["estimate"] < 1e-6 < jsd[sharp]["estimate"]
    assert (jsd[flat]["warning"], jsd[flat]["mark"]) == (True, "")
    assert (jsd[sharp]["warning"], jsd[sharp]["mark"]) == (False, "best")
    assert [e["keeps_sharpness"] for e in json.loads(shown.out)["entries"]] == [True, False]


def test_numbers_are_the_audits_own_and_differences_are_paired(runs):
    """Every column of every audit of the default, on models that are there: same estimates, to the last digit but one."""
    found = compare([runs["bilstm"], runs["average"]], by_method=False, every_number=True)
    results = {
        name: heedful.audit(
            runs[name], progress=False, only=["embedding_stability", "rationale", "certificate"]
        )
        for name in ("bilstm", "average")
    }
    assert {column.audit for column in found.columns} == {
        "predictions",
        "sharpness",
        "embedding_stability",
        "rationale",
        "certificate",
    }
    one, other = found.entries
    for column in found.columns:
        for entry in (one, other):
            if column.audit == "predictions":
                expected = results[entry.name].about.performance[column.number]
            else:
                expected = results[entry.name].summaries[column.audit].number(column.number).estimate
            mine = entry.values[column.key].estimate
            assert mine is expected is None or mine == pytest.approx(expected, rel=1e-9), column.key
        value, base = other.values[column.key], one.values[column.key]
        if value.estimate is None or base.estimate is None:
            assert value.difference is None
            continue
        assert value.difference == pytest.approx(value.estimate - base.estimate, abs=1e-12)
        assert value.difference_low <= value.difference <= value.difference_high, column.key
    assert all(value.difference is None for value in one.values.values())
    frames = [
        results[name].frames["rationale"]["comprehensiveness"].to_numpy() for name in ("bilstm", "average")
    ]
    apart = frames[1] - frames[0]
    rows = np.random.default_rng(0).integers(len(apart), size=(2001, len(apart)))[1:]
    low, high = np.quantile(apart[rows].mean(1), [0.025, 0.975])
    value = other.values["rationale", "comprehensiveness"]
    assert (value.difference_low, value.difference_high) == pytest.approx((low, high), abs=1e-12)


def test_what_no_column_gives_has_a_difference_without_interval(runs):
    found = compare([runs["bilstm"], runs["average"]], only=["single_erasure"])
    bare = [c for c in found.columns if found.entries[1].values[c.key].difference_low is None]
    kept = {column.number for column in bare}
    rows = set(AUDITS.get("single_erasure").measures)
    assert kept and kept <= rows
    for column in bare:
        assert found.entries[1].values[column.key].mark != "tied"  # no interval, so nothing can be tied
    assert any("No single text has a value of" in note for note in found.notes)


def test_the_same_command_gives_the_same_and_measures_nothing_again(run, runs, monkeypatch):
    words = ("compare", *runs.values(), "--only", "embedding_stability", "--format", "json")
    first = run(*words)
    monkeypatch.setattr(AUDITS.get("embedding_stability"), "rows", None)  # would fail if it were asked
    assert run(*words).out == first.out
    batches = run(*words, "--batch-size", 3)
    assert numbers(batches.out).keys() == numbers(first.out).keys()


def test_seeds_apart_or_together(run, runs):
    words = ("compare", *runs.values(), "--only", "sharpness", "--format", "csv")
    together = pl.read_csv(run(*words).out.encode())
    assert together["seed"].unique().sort().to_list() == ["0", "0 1"]
    apart = pl.read_csv(run(*words, "--no-by-method").out.encode())
    assert apart["run"].n_unique() == 4
    mean = apart.filter(pl.col("run").is_in(["bilstm", "bilstm1"]), pl.col("number") == "f1")[
        "estimate"
    ].mean()
    assert together.filter(pl.col("seed") == "0 1", pl.col("number") == "f1")[
        "estimate"
    ].item() == pytest.approx(mean)
    seeds = json.loads(
        run("compare", runs["bilstm"], runs["bilstm1"], "--only", "sharpness", "--format", "json").out
    )
    assert [entry["name"] for entry in seeds["entries"]] == ["vanilla, seed 0", "vanilla, seed 1"]


def test_against_another_run_turns_the_sign(run, runs):
    words = ("compare", runs["bilstm"], runs["average"], "--only", "sharpness", "--format", "json")
    first, second = run(*words), run(*words, "--against", runs["average"])
    assert json.loads(second.out)["reference"] == "average"
    key = ("sharpness", "sharpness")
    there, back = numbers(first.out)["average", *key], numbers(second.out)["bilstm", *key]
    assert there["difference"] == pytest.approx(-back["difference"])
    assert there["difference_low"] == pytest.approx(-back["difference_high"], abs=1e-9)
    added = run(
        "compare", runs["bilstm"], "--against", runs["average"], "--only", "sharpness", "--format", "json"
    )
    assert [entry["name"] for entry in json.loads(added.out)["entries"]] == ["average", "bilstm"]


def test_vanilla_is_what_others_are_compared_with(run, runs):
    """However a shell orders the names: of attention_at, seat, steady and vanilla, vanilla is not the first."""
    config = runs["average"] / "config.yaml"
    config.write_text(config.read_text().replace("objective: vanilla", "objective: word_at"))
    words = ("compare", runs["average"], runs["bilstm"], "--only", "sharpness", "--format", "json")
    shown = json.loads(run(*words).out)
    assert [entry["name"] for entry in shown["entries"]] == ["average, word_at", "bilstm, vanilla"]
    assert shown["reference"] == "bilstm, vanilla"


def test_texts_without_labels_have_no_f1(run, runs):
    Path("plain.csv").write_text("text\n" + "".join(f"film {i} was so warm\n" for i in range(12)))
    shown = run(
        "compare",
        runs["bilstm"],
        runs["average"],
        "--data",
        "plain.csv",
        "--only",
        "embedding_stability",
        "--format",
        "json",
        "--figure",
        "f.svg",
    )
    assert shown.code == 0
    found = json.loads(shown.out)
    assert found["texts"] == 12
    assert "f1" not in {number["number"] for number in found["entries"][0]["numbers"]}
    assert [entry["keeps_f1"] for entry in found["entries"]] == [None, None]


def test_from_python(runs):
    found = heedful.compare(list(runs.values()), only="sharpness", by_method=False, progress=False, limit=10)
    assert found.texts == 10
    assert found.to_frame().height == 4 * len(found.columns)
    with pytest.raises(BadInput, match="Only one run"):
        heedful.compare([runs["bilstm"]], progress=False)


def test_texts_that_one_run_leaves_out_are_left_out_for_all(runs):
    data = Path("mixed.csv")
    data.write_text("text,label\nfilm was dull,neg\n" + "film 7 was great and warm at many times .,pos\n" * 9)
    for name, least in (("bilstm", 1), ("average", 9)):
        file = runs[name] / "config.yaml"
        config = yaml.safe_load(file.read_text()) | {"min_words": least, "test_file": str(data.resolve())}
        file.write_text(yaml.safe_dump(config))
    found = compare([runs["bilstm"], runs["average"]], only=["sharpness"])
    assert found.texts == 9
    assert any("Only the 9 texts that all runs were audited on count; one had 10." in n for n in found.notes)


BAD = {
    "one run": ("A", "Only one run is given"),
    "twice": ("A A", "is given twice"),
    "no such run": ("A nothing", "There is no run 'nothing'"),
    "not a run": ("A EMPTY", "There is no trained model in"),
    "no attention": ("A MEAN", "This model has no attention"),
    "other labels": ("A LABELS", "have different labels (neg, pos; awful, fine, good)"),
    "other texts": ("A TEXTS", "would be read on different texts"),
    "no such audit": ("A B --only shrapness", "There is no audit named 'shrapness': did you mean sharpness?"),
    "no such format": ("A B --format markdown", "There is no format 'markdown'"),
    "no format in the name": ("A B -o table", "does not say its format"),
    "figure of nothing": ("A B --only sharpness --figure f.svg", "The figure shows embedding_stability"),
    "figure of no kind": ("A B --figure f.jpeg", "can be .svg or .png"),
    "own scores": ("A B --source scores.jsonl", "Scores of a file belong to no model"),
    "no such explainer": ("A B --source gradeint", "did you mean gradient?"),
    "option": ("A B --limit 0", "Option limit must be at least 1"),
    "no such data": ("A B --data sst3", "There is no dataset named 'sst3'"),
}


@pytest.fixture(scope="module")
def unlike(tmp_path_factory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("unlike")
    plain = {**SMALL, "epochs": 1, "encoder": "average", "test_fraction": 0.4}
    made = {}
    for name, data, options in (
        ("MEAN", write(root / "a.csv"), {"pooling": "mean"}),
        ("LABELS", write(root / "b.csv", classes=("awful", "fine", "good")), {}),
        ("TEXTS", write(root / "c.csv", rows=60), {}),
    ):
        folder = heedful.train(str(data), runs=root / "runs", progress=False, **plain, **options).run
        assert folder is not None
        made[name] = folder
    made["EMPTY"] = root / "empty"
    made["EMPTY"].mkdir()
    return made


@pytest.mark.parametrize(("words", "sentence"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_one_sentence_and_leaves_nothing(run, runs, unlike, tmp_path, words, sentence):
    known = {"A": runs["bilstm"], "B": runs["average"], **unlike}
    before = sorted(tmp_path.rglob("*"))
    left = run("compare", *(known.get(word, word) for word in words.split()))
    assert left.code == 2
    assert left.out == ""
    assert left.err.startswith("Error: ")
    assert left.err.count("\n") == 1
    assert sentence in left.err
    assert sorted(tmp_path.rglob("*")) == before
    for folder in unlike.values():
        assert not (folder / "audits").exists()


def test_help_gives_examples(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = run("compare", "--help").out
    assert "heedful compare RUN RUN" in shown
    assert "--against" in shown and "--noise" in shown
    assert max(map(len, shown.splitlines())) <= 80
