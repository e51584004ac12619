"""Changing an option repeats the audits that read it, and no other."""

from __future__ import annotations

import ast
import inspect

import pytest

from heedful.audits.audit import AUDITS
from heedful.audits.running.finished import FinishedAudits
from heedful.audits.running.run import audit
from heedful.config import AuditOptions
from heedful.declared import complete
from heedful.training.train import resolve, train

SHARED = {
    "layers",
    "split",
    "text_column",
    "query_column",
    "label_column",
    "limit",
    "quick",
    "budget",
    "source",
    "seed",
    "batch_size",
    "skip_bad_rows",
    "exact_leave_one_out",
}


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    config = {"dataset": "mock_2_strong", "limit": 120, "epochs": 1, "hidden": 4, "embedding_size": 6}
    return train(resolve(config), runs=tmp_path_factory.mktemp("runs"))


@pytest.fixture
def measured(monkeypatch):
    """Which audits are measured, as opposed to found."""
    names = []
    for name in AUDITS:
        kind = AUDITS.get(name)
        summarise = kind.summarise

        def counted(self, rows, *, name=name, summarise=summarise):
            names.append(name)
            return summarise(self, rows)

        monkeypatch.setattr(kind, "summarise", counted)
    return names


def test_only_the_audits_that_read_an_option_are_repeated(classifier, measured):
    options = {"keep": True, "limit": 30}
    first = audit(classifier, **options)
    everything = sorted(set(measured))
    assert len(everything) > 8
    for changed, read in (
        ({"radii": (0.01, 0.2)}, ["certificate"]),
        ({"permutations": 7}, ["permutation"]),
        ({"top_k": 3}, ["embedding_stability", "rationale"]),
        ({"seed": 5}, everything),
    ):
        measured.clear()
        again = audit(classifier, **options, **changed)
        assert sorted(set(measured)) == read
        assert again.folder != first.folder and set(again.summaries) == set(first.summaries)
        for name in set(everything) - set(read):
            assert again.summaries[name] == first.summaries[name]
    measured.clear()
    audit(classifier, **options)
    assert measured == []


def test_what_is_taken_from_another_folder_is_what_would_have_been_measured(classifier):
    taken = audit(classifier, keep=True, limit=25, permutations=9)
    anew = audit(classifier, limit=25, permutations=9)
    assert taken.to_frame().equals(anew.to_frame())


def test_a_damaged_folder_beside_it_is_passed_over(classifier):
    audit(classifier, keep=True, limit=20)
    beside = classifier.run / "audits" / "broken"
    beside.mkdir()
    (beside / "config.yaml").write_text(": : :", encoding="utf-8")
    kept = FinishedAudits(None)
    kept.take_from([beside, classifier.run / "audits" / "none"], {"seed": 0})
    assert kept.summaries == {}


def test_every_option_belongs_to_all_audits_or_to_those_that_declare_it():
    declared = {field for name in AUDITS for field in AUDITS.get(name).options}
    assert declared.isdisjoint(SHARED)
    assert declared | SHARED == set(complete(AuditOptions).model_fields)


@pytest.mark.parametrize("name", list(AUDITS))
def test_an_audit_reads_no_option_that_it_does_not_declare(name):
    kind = AUDITS.get(name)
    read = set()
    for part in kind.__mro__:
        if part.__module__.startswith("heedful.audits.questions"):
            for node in ast.walk(ast.parse(inspect.getsource(inspect.getmodule(part)))):
                if isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith("options"):
                    read.add(node.attr)
    assert read - SHARED <= set(kind.options)
