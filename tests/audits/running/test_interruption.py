"""An audit that was stopped goes on with the audits it had not finished, and its numbers are the same."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

import heedful
from heedful.audits.audit import AUDITS
from heedful.audits.running.finished import FinishedAudits
from heedful.audits.running.result import AuditResult
from heedful.errors import BadInput
from heedful.runs import Run

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
OPTIONS = {"progress": False, "permutations": 10}


@pytest.fixture
def classifier(model):
    return model(encoder="average")


def assert_same(one: AuditResult, other: AuditResult) -> None:
    assert one.verdict == other.verdict
    assert {n: s.numbers for n, s in one.summaries.items()} == {
        n: s.numbers for n, s in other.summaries.items()
    }
    assert set(one.summaries) == set(NAMES)
    assert (
        one.to_frame()
        .select(sorted(one.to_frame().columns))
        .equals(other.to_frame().select(sorted(other.to_frame().columns)))
    )


def stop_after(monkeypatch, number, stop):
    """Stop when the n-th audit has been kept; give the list of those kept since."""
    kept, put = [], FinishedAudits.add

    def mortal(self, frame, summary):
        put(self, frame, summary)
        kept.append(summary.audit)
        if len(kept) == number:
            stop()

    monkeypatch.setattr(FinishedAudits, "add", mortal)
    return kept


# A process of its own, not a fork: polars' threads do not survive one.
KILLED = f"""
import os, signal, sys
import torch
import heedful
from heedful.audits.running.finished import FinishedAudits
from heedful.models.classifier import Classifier

torch.set_num_threads(1)
model, texts, folder, number = sys.argv[1:]
kept, put = [], FinishedAudits.add

def mortal(self, frame, summary):
    put(self, frame, summary)
    kept.append(summary.audit)
    if len(kept) == int(number):
        os.kill(os.getpid(), signal.SIGKILL)

FinishedAudits.add = mortal
heedful.audit(Classifier.from_pretrained(model), texts, folder=folder, **{OPTIONS})
"""


def interrupt():
    raise KeyboardInterrupt


def test_stopped_by_hand(classifier, many_texts, tmp_path, monkeypatch):
    undisturbed = heedful.audit(classifier, many_texts, **OPTIONS)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        kept = stop_after(patch, 2, interrupt)
        heedful.audit(classifier, many_texts, folder=tmp_path / "audit", **OPTIONS)
    assert kept == ["sharpness", "agreement"]
    assert not (tmp_path / "audit" / "audit.json").exists()

    rest = stop_after(monkeypatch, None, None)
    assert_same(heedful.audit(classifier, many_texts, folder=tmp_path / "audit", **OPTIONS), undisturbed)
    assert rest == [name for name in NAMES if name not in kept]
    assert_same(AuditResult.load(tmp_path / "audit"), undisturbed)


@pytest.mark.parametrize("number", [2, 4])
def test_killed(classifier, many_texts, tmp_path, monkeypatch, number):
    classifier.save_pretrained(tmp_path / "model")
    command = [sys.executable, "-c", KILLED, tmp_path / "model", many_texts, tmp_path / "audit", str(number)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    rest = stop_after(monkeypatch, None, None)
    again = heedful.audit(classifier, many_texts, folder=tmp_path / "audit", **OPTIONS)
    assert len(rest) == len(NAMES) - number
    assert_same(again, heedful.audit(classifier, many_texts, **OPTIONS))
    assert not list((tmp_path / "audit").rglob(".partial-*"))


def test_a_finished_audit_is_not_done_again(classifier, many_texts, tmp_path, monkeypatch):
    first = heedful.audit(classifier, many_texts, folder=tmp_path / "audit", **OPTIONS)
    kept = stop_after(monkeypatch, None, None)
    assert_same(heedful.audit(classifier, many_texts, folder=tmp_path / "audit", **OPTIONS), first)
    assert kept == []


@pytest.mark.parametrize("damaged", ["summaries/permutation.json", "instances/permutation.parquet"])
@pytest.mark.parametrize("content", [b"", b"{", b"[]", None])
def test_what_is_damaged_is_measured_again(classifier, many_texts, tmp_path, monkeypatch, damaged, content):
    folder = tmp_path / "audit"
    first = heedful.audit(classifier, many_texts, folder=folder, **OPTIONS)
    if content is None:
        (folder / damaged).unlink()
    else:
        (folder / damaged).write_bytes(content)
    (folder / "instances" / ".partial-x").write_bytes(b"left by a kill")
    kept = stop_after(monkeypatch, None, None)
    assert_same(heedful.audit(classifier, many_texts, folder=folder, **OPTIONS), first)
    assert kept == ["permutation"]
    assert_same(AuditResult.load(folder), first)
    assert not list(folder.rglob(".partial-*"))


def test_audits_add_up_in_one_folder(classifier, many_texts, tmp_path):
    folder = tmp_path / "audit"
    part = heedful.audit(classifier, many_texts, folder=folder, only=["permutation"], **OPTIONS)
    assert set(part.summaries) == {"sharpness", "permutation"}
    assert_same(
        heedful.audit(classifier, many_texts, folder=folder, **OPTIONS),
        heedful.audit(classifier, many_texts, **OPTIONS),
    )


def test_another_process_is_waited_for(classifier, many_texts, tmp_path):
    with Run(tmp_path / "audit").locked(), pytest.raises(BadInput, match="Another process is working on"):
        heedful.audit(classifier, many_texts, folder=tmp_path / "audit", **OPTIONS)


def test_the_folder_of_another_audit_is_refused(classifier, model, many_texts, tmp_path):
    """Kept numbers must never pass for those of other texts, another model or other options."""
    folder = tmp_path / "audit"
    heedful.audit(classifier, many_texts, folder=folder, only=["permutation"], **OPTIONS)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    texts = tmp_path / "other.csv"
    texts.write_text("text\nthe plot is old\na fine film\n")
    for other, data, options, differing in (
        (classifier, many_texts, {"seed": 1}, "seed"),
        (classifier, many_texts, {"permutations": 11}, "permutations"),
        (classifier, texts, {}, "texts"),
        (model(encoder="average", seed=1), many_texts, {}, "model"),
    ):
        with pytest.raises(BadInput, match=rf"holds another audit \({differing} differ\)"):
            heedful.audit(other, data, folder=folder, only=["permutation"], **(OPTIONS | options))
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    heedful.audit(classifier, many_texts, folder=folder, batch_size=3, **OPTIONS)  # changes no number


@pytest.mark.parametrize("there", [False, True], ids=["new folder", "empty folder"])
def test_bad_input_that_is_found_on_the_way_leaves_nothing(
    classifier, many_texts, tmp_path, monkeypatch, there
):
    def refuse(self, subject, watcher):
        raise BadInput("There is no candidate for any word.")

    monkeypatch.setattr(AUDITS.get("permutation"), "prepare", refuse)
    folder = tmp_path / "audits" / "one"
    if there:
        folder.mkdir(parents=True)
    with pytest.raises(BadInput, match="no candidate"):
        heedful.audit(classifier, many_texts, folder=folder, only=["permutation"], **OPTIONS)
    assert list(folder.iterdir()) == [] if there else not (tmp_path / "audits").exists()
    with pytest.raises(BadInput, match="no candidate"):
        heedful.audit(classifier, many_texts, folder=folder, only=["agreement", "permutation"], **OPTIONS)
    assert (folder / "summaries" / "agreement.json").is_file()  # finished before, and kept
    with pytest.raises(BadInput, match="no candidate"):
        heedful.audit(classifier, many_texts, folder=folder, only=["permutation"], **OPTIONS)
    assert (folder / "summaries" / "agreement.json").is_file()
