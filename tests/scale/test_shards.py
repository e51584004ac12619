"""Audits in shards and attacks in parts give what one process gives, bit for bit."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from tests.scale.conftest import SMALL

import heedful
from heedful.attacks import run_attack
from heedful.audits.running import shards
from heedful.audits.running.run import audit
from heedful.cli.attack import attack_model
from heedful.cli.attack_parts import parts_elsewhere
from heedful.loading import find_model
from heedful.scale.chosen import working_on

ASKED = ["permutation", "flip_set", "rationale", "agreement"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    options = {**SMALL, "limit": 300, "encoder": "bilstm"}
    model = heedful.train(options.pop("dataset"), runs=folder, progress=False, **options)
    assert model.run is not None
    return model.run


def audited(trained: Path, folder: Path, on: str):
    named = {"name": str(trained)}
    with working_on(on):
        result = audit(
            find_model(**named),
            only=ASKED,
            folder=folder,
            named=named,
            batch_size=8,
            limit=60,
            permutations=5,
        )
    files = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in (folder / "instances").iterdir()}
    summaries = {p.name: json.loads(p.read_text()) for p in (folder / "summaries").iterdir()}
    for summary in summaries.values():
        summary.pop("seconds")
    return result, files, summaries


def test_rows_in_shards_are_the_rows_of_one_process(trained, tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "BATCHES", 3)
    measured: list[str] = []
    share_out = shards.share_out

    def counted(pieces, **options):
        measured.extend(piece.name for piece in pieces)
        return share_out(pieces, **options)

    monkeypatch.setattr(shards, "share_out", counted)
    _, *here = audited(trained, tmp_path / "here", "here")
    assert measured == []
    result, *there = audited(trained, tmp_path / "there", "processes:2")
    assert measured == ["batches 1 to 3", "batches 4 to 6", "batches 7 to 8"]
    assert there == here
    assert set(result.summaries) == {"sharpness", *ASKED}
    assert not (tmp_path / "there" / "shards").exists()


def test_shards_that_are_finished_are_not_measured_again(trained, tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "BATCHES", 4)
    _, *here = audited(trained, tmp_path / "here", "here")
    kept: list[Path] = []
    measure = shards.Shards._joined

    def stop(self, name, firsts):
        kept.extend(sorted(self.folder.rglob("*.parquet")))
        raise KeyboardInterrupt

    monkeypatch.setattr(shards.Shards, "_joined", stop)
    with pytest.raises(KeyboardInterrupt):
        audited(trained, tmp_path / "there", "processes:2")
    assert len(kept) == 2 * (len(ASKED) + 2)
    kept[0].unlink()
    before = {path: path.stat().st_mtime_ns for path in kept[1:]}
    after: dict[Path, int] = {}

    def look(self, name, firsts):
        after.update({path: path.stat().st_mtime_ns for path in kept[1:]})
        return measure(self, name, firsts)

    monkeypatch.setattr(shards.Shards, "_joined", look)
    _, *there = audited(trained, tmp_path / "there", "processes:2")
    assert after == before
    assert there == here


GOOD, BAD = ("great", "warm", "funny", "lovely"), ("dull", "slow", "grim", "boring")


@pytest.fixture
def reviewer(tmp_path) -> Path:
    """A model that looks for opinions, and learnt to."""
    lines = ["text,label"]
    for i in range(240):
        words = GOOD if i % 2 else BAD
        lines.append(f"film {i} was {words[i % 4]} and {words[(i // 4) % 4]} .,{'pos' if i % 2 else 'neg'}")
    (tmp_path / "reviews.csv").write_text("\n".join(lines) + "\n")
    options = {"encoder": "average", "hidden": 8, "embedding_size": 8, "epochs": 8, "learning_rate": 0.05}
    model = heedful.train(str(tmp_path / "reviews.csv"), runs=tmp_path / "runs", progress=False, **options)
    assert model.run is not None
    return model.run


def test_parts_of_an_attack_are_those_of_one_process(reviewer, tmp_path, monkeypatch, asset):
    asset("wordnet")
    monkeypatch.setattr(run_attack, "TOGETHER", 8)
    synonyms = tmp_path / "synonyms.txt"
    synonyms.write_text("".join(f"{a} {b}\n{b} {a}\n" for a, b in zip(GOOD, BAD, strict=True)))
    options = {"recipe": "pwws", "synonyms": str(synonyms)}
    frames = {}
    for on in ("here", "processes:2"):
        with working_on(on):
            named = {"name": str(reviewer)}
            model = find_model(**named)
            elsewhere = parts_elsewhere(named, options, model)
            assert (elsewhere is None) == (on == "here")
            result = attack_model(
                model,
                None,
                folder=tmp_path / on.partition(":")[0],
                options=dict(options),
                elsewhere=elsewhere,
            )
        frames[on] = result.frame
    assert len(frames["here"]) > 16
    assert "successful" in set(frames["here"]["status"])
    assert frames["here"].equals(frames["processes:2"])
    rows = [(tmp_path / name / "rows.parquet").read_bytes() for name in ("here", "processes")]
    assert rows[0] == rows[1]
