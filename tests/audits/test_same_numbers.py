"""The numbers of a text follow from the text, the model and the seed: not from batches, threads or companions."""

from __future__ import annotations

import subprocess
import sys

import polars as pl
import pytest

import heedful
from heedful.audits.running.result import AuditResult

NAMES = (
    "sharpness",
    "agreement",
    "certificate",
    "counterfactual",
    "embedding_stability",
    "flip_set",
    "infidelity",
    "permutation",
    "rationale",
    "reach",
    "single_erasure",
)
CHOICES = {"counterfactual_weights", "members"}  # one of several equally good, where words repeat


def audit(classifier, data, **options):
    return heedful.audit(classifier, data, progress=False, **{"permutations": 20, **options})


def assert_same_rows(one: pl.DataFrame, other: pl.DataFrame) -> None:
    assert one.columns == other.columns
    for name in one.columns:
        kind = one[name].dtype
        if any(name.endswith(choice) for choice in CHOICES):
            continue
        if kind.is_float():
            assert one[name].to_list() == pytest.approx(other[name].to_list(), abs=1e-6, nan_ok=True), name
        elif kind == pl.List(pl.Float32) or kind == pl.List(pl.Float64):
            for a, b in zip(one[name].to_list(), other[name].to_list(), strict=True):
                assert a == pytest.approx(b, abs=1e-6), name
        else:
            assert one[name].to_list() == other[name].to_list(), name


def assert_same(one, other):
    assert_same_rows(one.to_frame(), other.to_frame())
    assert one.verdict.verdict == other.verdict.verdict
    for name in NAMES:
        for a, b in zip(one.summaries[name].numbers, other.summaries[name].numbers, strict=True):
            assert (a.name, a.group, a.count, a.missing) == (b.name, b.group, b.count, b.missing)
            numbers = [(n.estimate, n.low, n.high, n.std) for n in (a, b)]
            for ours, theirs in zip(*numbers, strict=True):
                assert ours == pytest.approx(theirs, abs=1e-6), (name, a.name)


SHAPES = ({"encoder": "bilstm"}, {"encoder": "average"}, {"encoder": "cnn"})


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape["encoder"])
def test_any_batch_size_gives_the_same_numbers(model, many_texts, shape):
    classifier = model(**shape)
    whole = audit(classifier, many_texts)
    for batch_size in (1, 2, 7):
        assert_same(audit(classifier, many_texts, batch_size=batch_size), whole)


def test_nor_does_the_batch_matter_to_decoders_that_are_not_linear(model, many_texts):
    classifier = model(encoder="average", decoder="mlp", heads=2)
    one, two = (audit(classifier, many_texts, batch_size=size, limit=14) for size in (64, 5))
    assert_same(one, two)


# A process of its own: a pool of threads, once started, would hang the tests that fork.
TWO_THREADS = """
import sys
import torch
import heedful
from heedful.models.classifier import Classifier

torch.set_num_threads(2)
texts, *folders = sys.argv[1:]
for folder in folders:
    classifier = Classifier.from_pretrained(folder)
    heedful.audit(classifier, texts, progress=False, permutations=20).save(folder + "-audit")
"""


def test_two_threads_give_the_same_numbers(model, many_texts, tmp_path):
    classifiers = {str(tmp_path / shape["encoder"]): model(**shape) for shape in SHAPES}
    for folder, classifier in classifiers.items():
        classifier.save_pretrained(folder)
    subprocess.run([sys.executable, "-c", TWO_THREADS, many_texts, *classifiers], check=True)
    for folder, classifier in classifiers.items():
        assert_same(AuditResult.load(f"{folder}-audit"), audit(classifier, many_texts))


def test_the_same_seed_gives_the_same_numbers_and_another_gives_others(model, many_texts):
    classifier = model(encoder="bilstm")
    one, same, other = (audit(classifier, many_texts, seed=seed) for seed in (3, 3, 4))
    assert one.to_frame().equals(same.to_frame())
    assert [s.numbers for s in one.summaries.values()] == [s.numbers for s in same.summaries.values()]
    for column in ("permutation.permutation_change", "single_erasure.attention_delta_js"):
        assert one.to_frame()[column].to_list() != other.to_frame()[column].to_list()
    assert_same_rows(one.to_frame("agreement"), other.to_frame("agreement"))


# Of ten texts or fewer, a quick look too asks every one for its sensitivity.
@pytest.mark.parametrize("options", [{"limit": 9}, {"quick": True, "limit": 10}])
def test_a_sample_leaves_the_numbers_of_its_texts_as_they_are(model, many_texts, options):
    classifier = model(encoder="bilstm")
    whole = audit(classifier, many_texts)
    sample = audit(classifier, many_texts, **options)
    rows = sample.to_frame()["row"]
    assert len(rows) == options["limit"]
    assert_same_rows(sample.to_frame(), whole.to_frame().filter(pl.col("row").is_in(rows.implode())))
    assert f"A random sample of {options['limit']} of 37 texts" in " ".join(sample.about.notes)


def test_a_search_does_not_depend_on_the_batch_either(model, many_texts):
    classifier = model(encoder="bilstm", classes=3)
    one, two = (
        audit(classifier, many_texts, only=["counterfactual"], batch_size=size, limit=12) for size in (64, 5)
    )
    assert_same_rows(one.to_frame("counterfactual"), two.to_frame("counterfactual"))
