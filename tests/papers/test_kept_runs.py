"""Runs that are kept without models and texts: the same page as before, from numbers alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from heedful.errors import BadInput
from heedful.papers.flat.examples import EXAMPLES, VOCABULARY
from heedful.papers.flat.recipe import FLAT
from heedful.papers.flat.word_importance import GAPS, WORDS
from heedful.papers.kept_runs import join_runs, keep_runs, kept_runs, not_kept
from heedful.papers.outcome import make_page
from heedful.papers.paper_page import markdown
from heedful.papers.results import MeasuredRun, Missing, Results

BASE, FLATTER = "LSTM-base (TextFooler)", "LSTM-FLAT (TextFooler)"


def measured(model: str, seed: int = 0, *, texts: int = 90, dataset: str = "sst2") -> MeasuredRun:
    random = np.random.default_rng(len(model) + seed)
    rows = {"row": np.arange(texts), "predicted": ["negative", "positive"] * (texts // 2)}
    consistency = {"tau": random.uniform(-1, 1, texts), "attacked": ["a secret text"] * texts}
    consistency |= {f"top_{k}": random.uniform(size=texts) for k in range(1, 11)}
    consistency |= {"tau_successful": np.where(random.uniform(size=texts) < 0.5, np.nan, 0.3)}
    robustness = {name: random.integers(2, size=texts) * 1.0 for name in ("accuracy", "after_attack")}
    frames = {
        "robustness": pl.DataFrame(rows | robustness | {"words_changed": random.uniform(size=texts)}),
        "consistency": pl.DataFrame(rows | consistency),
        "sharpness": pl.DataFrame(rows | {"items": random.integers(5, 30, texts)}),
        VOCABULARY: pl.DataFrame({"words": [700]}),
    }
    if "FLAT" in model:
        counts = {name: random.integers(0, 9, 200) for name in ("frequency", "substitutions")}
        frames[WORDS] = pl.DataFrame({"importance": random.uniform(size=200).astype(np.float32)} | counts)
        frames[GAPS] = pl.DataFrame({"gap": random.uniform(size=50).astype(np.float32)})
    metrics = {
        "dev": {"accuracy": 0.81},
        "test": {"accuracy": 0.8},
        "sizes": {"train": 10, "dev": 5, "test": texts},
        "notes": ["Read so."],
    }
    labels = ("negative", "positive")
    return MeasuredRun(dataset, model, seed, Path("gone"), metrics, labels, texts, ("Said so.",), frames)


def page(results: Results) -> str:
    return markdown(make_page(FLAT, results, [FLAT.find("table", number) for number in ("2", "3", "6", "9")]))


def test_a_page_is_the_same_from_what_was_kept(tmp_path: Path):
    here = Results(tuple(measured(model, seed) for model in (BASE, FLATTER) for seed in (0, 1)))
    keep_runs(FLAT, here, tmp_path)
    again = join_runs(FLAT, Results(), kept_runs(FLAT, tmp_path))
    assert len(again.runs) == 4
    assert page(again) == page(here)


def test_nothing_that_texts_say_is_kept(tmp_path: Path):
    for path in keep_runs(FLAT, Results((measured(FLATTER),)), tmp_path):
        assert b"secret" not in path.read_bytes()
        assert "attacked" not in pl.read_parquet(path).columns


def test_runs_of_several_machines_are_put_together_in_the_order_of_the_recipe(tmp_path: Path):
    keep_runs(FLAT, Results((measured(FLATTER), measured(BASE, dataset="trec"))), tmp_path)
    keep_runs(FLAT, Results((measured(BASE), measured(FLATTER, 1))), tmp_path)
    lacks = (
        Missing(f"sst2 {FLATTER} seed 1", "not trained"),
        Missing(f"sst2 {FLATTER} seed 2", "not trained"),
    )
    joined = join_runs(FLAT, Results(missing=lacks), kept_runs(FLAT, tmp_path))
    found = [(run.dataset, run.model, run.seed) for run in joined.runs]
    assert found == [("sst2", BASE, 0), ("sst2", FLATTER, 0), ("sst2", FLATTER, 1), ("trec", BASE, 0)]
    assert joined.missing == lacks[1:]


def test_a_run_with_fewer_numbers_does_not_replace_one_with_more(tmp_path: Path):
    keep_runs(FLAT, Results((measured(BASE, texts=90),)), tmp_path)
    keep_runs(FLAT, Results((measured(BASE, texts=40),)), tmp_path)
    (found,) = kept_runs(FLAT, tmp_path)
    assert found.texts == 90
    part = replace(measured(BASE), frames={"robustness": measured(BASE).frames["robustness"]})
    keep_runs(FLAT, Results((part,)), tmp_path)
    (found,) = kept_runs(FLAT, tmp_path)
    assert "consistency" in found.frames
    keep_runs(FLAT, Results((replace(measured(BASE), notes=("Later.",)),)), tmp_path)
    assert kept_runs(FLAT, tmp_path)[0].notes == ("Later.",)


def test_examples_are_explained_once_and_kept(tmp_path: Path):
    shown = pl.DataFrame({"example": [0, 0], "label": ["positive"] * 2, "words": ["a (0.1)", "b (0.2)"]})
    run = measured(BASE)
    keep_runs(FLAT, Results((replace(run, frames={**run.frames, EXAMPLES: shown}),)), tmp_path)
    text = markdown(make_page(FLAT, Results(tuple(kept_runs(FLAT, tmp_path))), [FLAT.find("figure", "3")]))
    assert "a (0.1)" in text and "b (0.2)" in text


def test_damaged_files_are_one_sentence(tmp_path: Path):
    (path, *_) = keep_runs(FLAT, Results((measured(BASE),)), tmp_path)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(BadInput, match="does not hold the runs of a paper"):
        kept_runs(FLAT, tmp_path)


def test_what_was_measured_elsewhere_is_not_measured_again(tmp_path: Path):
    keep_runs(FLAT, Results((measured(BASE),)), tmp_path)
    others = kept_runs(FLAT, tmp_path)
    cases = FLAT.cases([FLAT.find("table", "3")], datasets=["sst2"], encoders=["lstm"], texts=90)
    audits = ["robustness", "consistency"]
    left = not_kept(cases, audits, others)
    assert {case.model for case in cases} - {case.model for case in left} == {BASE}
    asked = [replace(case, audits=(*audits, "rationale")) for case in cases]
    assert len(not_kept(asked, audits, others)) == len(cases)  # it was not asked this
    more = [replace(case, texts=91) for case in cases]
    assert len(not_kept(more, audits, others)) == len(cases) - 1  # there are no more texts than 90
    fewer = replace(others[0], metrics={**others[0].metrics, "sizes": {"test": 500}})
    assert len(not_kept(more, audits, [fewer])) == len(cases)
